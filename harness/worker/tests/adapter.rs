//! Solvers written with the SDK, linked into the test: what they see of the
//! problem, what is counted, and when they are stopped.

use crate::common;
use std::cell::Cell;
use std::collections::BTreeMap;

use crate::common::{close, library_of, run};
use gpbench_host::{CallError, IterationInfo, Observer, Session, SolveLimits, SolverObject, SolverState};
use gpbench_record::{Clock, Message, ParamValue, StopReason, TracePoint, names};
use gpbench_sdk as sdk;
use gpbench_sdk::{Problem, Reason, Report};
use gpbench_worker::process;
use gpbench_worker::system::System;
use gpbench_worker::trace::CaseTrace;
use ndarray::{Array2, ArrayView2, ShapeBuilder};

const ROWS: usize = 40;

fn system() -> System {
    common::system(&common::case(ROWS))
}

sdk::params! {
    /// Parameters of the gradient descent below.
    pub struct DescentParams {
        /// Length of a step over the largest eigenvalue's bound.
        pub step: f64 = 1.0, in 0.0..=2.0;
        /// Iterations.
        pub iterations: i64 = 100000, in 1..;
    }
}

/// Gradient descent with a bound on the largest eigenvalue: simple, slow and sure.
struct Descent(DescentParams);

impl sdk::Solver for Descent {
    type Params = DescentParams;
    const ID: &'static str = "descent";
    const DOC: &'static str = "Gradient descent.";
    type Prepared = ();

    fn new(params: DescentParams) -> sdk::Result<Self> {
        Ok(Descent(params))
    }

    fn prepare(&self, _: &Problem<'_>) -> sdk::Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> sdk::Result<Report> {
        let (op, rhs) = (problem.operator(), problem.rhs().to_owned());
        let bound = op.diagonal()?.sum();
        let mut x = problem.x().to_owned();
        let mut product = Array2::zeros(rhs.dim().f());
        for iteration in 0..self.0.iterations as usize {
            op.apply(&x, &mut product)?;
            let residual = &rhs - &product;
            let norms: Vec<f64> = (0..rhs.ncols()).map(|j| norm(&residual, j) / norm(&rhs, j)).collect();
            problem.observe_with(iteration, &norms, |out| out.assign(&x))?;
            if problem.converged(&norms) {
                problem.x_mut().assign(&x);
                return Ok(Report::new(Reason::Converged, iteration).residuals(norms).number("bound", bound));
            }
            x.scaled_add(self.0.step / bound, &residual);
        }
        problem.x_mut().assign(&x);
        Ok(Report::new(Reason::Iterations, self.0.iterations as usize))
    }
}

fn norm(a: &Array2<f64>, column: usize) -> f64 {
    a.column(column).dot(&a.column(column)).sqrt()
}

#[test]
fn a_solver_solves_and_what_it_says_arrives() {
    let system = system();
    let limits = SolveLimits { tolerance: Some(0.05), ..common::LIMITS };
    let (outcome, x) = run::<Descent>(&system, &[], limits, process::now, &mut ()).unwrap();
    assert_eq!(outcome.stop_reason, StopReason::Converged);
    assert_eq!(outcome.claimed.len(), 4);
    assert!(outcome.claimed[0] <= 0.05);
    assert!((outcome.values["bound"] - system.operator.diagonal().unwrap().sum()).abs() < 1e-9);
    assert_eq!(outcome.cost.entries.used, ((outcome.cost.iterations + 1) * (ROWS * ROWS) as u64) as f64);
    assert_eq!(outcome.cost.entries.evaluated, outcome.cost.entries.used, "a single tile is evaluated whole");
    let residuals =
        gpbench_gp::metrics::relative_residuals(&*system.operator, x.view(), system.targets.rhs.view());
    for (residual, claimed) in residuals.iter().zip(&outcome.claimed) {
        assert!((residual - claimed).abs() < 1e-10);
    }
}

#[test]
fn parameters_are_checked_before_the_plugin_sees_them() {
    let system = system();
    let attempt = |name: &str, value: ParamValue| {
        let outcome = run::<Descent>(&system, &[(name, value)], common::LIMITS, process::now, &mut ());
        outcome.unwrap_err().to_string()
    };
    assert_eq!(attempt("stepp", ParamValue::Float(1.0)), "solver `descent` has no parameter `stepp`");
    assert_eq!(
        attempt("step", ParamValue::Float(3.0)),
        "solver `descent` cannot take this `step`: 3 is above 2"
    );
    assert_eq!(
        attempt("iterations", ParamValue::Float(1.5)),
        "solver `descent` needs `iterations` to be of kind int, not 1.5"
    );
    let whole = [("step", ParamValue::Int(1)), ("iterations", ParamValue::Int(2))];
    let (outcome, _) = run::<Descent>(&system, &whole, common::LIMITS, process::now, &mut ()).unwrap();
    assert_eq!((outcome.stop_reason, outcome.cost.iterations), (StopReason::Iterations, 2));
}

#[test]
fn work_past_the_epochs_is_refused_and_the_iterate_kept() {
    let system = system();
    let limits = SolveLimits { max_epochs: Some(3.5), ..common::LIMITS };
    let (outcome, x) = run::<Descent>(&system, &[], limits, process::now, &mut ()).unwrap();
    assert_eq!(outcome.stop_reason, StopReason::Epochs);
    assert_eq!(outcome.cost.entries.used, 3.0 * (ROWS * ROWS) as f64);
    assert_eq!(outcome.cost.iterations, 2);
    // The fourth product is refused, not observed: what was last handed over stays, which is zero here.
    assert!(x.iter().all(|&value| value == 0.0));

    let whole = SolveLimits { max_epochs: Some(3.0), ..common::LIMITS };
    let (outcome, x) = run::<Descent>(&system, &[], whole, process::now, &mut ()).unwrap();
    assert_eq!((outcome.stop_reason, outcome.cost.iterations), (StopReason::Epochs, 2));
    assert!(x.iter().any(|&value| value != 0.0), "observe said stop and the iterate was handed over");
}

thread_local! {
    static TIME: Cell<f64> = const { Cell::new(0.0) };
}

fn counted_time() -> Clock {
    Clock { wall: TIME.get(), cpu: TIME.get() }
}

/// Asks for every iterate and takes a long time.
#[derive(Default)]
struct Slow {
    observed: Vec<(u64, f64, f64)>,
    largest: Vec<f64>,
    notes: Vec<(u64, f64, String, f64)>,
}

impl Observer for Slow {
    fn wants_iterate(&mut self, _: IterationInfo<'_>) -> bool {
        true
    }

    fn record(&mut self, info: IterationInfo<'_>, iterate: Option<ArrayView2<f64>>) {
        TIME.set(TIME.get() + 1000.0);
        let largest = iterate.map(|x| x.iter().fold(0.0, |a: f64, b| a.max(b.abs())));
        self.observed.push((info.iteration, info.seconds, info.epochs));
        self.largest.extend(largest);
    }

    fn note(&mut self, info: IterationInfo<'_>, name: &str, value: f64) {
        TIME.set(TIME.get() + 1000.0);
        self.notes.push((info.iteration, info.seconds, name.to_owned(), value));
    }
}

solver! {
    /// Five products, a second each.
    Seconds = "seconds";

    fn prepare(&self, problem: &Problem<'_>) -> sdk::Result<()> {
        TIME.set(TIME.get() + 0.5);
        problem.operator().charge(ROWS * ROWS / 2)
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> sdk::Result<Report> {
        let mut product = Array2::zeros(problem.rhs().dim().f());
        for iteration in 1..=5 {
            problem.operator().apply(&problem.rhs().to_owned(), &mut product)?;
            TIME.set(TIME.get() + 1.0);
            problem.observe_with(iteration, &[], |x| x.fill(iteration as f64))?;
        }
        Ok(Report::new(Reason::Iterations, 5))
    }
}

#[test]
fn observing_is_not_timed() {
    TIME.set(0.0);
    let system = system();
    let mut slow = Slow::default();
    let (outcome, x) = run::<Seconds>(&system, &[], common::LIMITS, counted_time, &mut slow).unwrap();
    assert_eq!(outcome.cost.prepare, Clock { wall: 0.5, cpu: 0.5 });
    assert_eq!(outcome.cost.solve, Clock { wall: 5.0, cpu: 5.0 });
    let epochs = |k: f64| 0.5 + k;
    assert_eq!(slow.observed[0], (1, 1.5, epochs(1.0)));
    assert_eq!(slow.observed[4], (5, 5.5, epochs(5.0)));
    assert_eq!(slow.largest, [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(x[(0, 0)], 5.0);
    let entry = (ROWS * ROWS) as f64;
    let entries = outcome.cost.entries;
    assert_eq!((entries.used, entries.setup, entries.self_reported), (5.5 * entry, 0.5 * entry, 0.5 * entry));
}

#[test]
fn time_runs_out_on_that_clock() {
    TIME.set(0.0);
    let system = system();
    let limits = SolveLimits { seconds: Some(2.5), ..common::LIMITS };
    let mut slow = Slow::default();
    let (outcome, x) = run::<Seconds>(&system, &[], limits, counted_time, &mut slow).unwrap();
    assert_eq!((outcome.stop_reason, outcome.cost.iterations), (StopReason::Time, 2));
    assert_eq!(outcome.cost.solve.wall, 2.0);
    assert_eq!(x[(0, 0)], 2.0);
}

solver! {
    /// Notes numbers of its own, now and then while its iterate is wanted.
    Notes = "notes";

    fn prepare(&self, problem: &Problem<'_>) -> sdk::Result<()> {
        problem.note(0, "rank", 12.0)
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> sdk::Result<Report> {
        for iteration in 1..=300 {
            TIME.set(TIME.get() + 1.0);
            problem.note(iteration, "gradient_variance", iteration as f64 / 2.0)?;
            problem.note(iteration, "nothing", f64::NAN)?;
        }
        problem.observe(301, &[])?;
        for wrong in ["", "Case", "a:b", "naïve", &"x".repeat(65)] {
            let error = problem.note(301, wrong, 1.0).unwrap_err();
            assert_eq!(error.to_string(), "the host's `trace.note` failed with status -2", "{wrong}");
        }
        problem.note(301, &"x".repeat(64), 1.0)?;
        Ok(Report::new(Reason::Iterations, 301))
    }
}

#[test]
fn numbers_of_the_solvers_own_are_noted_off_the_clock() {
    TIME.set(0.0);
    let system = system();
    let mut slow = Slow::default();
    let (outcome, _) = run::<Notes>(&system, &[], common::LIMITS, counted_time, &mut slow).unwrap();
    assert_eq!((outcome.cost.prepare.wall, outcome.cost.solve.wall), (0.0, 300.0));
    assert_eq!(slow.notes.len(), 302, "what is no number says nothing, and wrong names are refused");
    assert_eq!(slow.notes[0], (0, 0.0, "rank".to_owned(), 12.0));
    assert_eq!(slow.notes[5], (5, 5.0, "gradient_variance".to_owned(), 2.5));
    assert_eq!(slow.notes[301].2, "x".repeat(64));
}

#[test]
fn numbers_of_the_solvers_own_have_their_names_in_the_trace_and_are_thinned() {
    let system = system();
    let mut sent = Vec::new();
    let mut send = |message| sent.push(message);
    let mut trace = CaseTrace::new(None, &mut send);
    run::<Notes>(&system, &[], common::LIMITS, process::now, &mut trace).unwrap();
    let points: Vec<TracePoint> = sent
        .into_iter()
        .map(|message| match message {
            Message::Trace(point) => point,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(points[0].metrics.get("solver:rank"), Some(12.0));
    let variances: Vec<_> =
        points.iter().filter_map(|point| point.metrics.get(&names::of_solver("gradient_variance"))).collect();
    assert_eq!(variances[..200], (1..=200).map(|k| f64::from(k) / 2.0).collect::<Vec<_>>());
    assert!(variances.len() < 220, "{}", variances.len());
}

solver! {
    /// Compares what the operator's parts give with what the whole gives.
    Curious = "curious";

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> sdk::Result<Report> {
        let (op, x) = (problem.operator(), problem.rhs().to_owned());
        let (n, s) = x.dim();
        let zeros = |rows: usize, cols: usize| Array2::<f64>::zeros((rows, cols).f());
        let mut whole = zeros(n, n);
        op.block(0..n, 0..n, &mut whole)?;
        let mut product = zeros(n, s);
        op.apply(&x, &mut product)?;
        close("apply", &product, &whole.dot(&x), 1e-11);

        let rows = [3, 0, 17];
        let some = whole.select(ndarray::Axis(0), &rows);
        let mut part = zeros(3, s);
        op.apply_rows(&rows[..], &x, &mut part)?;
        close("rows", &part, &some.dot(&x), 1e-11);

        let (mut u, mut z) = (zeros(3, s), Array2::ones((n, s).f()));
        op.apply_rows_and_back(&rows[..], &x, &mut u, &mut z, |mut u| u *= 2.0)?;
        close("fused", &z, &(some.t().dot(&(2.0 * some.dot(&x))) + 1.0), 1e-11);
        close("u", &u, &(2.0 * some.dot(&x)), 1e-11);

        let mut y = Array2::ones((n, s).f());
        op.update_columns(&rows[..], &part, &mut y)?;
        close("columns", &y, &(some.t().dot(&part) + 1.0), 1e-11);

        let inputs = op.inputs()?;
        let r2 = |i: usize, j: usize| -> f64 {
            let scaled = |k: usize| (inputs.x[(i, k)] - inputs.x[(j, k)]) / inputs.length_scale[k];
            (0..inputs.x.ncols()).map(|k| scaled(k).powi(2)).sum()
        };
        let a = (3.0 * r2(2, 5)).sqrt();
        let entry = inputs.signal_scale.powi(2) * (1.0 + a) * (-a).exp();
        assert!((entry - whole[(2, 5)]).abs() < 1e-12);

        let w = Array2::from_shape_fn((400, 1).f(), |(i, _)| (i as f64).sin());
        let mut phi_w = zeros(n, 1);
        op.features(5, &w, &mut phi_w)?;
        let mut back = zeros(400, 1);
        op.features_transposed(5, &phi_w, &mut back)?;
        let (left, right) = (phi_w.column(0).dot(&phi_w.column(0)), w.column(0).dot(&back.column(0)));
        assert!((left - right).abs() < 1e-9 * left.abs(), "{left} {right}");

        let targets = problem.targets()?.expect("the probes are pathwise targets");
        close("targets", &(&targets.f + &targets.noise), &x.slice(ndarray::s![.., 1..]).to_owned(), 1e-11);
        Ok(Report::new(Reason::Converged, 1))
    }
}

#[test]
fn the_operators_parts_agree_with_the_whole() {
    let (outcome, _) = run::<Curious>(&system(), &[], common::LIMITS, process::now, &mut ()).unwrap();
    let n = ROWS as f64;
    // The block, the product, and three rows thrice.
    assert_eq!(outcome.cost.entries.used, n * n + n * n + 3.0 * (3.0 * n));
}

solver! {
    /// Falls over.
    Panics = "panics";

    fn solve(&self, (): &mut (), _: &mut Problem<'_>) -> sdk::Result<Report> {
        panic!("the sky is falling");
    }
}

#[test]
fn a_panic_is_an_error_with_its_own_words() {
    let error = run::<Panics>(&system(), &[], common::LIMITS, process::now, &mut ()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("solve panicked: the sky is falling (") && text.contains("adapter.rs:"),
        "{text}"
    );
    assert!(matches!(error, CallError::Panicked { .. }));
}

solver! {
    /// Ends with residuals that are no numbers.
    Overflowing = "overflowing";

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> sdk::Result<Report> {
        let norms = vec![f64::INFINITY, f64::NAN, 1.0, 1.0];
        problem.observe(0, &norms)?;
        Ok(Report::new(Reason::Diverged, 1).residuals(norms))
    }
}

#[test]
fn residuals_that_are_not_finite_are_no_claim() {
    let (outcome, _) = run::<Overflowing>(&system(), &[], common::LIMITS, process::now, &mut ()).unwrap();
    assert_eq!((outcome.stop_reason, outcome.claimed), (StopReason::Diverged, Vec::new()));
}

solver! {
    /// Answers no request for its iterate, but works on as if it had.
    Evasive = "evasive";

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> sdk::Result<Report> {
        problem.observe_with(1, &[], |_| TIME.set(TIME.get() + 1.0))?;
        // In place of an answer to the second request, a panic: the SDK hides the request itself.
        problem.observe_with(2, &[], |_| {
            TIME.set(TIME.get() + 4.0);
            panic!("and no answer");
        })?;
        Ok(Report::new(Reason::Converged, 2))
    }
}

#[test]
fn a_pause_that_brought_no_iterate_counts() {
    let system = system();
    let mut observer = Slow::default();
    TIME.set(0.0);
    let library = library_of::<Evasive>(counted_time);
    let entry = library.solver("evasive").unwrap();
    let mut solver = SolverObject::create(entry, library.host(), &BTreeMap::new()).unwrap();
    let mut x = Array2::zeros((system.n(), system.columns()).f());
    let session = Session::new(&system, common::LIMITS, library.host(), &mut observer);
    assert!(solver.run(&session, &mut x).is_err());
    assert_eq!(session.clock().wall, 4.95, "the first second brought an iterate, and 50 ms of it are free");
}

solver! {
    /// Counts its own solves, as far as the host stores the count.
    Remembers = "remembers";

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> sdk::Result<Report> {
        let before = problem.load_columns("solves")?;
        let solves = before.map_or(0.0, |columns| columns[[0, 0]]) + 1.0;
        let columns = Array2::from_elem((problem.operator().n(), 2).f(), solves);
        problem.save_columns("solves", &columns)?;
        Ok(Report::new(Reason::Converged, solves as usize))
    }
}

#[test]
fn what_a_solver_saves_reaches_the_next_solve() {
    let system = system();
    let library = library_of::<Remembers>(process::now);
    let entry = library.solver("remembers").unwrap();
    let solve = |state: Option<SolverState>| {
        let mut no_observer = ();
        let session = Session::new(&system, common::LIMITS, library.host(), &mut no_observer);
        let session = match state {
            None => session,
            Some(state) => session.with_state(state),
        };
        let mut solver = SolverObject::create(entry, library.host(), &BTreeMap::new()).unwrap();
        let mut x = Array2::zeros((system.n(), system.columns()).f());
        let outcome = solver.run(&session, &mut x).unwrap();
        (outcome.cost.iterations, session.into_state())
    };
    let (first, state) = solve(Some(SolverState::new()));
    let (second, state) = solve(Some(state));
    assert_eq!((first, second, state["solves"].len()), (1, 2, 16 * system.n()));
    assert_eq!(solve(None), (1, SolverState::new()), "a session without state");
}

thread_local! {
    /// Number of values of `Counted` that are alive.
    static ALIVE: Cell<usize> = const { Cell::new(0) };
}

/// Set up for one problem; counts itself while it is alive.
struct Counted;

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.set(ALIVE.get() - 1);
    }
}

/// Requires that nothing prepared earlier is alive when it prepares.
struct Frugal;

impl sdk::Solver for Frugal {
    type Params = sdk::NoParams;
    const ID: &'static str = "frugal";
    const DOC: &'static str = "A solver of a test.";
    type Prepared = Counted;

    fn new(_: sdk::NoParams) -> sdk::Result<Self> {
        Ok(Frugal)
    }

    fn prepare(&self, _: &Problem<'_>) -> sdk::Result<Counted> {
        assert_eq!(ALIVE.get(), 0, "what was prepared is dropped first");
        ALIVE.set(1);
        Ok(Counted)
    }

    fn solve(&self, _: &mut Counted, _: &mut Problem<'_>) -> sdk::Result<Report> {
        Ok(Report::new(Reason::Iterations, ALIVE.get()))
    }
}

#[test]
fn what_is_prepared_is_dropped_before_the_next_problem_is_prepared() {
    let system = system();
    let library = library_of::<Frugal>(process::now);
    let entry = library.solver("frugal").unwrap();
    let mut solver = SolverObject::create(entry, library.host(), &BTreeMap::new()).unwrap();
    let mut x = Array2::zeros((system.n(), system.columns()).f());
    let mut no_observer = ();
    let session = Session::new(&system, common::LIMITS, library.host(), &mut no_observer);
    for _ in 0..2 {
        assert_eq!(solver.run(&session, &mut x).unwrap().cost.iterations, 1);
    }
    // A second solve of the same problem.
    assert_eq!(solver.solve(&session, &mut x.view_mut()).unwrap().cost.iterations, 1);
    solver.destroy().unwrap();
    assert_eq!(ALIVE.get(), 0);
}
