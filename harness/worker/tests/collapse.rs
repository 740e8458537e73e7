//! Data sets whose duplicates are collapsed: what a solver sees of them, and what its solution means for all rows.

use crate::common;
use crate::common::features::Features;
use crate::common::worker::library;
use crate::common::{close, exact_solution, run, zeros};
use gpbench_data::{Table, copy};
use gpbench_gp::{UniqueInputs, metrics};
use gpbench_host::{IterationInfo, Library, Observer, Session, SolveLimits, SolveOutcome, SolverObject};
use gpbench_numerics::lapack;
use gpbench_record::{Case, Inducing, ParamValue, ReadOptions, Source, StopReason, names};
use gpbench_sdk as sdk;
use gpbench_sdk::{Problem, Reason, Report};
use gpbench_worker::evaluate::predictions::predictions;
use gpbench_worker::evaluate::{of_system, of_weights};
use gpbench_worker::process;
use gpbench_worker::services;
use gpbench_worker::system::System;
use ndarray::{Array1, Array2, ArrayView2, Axis, ShapeBuilder};

/// A case on rows with two inputs, of which `unique` differ at most.
struct Rows {
    case: Case,
    folder: tempfile::TempDir,
}

impl Rows {
    fn new(n: usize, unique: usize) -> Rows {
        let folder = tempfile::tempdir().unwrap();
        let point = |i: usize, k: usize| ((7 * i + 3 * k) as f64).sin() * 2.0;
        let table = Table {
            name: "rows".into(),
            x: Array2::from_shape_fn((n, 2), |(i, k)| point((i * i + 3 * i) % unique, k)),
            y: Array1::from_shape_fn(n, |i| (i as f64).cos()),
            test_masks: vec![(0..n).map(|i| i % 10 == 9).collect()],
            ..Table::default()
        };
        copy::write(&table, &folder.path().join("rows.bin")).unwrap();
        let mut case = common::case(n);
        case.dataset.source = Source::File { path: "rows.csv".into(), options: ReadOptions::default() };
        case.dataset.collapse_duplicates = true;
        Rows { case, folder }
    }

    fn build(&self) -> System {
        common::build(&self.case, Some(&self.folder.path().join("rows.bin")), 2).unwrap()
    }

    /// The same without collapsing.
    fn whole(mut self) -> System {
        self.case.dataset.collapse_duplicates = false;
        self.build()
    }
}

/// S K S + noise^2 I from what a solver is given, by the plain formula of Matérn-3/2.
fn matrix(inputs: &sdk::Inputs<'_>) -> Array2<f64> {
    let (x, scales) = (inputs.x, inputs.scales.expect("duplicates are collapsed"));
    Array2::from_shape_fn((x.nrows(), x.nrows()), |(i, j)| {
        let scaled = |k: usize| (x[(i, k)] - x[(j, k)]) / inputs.length_scale[k];
        let r = 3.0_f64.sqrt() * (0..x.ncols()).map(|k| scaled(k).powi(2)).sum::<f64>().sqrt();
        let kernel = scales[i] * scales[j] * inputs.signal_scale.powi(2) * (1.0 + r) * (-r).exp();
        if i == j { kernel + inputs.noise_scale.powi(2) } else { kernel }
    })
}

solver! {
    /// Compares every product with the dense matrix, and leaves the solution.
    Curious = "curious";

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> sdk::Result<Report> {
        let op = problem.operator();
        let (m, s) = (op.n(), problem.rhs().ncols());
        assert_eq!((op.m(), problem.rhs().nrows(), problem.x().dim()), (m, m, (m, s)));
        let inputs = op.inputs()?;
        assert_eq!((inputs.x.dim(), inputs.basis), ((m, 2), None));
        let whole = matrix(&inputs);
        let x = Array2::from_shape_fn((m, s).f(), |(i, j)| ((3 * i + j) as f64).sin());

        let mut product = zeros(m, s);
        op.apply(&x, &mut product)?;
        close("apply", &product, &whole.dot(&x), 1e-12);
        assert_eq!(op.diagonal()?.len(), m);

        let (rows, cols) = ([3, 0, m - 1], [11, 5]);
        let some = whole.select(Axis(0), &rows);
        let (mut u, mut sums) = (zeros(3, s), Array2::ones((m, s).f()));
        op.apply_rows_and_back(&rows[..], &x, &mut u, &mut sums, |mut u| u *= 2.0)?;
        close("fused", &sums, &(some.t().dot(&(2.0 * some.dot(&x))) + 1.0), 1e-12);
        let mut y = Array2::ones((m, s).f());
        op.update_columns(&cols[..], &x.select(Axis(0), &cols), &mut y)?;
        close("columns", &y, &(whole.select(Axis(1), &cols).dot(&x.select(Axis(0), &cols)) + 1.0), 1e-12);
        let mut dense = zeros(m, m);
        op.block(0..m, 0..m, &mut dense)?;
        close("block", &dense, &whole, 1e-12);

        let targets = problem.targets()?.expect("the probes are pathwise targets");
        let probes = problem.rhs().slice_move(ndarray::s![.., 1..]);
        close("targets", &(&targets.f + &targets.noise), &probes.to_owned(), 1e-12);

        lapack::cholesky(&mut dense).unwrap();
        let rhs = problem.rhs();
        problem.x_mut().assign(&rhs);
        lapack::cholesky_solve(&dense, &mut problem.x_mut()).unwrap();
        problem.observe(1, &vec![0.5; s])?;
        Ok(Report::new(Reason::Iterations, 1).residuals(vec![0.25; s]))
    }
}

/// Asks for the iterate, and keeps it and the claims.
#[derive(Default)]
struct Watcher {
    iterate: Option<Array2<f64>>,
    claimed: Vec<f64>,
}

impl Observer for Watcher {
    fn wants_iterate(&mut self, _: IterationInfo<'_>) -> bool {
        true
    }

    fn record(&mut self, info: IterationInfo<'_>, iterate: Option<ArrayView2<f64>>) {
        self.iterate = iterate.map(|iterate| iterate.to_owned());
        self.claimed = info.claimed.to_vec();
    }
}

/// |Q^T b| / |b| for each column.
fn shares(system: &System) -> Vec<f64> {
    let rhs = system.targets.rhs.view();
    let own = UniqueInputs::of(system.data.x_train.view()).project(rhs);
    let columns = own.columns().into_iter().zip(rhs.columns());
    columns.map(|(own, all)| metrics::norm(own) / metrics::norm(all)).collect()
}

#[test]
fn a_solver_sees_a_smaller_system_and_the_harness_the_whole_one() {
    let rows = Rows::new(80, 31);
    let system = rows.build();
    let (n, m) = (system.n(), system.m());
    assert!(n == 72 && m < 30, "{n} rows, {m} of them unique");
    let mut watcher = Watcher::default();
    let (outcome, x) = run::<Curious>(&system, &[], common::LIMITS, process::now, &mut watcher).unwrap();
    let weights = system.weights(x.into());
    close("weights", &weights.to_owned(), &exact_solution(&system), 1e-10);
    assert_eq!(watcher.iterate.unwrap(), weights);
    // The product, three rows, two columns, and everything.
    let m = m as f64;
    assert_eq!(outcome.cost.entries.used, m * m + 3.0 * m + 2.0 * m + m * m);
    // The residuals that the solver claims are reported relative to the whole right-hand sides.
    let halves = shares(&system).iter().map(|share| 0.5 * share).collect::<Vec<_>>();
    let error = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(error(&watcher.claimed, &halves) < 1e-14 && halves.iter().all(|half| *half < 0.499));
    assert!(error(&outcome.claimed.iter().map(|c| 2.0 * c).collect::<Vec<_>>(), &halves) < 1e-14);
    // Everything but the unknowns is as without collapsing.
    let whole = rows.whole();
    assert_eq!((&whole.targets.rhs, &whole.targets.f_test), (&system.targets.rhs, &system.targets.f_test));
    let found = |system: &System| {
        let mut found = of_system(system, None);
        found.extend(&predictions(system, None, weights.view()));
        found.extend(&of_weights(system, None, weights.view()));
        found
    };
    let (mut of_whole, of_collapsed) = (found(&whole), found(&system));
    of_whole.insert(names::UNIQUE_INPUTS, m);
    assert_eq!(of_whole, of_collapsed);
    assert!(of_whole.get(names::RESIDUAL_MAX).unwrap() < 1e-10);
}

#[test]
fn features_are_those_of_the_rows_taken_together() {
    let rows = Rows::new(60, 21);
    let of = |system: &System| run::<Features>(system, &[], common::LIMITS, process::now, &mut ()).unwrap().1;
    let collapsed = of(&rows.build());
    let whole = rows.whole();
    let expected = UniqueInputs::of(whole.data.x_train.view()).project(of(&whole).view());
    close("features", &collapsed, &expected, 1e-12);
}

solver! {
    /// Reports its limits.
    Asked = "asked";

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> sdk::Result<Report> {
        let (x, mut y) = (problem.rhs().to_owned(), zeros(problem.rhs().nrows(), problem.rhs().ncols()));
        let mut products = 0;
        while problem.operator().apply(&x, &mut y).is_ok() {
            products += 1;
        }
        let report = Report::new(Reason::Stopped, products).number("tolerance", problem.tolerance());
        Ok(report.number("max_epochs", problem.max_epochs()))
    }
}

#[test]
fn limits_are_those_of_the_smaller_system() {
    let system = Rows::new(60, 21).build();
    let limits = SolveLimits { tolerance: Some(0.01), max_epochs: Some(3.0), ..common::LIMITS };
    let (outcome, _) = run::<Asked>(&system, &[], limits, process::now, &mut ()).unwrap();
    let (n, m) = (system.n() as f64, system.m() as f64);
    let largest = shares(&system).into_iter().fold(0.0, f64::max);
    assert!((outcome.values["tolerance"] - 0.01 / largest).abs() < 1e-15 && largest < 0.999, "{largest}");
    assert!((outcome.values["max_epochs"] - 3.0 * (n / m).powi(2)).abs() < 1e-12);
    assert_eq!(outcome.cost.iterations, (3.0 * (n / m).powi(2)) as u64);
    assert_eq!(outcome.stop_reason, StopReason::Epochs);
}

/// Runs a solver of this workspace, with a tolerance of 1e-10.
fn solve(system: &System, id: &str, params: &[(&str, ParamValue)]) -> (SolveOutcome, Array2<f64>) {
    let library = Library::load(&library(id), services::host(Some(system.pool.clone()))).unwrap();
    let params = params.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let mut solver = SolverObject::create(library.solver(id).unwrap(), library.host(), &params).unwrap();
    let limits =
        SolveLimits { tolerance: Some(1e-10), max_epochs: Some(20_000.0), threads: 2, ..common::LIMITS };
    let mut no_observer = ();
    let session = Session::new(system, limits, library.host(), &mut no_observer);
    let mut x = zeros(system.m(), system.columns());
    let outcome = solver.run(&session, &mut x).unwrap_or_else(|error| panic!("{id}: {error}"));
    (outcome, system.weights(x.into()).into_owned())
}

/// Every solver works on the smaller system without knowing of it.
#[test]
fn solvers_agree_with_the_dense_solution_of_the_whole_system() {
    let text = |name, value: &str| (name, ParamValue::Text(value.into()));
    let preconditioned = |kind: &str| vec![text("preconditioner", kind), ("rank", ParamValue::Int(8))];
    // Steps of sgd are for gradients divided by the rows of a batch.
    let rate = |m: usize| ("learning_rate", ParamValue::Float(0.02 * m.min(8) as f64));
    let solvers = |rate| {
        [
            ("cholesky", vec![]),
            ("cg", vec![]),
            ("cg", preconditioned("pivoted_cholesky")),
            ("cg", preconditioned("rp_cholesky")),
            ("cg", preconditioned("nystrom")),
            ("block-cg", vec![]),
            ("ap", vec![("block_size", ParamValue::Int(8))]),
            ("sgd", vec![("batch_size", ParamValue::Int(8)), rate]),
        ]
    };
    let mut of_standard_probes = Rows::new(60, 21);
    of_standard_probes.case.task = common::solving(common::standard(3));
    // Some rows repeat, none does, all do.
    for rows in [Rows::new(60, 21), of_standard_probes, Rows::new(60, 4000), Rows::new(60, 1)] {
        let system = rows.build();
        let expected = exact_solution(&system);
        for (id, params) in &solvers(rate(system.m())) {
            let (outcome, weights) = solve(&system, id, params);
            assert_eq!(outcome.stop_reason, StopReason::Converged, "{id} {params:?}");
            close(id, &weights, &expected, 1e-8);
            // Its momentum takes sgd past where it stood when it knew its residual.
            let bound = if *id == "sgd" { 1e-9 } else { 1.01e-10 };
            let found = of_weights(&system, None, weights.view());
            for name in [names::RESIDUAL_Y, names::RESIDUAL_PROBES] {
                assert!(found.get(name).unwrap() < bound, "{id} {params:?}: {found:?}");
            }
        }
    }
}

#[test]
fn inducing_points_are_refused() {
    let mut rows = Rows::new(60, 21);
    rows.case.task = common::posterior(3, Some(Inducing::Subset { points: 5 }));
    let file = rows.folder.path().join("rows.bin");
    let error = common::build(&rows.case, Some(&file), 1).unwrap_err().to_string();
    assert_eq!(error, "inducing points cannot be combined with a data set of collapsed duplicates");
}
