//! Against trajectories that other code has computed in extended precision, from the formulae as published.

use gpbench_plugin_askotch::{Askotch, BlockInverse, Damping, leverage_scores};
use gpbench_sdk::ndarray::{Array1, Array2, aview1};
use gpbench_sdk::{NoParams, ParamValue, Problem, Reason, Report, Result, Solver, Workers};
use gpbench_testkit::json::{Value, matrix, number, vector};
use gpbench_testkit::{assert_close, relative_error};

use crate::given::{Given, N, kernel_matrix, noise_variance, norms, omega, oracle, problem};

const FAMILIES: [&str; 2] = ["matern32", "rbf"];

const TOLERANCE: f64 = 1e-11;

fn published() -> f64 {
    noise_variance()
}

fn relative() -> f64 {
    noise_variance() / number(&oracle()["inputs"]["signal_scale"]).powi(2)
}

/// Each of the oracle's settings with its parameters.
fn settings() -> [(&'static str, Vec<(&'static str, ParamValue)>); 6] {
    let of = |solver: &str, mu: f64| vec![("block_solver", solver.into()), ("mu", mu.into())];
    let undamped = [of("nystrom", published()), vec![("damping", "noise".into())]].concat();
    [
        ("newton", of("exact", published())),
        ("newton_plain", of("exact", 0.0)),
        ("newton_relative_mu", of("exact", relative())),
        ("nystrom", of("nystrom", published())),
        ("nystrom_undamped", undamped),
        ("identity", of("identity", published())),
    ]
}

fn follows(family: &str, setting: &str, params: &[(&str, ParamValue)]) {
    let expected = &oracle()["kernels"][family]["sap"][setting];
    let outcome = problem(family).iterates().solve::<Given>(params).unwrap();
    assert_eq!((outcome.reason, outcome.iterations), (Reason::Iterations, 40));

    let steps: Array1<f64> = outcome.notes.iter().take(8).map(|(_, _, eta)| *eta).collect();
    let observed: Vec<f64> = outcome.trace[1..].iter().flat_map(|(_, norms)| norms.clone()).collect();
    let observed = Array2::from_shape_vec((40, 3), observed).unwrap();
    let average = outcome.iterates[5..=8].iter().fold(Array2::<f64>::zeros((N, 3)), |sum, w| sum + w) / 4.0;
    let error = |got: &Array2<f64>, name: &str| relative_error(got, &matrix(&expected[name]));
    let errors = [
        relative_error(&steps, &vector(&expected["step_sizes"])),
        error(&outcome.iterates[1], "W_after_1"),
        error(&outcome.iterates[2], "W_after_2"),
        error(&outcome.iterates[8], "W_after_8"),
        error(&average, "W_tail_average_of_8"),
        error(&observed, "relative_residuals"),
    ];
    println!("{family}, {setting}: {errors:?}");
    assert!(errors.iter().all(|error| *error <= TOLERANCE), "{family}, {setting}: {errors:?}");
}

#[test]
fn steps_and_their_residuals() {
    for family in FAMILIES {
        settings().iter().for_each(|(setting, params)| follows(family, setting, params));
    }
}

/// Z is known by its residual.
#[test]
fn points_ahead_of_the_iterate() {
    for family in FAMILIES {
        let a = kernel_matrix(family) + Array2::<f64>::eye(N) * noise_variance();
        let b = a.dot(&matrix(&oracle()["kernels"][family]["exact"]["weights"]));
        for (setting, params) in settings() {
            for (steps, name) in [(1, "Z_after_1"), (8, "Z_after_8")] {
                let shown = [("steps", steps.into()), ("gradient", true.into())];
                let params = [params.clone(), shown.to_vec()].concat();
                let outcome = problem(family).solve::<Given>(&params).unwrap();
                let z = matrix(&oracle()["kernels"][family]["sap"][setting][name]);
                let expected = (&b - &a.dot(&z)) / aview1(&norms(b.view()));
                // Without momentum the oracle leaves Z at its start.
                if setting != "newton_plain" {
                    assert_close(&outcome.x, &expected, TOLERANCE);
                }
            }
        }
    }
}

#[test]
fn a_block_of_all_rows_is_solved_in_one_step() {
    for family in FAMILIES {
        let known = &oracle()["kernels"][family];
        let weights = matrix(&known["exact"]["weights"]);
        assert_close(&matrix(&known["sap"]["block_is_n"]), &weights, 1e-12);
        for momentum in ["automatic", "none"] {
            let params: [(&str, ParamValue); 2] =
                [("block_solver", "exact".into()), ("momentum", momentum.into())];
            let outcome = problem(family).tolerance(1e-10).solve::<Askotch>(&params).unwrap();
            assert_eq!((outcome.reason, outcome.iterations), (Reason::Converged, 1));
            assert_close(&outcome.x, &weights, 1e-12);
        }
    }
}

#[test]
fn eigenvalues_of_a_nystrom_approximation() {
    for family in FAMILIES {
        let oracle = oracle();
        let rows: Vec<usize> =
            matrix(&oracle["inputs"]["sap_blocks"]).row(0).iter().map(|&row| row as usize).collect();
        let k = kernel_matrix(family);
        let block = Array2::from_shape_fn((rows.len(), rows.len()), |(i, j)| k[[rows[i], rows[j]]]);
        let (block, omega) = (block.reversed_axes(), omega(&oracle, 0));
        let inverse = BlockInverse::nystrom(&block, omega, 0.0, Damping::Noise, Workers::new(1)).unwrap();
        let BlockInverse::Nystrom { values, .. } = inverse else { panic!("{inverse:?}") };
        let expected = vector(&oracle["kernels"][family]["sap"]["first_block_nystrom_values"]);
        assert_close(&values, &expected, 1e-13);
    }
}

/// Leaves the leverage scores of all rows in the first column: those from a part of the rows, or from all.
struct Scores<const ALL: bool>;

impl<const ALL: bool> Solver for Scores<ALL> {
    type Params = NoParams;
    const ID: &'static str = "scores";
    const DOC: &'static str = "Computes leverage scores";
    type Prepared = ();

    fn new(_: NoParams) -> Result<Self> {
        Ok(Scores)
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        let oracle = oracle();
        let dictionary: Vec<usize> = match ALL {
            true => (0..N).collect(),
            false => dictionary(&oracle),
        };
        let (operator, workers) = (problem.operator(), problem.workers());
        let scores = leverage_scores(operator, &dictionary, noise_variance(), workers)?;
        problem.x_mut().column_mut(0).assign(&aview1(&scores));
        Ok(Report::new(Reason::Iterations, 0))
    }
}

fn dictionary(oracle: &Value) -> Vec<usize> {
    vector(&oracle["inputs"]["arls_dictionary"]).iter().map(|&row| row as usize).collect()
}

#[test]
fn scores_from_some_rows_and_from_all() {
    for family in FAMILIES {
        let known = &oracle()["kernels"][family]["sap"];
        let (some, all) = (vector(&known["arls_scores"]), vector(&known["leverage_scores"]));
        let few = problem(family).solve::<Scores<false>>(&[]).unwrap();
        assert_close(&few.x.column(0), &some, 1e-12);
        assert_eq!(few.entries, (12 * (12 + N)) as f64);
        let exact = problem(family).solve::<Scores<true>>(&[]).unwrap();
        assert_close(&exact.x.column(0), &all, 1e-12);
        // Fewer rows leave more unexplained.
        assert!(some.iter().zip(&all).all(|(some, all)| *some >= all * (1.0 - 1e-12)));
    }
}
