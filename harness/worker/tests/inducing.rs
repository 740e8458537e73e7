//! Problems with inducing points: what a solver sees of them, and how its weights are judged.

use crate::common;
use crate::common::features::Features;
use crate::common::{close, exact_solution, run, zeros};
use gpbench_gp::exact::ExactGp;
use gpbench_host::{IterationInfo, Observer};
use gpbench_record::{Case, Inducing, Metrics, names};
use gpbench_sdk as sdk;
use gpbench_sdk::{Problem, Reason, Report};
use gpbench_worker::evaluate::predictions::predictions;
use gpbench_worker::evaluate::{of_system, of_weights};
use gpbench_worker::exact_file::Reference;
use gpbench_worker::process;
use gpbench_worker::system::{Formulation, System};
use ndarray::{Array1, Array2, ArrayView2, Axis, ShapeBuilder};

const ROWS: usize = 40;
const POINTS: usize = 12;

fn case(inducing: Inducing) -> Case {
    let mut case = common::case(ROWS);
    case.task = common::posterior(3, Some(inducing));
    case
}

fn system(points: usize) -> System {
    common::system(&case(Inducing::Subset { points }))
}

/// The inducing points.
fn points(system: &System) -> &Array2<f64> {
    match &system.formulation {
        Formulation::Inducing { z, .. } => z,
        other => panic!("{other:?}"),
    }
}

/// s^2 k between two sets of points by the plain formula of Matérn-3/2.
fn kernel(inputs: &sdk::Inputs<'_>, a: ArrayView2<f64>, b: ArrayView2<f64>) -> Array2<f64> {
    Array2::from_shape_fn((a.nrows(), b.nrows()), |(i, j)| {
        let scaled = |k: usize| (a[(i, k)] - b[(j, k)]) / inputs.length_scale[k];
        let r = (0..a.ncols()).map(|k| scaled(k).powi(2)).sum::<f64>().sqrt();
        let r = 3.0_f64.sqrt() * r;
        inputs.signal_scale.powi(2) * (1.0 + r) * (-r).exp()
    })
}

solver! {
    /// Compares every product with the dense matrix, and leaves ones as its iterate.
    Curious = "curious";

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> sdk::Result<Report> {
        let op = problem.operator();
        let (n, m, s) = (op.n(), op.m(), problem.rhs().ncols());
        assert_eq!((n, m, problem.rhs().nrows(), problem.x().dim()), (ROWS, POINTS, ROWS, (POINTS, s)));
        let inputs = op.inputs()?;
        let z = inputs.basis.expect("basis points");
        assert_eq!((inputs.x.dim(), z.dim()), ((n, 2), (m, 2)));
        let whole = kernel(&inputs, inputs.x, z);
        let x = Array2::from_shape_fn((m, s).f(), |(i, j)| ((3 * i + j) as f64).sin());

        let mut product = zeros(n, s);
        op.apply(&x, &mut product)?;
        close("apply", &product, &whole.dot(&x), 1e-12);

        let (rows, cols) = ([3, 0, 39], [11, 5]);
        let some = whole.select(Axis(0), &rows);
        let mut part = zeros(3, s);
        op.apply_rows(&rows[..], &x, &mut part)?;
        close("rows", &part, &some.dot(&x), 1e-12);

        let (mut u, mut sums) = (zeros(3, s), Array2::ones((m, s).f()));
        op.apply_rows_and_back(&rows[..], &x, &mut u, &mut sums, |mut u| u *= 2.0)?;
        close("fused", &sums, &(some.t().dot(&(2.0 * some.dot(&x))) + 1.0), 1e-12);

        let mut y = Array2::ones((n, s).f());
        op.update_columns(&cols[..], &x.select(Axis(0), &cols), &mut y)?;
        close("columns", &y, &(whole.select(Axis(1), &cols).dot(&x.select(Axis(0), &cols)) + 1.0), 1e-12);

        let mut block = zeros(3, 2);
        op.block(&rows[..], &cols[..], &mut block)?;
        close("block", &block, &some.select(Axis(1), &cols), 1e-12);

        let error = op.diagonal().unwrap_err();
        assert_eq!(error, sdk::Error::Host { call: "diag", status: sdk::abi::Status::UNSUPPORTED.0 });
        for wrong in
            [op.apply_rows(&[n][..], &x, &mut zeros(1, s)), op.block(0..1, &[m][..], &mut zeros(1, 1))]
        {
            assert!(matches!(wrong, Err(sdk::Error::InvalidArgument(_))), "{wrong:?}");
        }
        let targets = problem.targets()?.expect("the probes are pathwise targets");
        assert_eq!((targets.f.dim(), targets.noise.dim()), ((n, s - 1), (n, s - 1)));
        problem.observe_with(1, &[], |x| x.fill(1.0))?;
        Ok(Report::new(Reason::Iterations, 1))
    }
}

/// Asks for the iterate.
#[derive(Default)]
struct Watcher(Vec<(usize, usize)>);

impl Observer for Watcher {
    fn wants_iterate(&mut self, _: IterationInfo<'_>) -> bool {
        true
    }

    fn record(&mut self, _: IterationInfo<'_>, iterate: Option<ArrayView2<f64>>) {
        self.0.extend(iterate.map(|iterate| {
            assert!(iterate.iter().all(|&value| value == 1.0));
            iterate.dim()
        }));
    }
}

#[test]
fn every_product_is_with_the_basis_points() {
    let system = system(POINTS);
    let mut watcher = Watcher::default();
    let (outcome, x) = run::<Curious>(&system, &[], common::LIMITS, process::now, &mut watcher).unwrap();
    assert_eq!((watcher.0, x.dim()), (vec![(POINTS, 4)], (POINTS, 4)));
    let (n, m) = (ROWS as f64, POINTS as f64);
    // The product, three rows twice, two columns, and six entries of a block.
    assert_eq!(outcome.cost.entries.used, n * m + 2.0 * 3.0 * m + 2.0 * n + 6.0);
    assert_eq!(outcome.cost.entries.evaluated, outcome.cost.entries.used);
}

#[test]
fn features_are_those_of_the_basis_points() {
    let some = system(POINTS);
    let all = common::system(&common::case(ROWS));
    let of = |system: &System| run::<Features>(system, &[], common::LIMITS, process::now, &mut ()).unwrap().1;
    let (at_points, at_rows) = (of(&some), of(&all));
    let z = points(&some);
    for (point, features) in z.rows().into_iter().zip(at_points.rows()) {
        let row = all.data.x_train.rows().into_iter().position(|row| row == point).unwrap();
        let difference = (&features - &at_rows.row(row)).mapv(f64::abs).sum();
        assert!(difference < 1e-12, "{difference}");
    }
}

#[test]
fn points_follow_from_rows_and_seed_and_too_many_are_refused() {
    for inducing in [
        Inducing::Subset { points: POINTS },
        Inducing::Kmeans { points: POINTS },
        Inducing::Neighbours { distance: 0.5, neighbours: 100 },
    ] {
        let z = |case: &Case| points(&common::build(case, None, 2).unwrap()).clone();
        let (one, mut other) = (case(inducing), case(inducing));
        other.solver.name = "other".into();
        other.task = common::posterior(1, Some(inducing));
        assert_eq!(z(&one), z(&other), "{inducing:?}");
        other.seed += 1;
        assert_ne!(z(&one), z(&other), "{inducing:?}");
    }
    let error = common::build(&case(Inducing::Kmeans { points: 41 }), None, 1).unwrap_err().to_string();
    let expected = "41 inducing points were asked for; there are 40 training rows to choose from";
    assert_eq!(error, expected);
}

fn reference(system: &System) -> Reference {
    let (x, y) = (system.data.x_train.view(), system.data.y_train.view());
    let operator = &*system.operator;
    let gp = ExactGp::fit(operator.kernel(), operator.noise_scale(), x, y, 1).unwrap();
    let (mean, latent_variance) = gp.predict(system.data.x_test.view());
    let (log_marginal_likelihood, log_det, y_hinv_y) = (gp.log_marginal_likelihood, gp.log_det, gp.y_hinv_y);
    Reference {
        v: gp.v.clone(),
        mean,
        latent_variance,
        log_marginal_likelihood,
        likelihood_error: gp.likelihood_error(),
        log_det,
        y_hinv_y,
        test_rmse: 0.0,
        test_nll: 0.0,
        curve: None,
    }
}

fn evaluated(system: &System, solution: &Array2<f64>) -> Metrics {
    let reference = reference(system);
    let mut found = of_system(system, Some(&reference));
    found.extend(&predictions(system, Some(&reference), solution.view()));
    found.extend(&of_weights(system, Some(&reference), solution.view()));
    found
}

/// With every row an inducing point, (12) and (13) have the minimum H^-1 b.
#[test]
fn all_rows_as_points_predict_like_the_whole_process() {
    let whole = common::system(&common::case(ROWS));
    let inducing = system(ROWS);
    let solution = exact_solution(&whole);
    let (of_whole, of_points) = (evaluated(&whole, &solution), evaluated(&inducing, &solution));
    for name in [names::TEST_RMSE, names::TEST_NLL, names::W2_TO_EXACT, names::FEATURE_ERROR] {
        let (a, b) = (of_whole.get(name).unwrap(), of_points.get(name).unwrap());
        assert!((a - b).abs() < 1e-10 * a.abs(), "{name}: {a} {b}");
    }
    assert!(of_points.get(names::RMSE_TO_EXACT).unwrap() < 1e-10);
    assert_eq!(of_points.get(names::INDUCING_POINTS), Some(ROWS as f64));
    let of_weights = [
        names::RESIDUAL_Y,
        names::RESIDUAL_PROBES,
        names::RESIDUAL_MAX,
        names::WEIGHT_ERROR,
        names::RKHS_ERROR,
    ];
    for name in of_weights {
        assert!(of_whole.get(name).is_some(), "{name}");
        assert_eq!(of_points.get(name), None, "{name}");
    }
    assert_eq!(of_whole.get(names::INDUCING_POINTS), None);
}

#[test]
fn predictions_are_made_from_the_points() {
    let system = system(POINTS);
    let weights = Array2::from_shape_fn((POINTS, 4).f(), |(i, j)| ((i * 4 + j) as f64).cos() / 4.0);
    let z = points(&system);
    let cross = system.operator.kernel().matrix(system.data.x_test.view(), z.view());
    let mean: Array1<f64> = cross.dot(&weights.column(0));
    let error = (&mean - &system.data.y_test).mapv(|e| e * e).mean().unwrap().sqrt();
    let found = evaluated(&system, &weights);
    assert!((found.get(names::TEST_RMSE).unwrap() - error).abs() < 1e-12);
}
