//! The Nystrom preconditioner from a given sketch, against numbers that other code has computed in extended precision.

use std::cell::RefCell;

use gpbench_plugin_cg::Cg;
use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::ndarray::{Array1, Array2};
use gpbench_sdk::precondition::Nystrom;
use gpbench_sdk::symmetric::column_major;
use gpbench_sdk::{Family, NoParams, Problem, Reason, Report, Result, Solver, Workers, lapack};
use gpbench_testing::DenseProblem;
use gpbench_testkit::json::{self, Value, matrix, number, vector};
use gpbench_testkit::{assert_close, assert_number};

/// What was computed elsewhere for a small system, with a sketch of ten columns.
fn oracle() -> Value {
    json::parse(include_str!("data/nystrom_small.json"))
}

thread_local! {
    static APPROXIMATION: RefCell<Option<Nystrom>> = const { RefCell::new(None) };
}

/// Applies the preconditioner of the oracle's sketch to the right-hand sides, and leaves the approximation.
struct Sketch;

impl Solver for Sketch {
    type Params = NoParams;
    const ID: &'static str = "sketch";
    const DOC: &'static str = "Preconditions by a given sketch";
    type Prepared = ();

    fn new(_: NoParams) -> Result<Self> {
        Ok(Sketch)
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        let (operator, workers) = (problem.operator(), problem.workers());
        let noise_scale = operator.inputs()?.noise_scale;
        let omega = column_major(&matrix(&oracle()["inputs"]["nystrom_omega_raw"]));
        let approximation = Nystrom::of_sketch(operator, noise_scale.powi(2), omega, workers)?;
        APPROXIMATION.set(Some(approximation.clone()));
        let product = approximation.preconditioner(noise_scale, workers)?.apply(&problem.rhs(), workers);
        problem.x_mut().assign(&product);
        Ok(Report::new(Reason::Iterations, 0))
    }
}

/// K of the oracle's system, and the system with these right-hand sides.
fn system(family: &str, b: &Array2<f64>) -> (Array2<f64>, DenseProblem) {
    let inputs = &oracle()["inputs"];
    let of = if family == "rbf" { Family::Rbf } else { Family::Matern32 };
    let (signal_scale, noise_scale) = (number(&inputs["signal_scale"]), number(&inputs["noise_scale"]));
    let (x, length_scale) = (matrix(&inputs["X"]), vector(&inputs["length_scale"]).to_vec());
    let kernel = Kernel { family: of.into(), signal_scale, length_scale: length_scale.clone() };
    let k = kernel.gram(&x, &x, Workers::new(1));
    let h = &k + &(Array2::<f64>::eye(x.nrows()) * noise_scale.powi(2));
    let problem = DenseProblem::new(h, b.clone()).kernel(of, x, signal_scale, noise_scale, length_scale);
    (k, problem)
}

/// Eigenvalues of a symmetric matrix, ascending.
fn eigenvalues(a: &Array2<f64>) -> Array1<f64> {
    lapack::symmetric_eigen(&mut column_major(a)).unwrap()
}

#[test]
fn the_approximation_its_error_and_the_condition_it_leaves() {
    for family in ["matern32", "rbf"] {
        let expected = &oracle()["kernels"][family]["nystrom"];
        let (k, problem) = system(family, &Array2::eye(40));
        let outcome = problem.solve::<Sketch>(&[]).unwrap();
        assert_eq!(outcome.entries, 1600.0);
        let Nystrom { vectors, values } = APPROXIMATION.take().unwrap();
        let descending: Array1<f64> = values.iter().rev().copied().collect();
        assert_close(&descending, &vector(&expected["values"]), 1e-11);
        let error = &k - &(&vectors * &values).dot(&vectors.t());
        let norm = eigenvalues(&error)[39];
        assert_number(norm, number(&expected["error_norm"]), 1e-10);

        let y = vector(&oracle()["inputs"]["y"]);
        assert_close(&outcome.x.dot(&y), &vector(&expected["P_times_y"]), 1e-10);
        // The eigenvalues of P H are those of L^T P L, with H = L L^T.
        let noise_variance = number(&oracle()["inputs"]["noise_scale"]).powi(2);
        let mut lower = column_major(&(&k + &(Array2::<f64>::eye(40) * noise_variance)));
        lapack::cholesky(&mut lower).unwrap();
        lower.indexed_iter_mut().filter(|((i, j), _)| i < j).for_each(|(_, entry)| *entry = 0.0);
        let spectrum = eigenvalues(&lower.t().dot(&outcome.x).dot(&lower));
        let (condition, bound) = (spectrum[39] / spectrum[0], number(&expected["bound"]));
        assert_number(condition, number(&expected["condition"]), 1e-9);
        assert_number((values[0] + noise_variance + norm) / noise_variance, bound, 1e-9);
        assert!(condition <= bound, "{condition} above {bound}");
    }
}

#[test]
fn preconditioned_iterations_are_few() {
    let (_, problem) =
        system("matern32", &Array2::from_shape_fn((40, 2), |(i, j)| ((i + 7 * j) as f64).sin()));
    let problem = problem.tolerance(1e-8);
    let plain = problem.solve::<Cg>(&[]).unwrap().iterations;
    let params = [("preconditioner", "nystrom".into()), ("rank", 10.into())];
    assert!(problem.solve::<Cg>(&params).unwrap().iterations < plain);
}
