//! Cases, systems and solvers that the tests share.

/// A solver without parameters that sets up nothing: its id, then its functions, `prepare` first if it has one.
macro_rules! solver {
    ($(#[$doc:meta])* $visibility:vis $name:ident = $id:literal; fn solve $($function:tt)*) => {
        solver! {
            $(#[$doc])*
            $visibility $name = $id;

            fn prepare(&self, _: &gpbench_sdk::Problem<'_>) -> gpbench_sdk::Result<()> {
                Ok(())
            }

            fn solve $($function)*
        }
    };
    ($(#[$doc:meta])* $visibility:vis $name:ident = $id:literal; $($functions:tt)*) => {
        $(#[$doc])*
        $visibility struct $name;

        impl gpbench_sdk::Solver for $name {
            type Params = gpbench_sdk::NoParams;
            const ID: &'static str = $id;
            const DOC: &'static str = "A solver of a test.";
            type Prepared = ();

            fn new(_: gpbench_sdk::NoParams) -> gpbench_sdk::Result<Self> {
                Ok($name)
            }

            $($functions)*
        }
    };
}

pub(crate) mod features;
pub(crate) mod training;
pub(crate) mod worker;

use std::collections::BTreeMap;
use std::fmt::Arguments;
use std::path::Path;

use gpbench_gp::thread_pool;
use gpbench_host::{
    CallError, HostTable, Library, Observer, Services, Session, SolveLimits, SolveOutcome, SolverObject,
};
use gpbench_numerics::lapack;
use gpbench_record::{
    Budget, Case, Clock, Frequencies, GpDraw, Inducing, Kernel, ParamValue, PathwiseTargets, Posterior,
    PriorSource, Probes, Solve, Source, StandardProbes, Task, testing,
};
use gpbench_sdk as sdk;
use gpbench_worker::rows::Rows;
use gpbench_worker::system::{System, SystemError, SystemSpec};
use ndarray::{Array2, ShapeBuilder};

/// Random features of prior draws.
pub(crate) const FEATURES: PriorSource =
    PriorSource::Features { features: 200, frequencies: Frequencies::MultivariateT };

/// A posterior on a draw from a Gaussian process with `n` rows in two dimensions, and three probes.
pub(crate) fn case(n: usize) -> Case {
    let mut case = testing::case("cg");
    let Source::GpDraw(draw) = case.dataset.source else { panic!("not a draw") };
    let draw = GpDraw { n, n_test: n / 10, noise_scale: 0.3, length_scale: 0.4, ..draw };
    case.dataset.source = Source::GpDraw(draw);
    case.kernel = Kernel { signal_scale: 1.1, noise_scale: 0.3, length_scale: vec![1.2, 1.5], ..case.kernel };
    case.task = posterior(3, None);
    Case { budget: Budget::default(), seed: 7, ..case }
}

/// The task of predicting with so many samples.
pub(crate) fn posterior(probes: usize, inducing: Option<Inducing>) -> Task {
    let targets = PathwiseTargets { probes, prior: FEATURES };
    Task::Posterior(Posterior { estimator: "pathwise".into(), targets, inducing })
}

/// The task of solving for these right-hand sides beside y.
pub(crate) fn solving(probes: Probes) -> Task {
    Task::Solve(Solve { estimator: "probes".into(), probes })
}

/// So many pathwise targets.
pub(crate) fn pathwise(probes: usize) -> Probes {
    Probes::Pathwise(PathwiseTargets { probes, prior: FEATURES })
}

/// So many normal probes.
pub(crate) fn standard(probes: usize) -> Probes {
    Probes::Standard(StandardProbes { probes, distribution: Default::default() })
}

/// The case, solved by another solver with its own defaults.
pub(crate) fn by(id: &str, mut case: Case) -> Case {
    case.solver.name = id.into();
    case.solver.plugin = id.into();
    case
}

/// The system of a case.
pub(crate) fn build(case: &Case, file: Option<&Path>, threads: usize) -> Result<System, SystemError> {
    let rows = Rows::load(&case.dataset, case.seed, file).unwrap();
    System::build(SystemSpec {
        rows: &rows,
        kernel: &case.kernel,
        probes: case.task.probes().expect("a task with linear systems"),
        redraw: None,
        features: None,
        inducing: case.task.inducing(),
        pool: &thread_pool(threads).unwrap(),
    })
}

/// The system of a case whose rows are drawn.
pub(crate) fn system(case: &Case) -> System {
    build(case, None, 1).unwrap()
}

/// No limits, on one thread.
pub(crate) const LIMITS: SolveLimits =
    SolveLimits { tolerance: None, max_epochs: None, seconds: None, threads: 1, seed: 1 };

/// A clock, and nothing else.
struct TestClock(fn() -> Clock);

impl Services for TestClock {
    fn now(&self) -> Clock {
        self.0()
    }

    fn log(&self, _: Arguments<'_>) {}

    fn for_each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(work);
    }
}

/// A library of the one solver `S`, whose host has this clock.
pub(crate) fn library_of<S: sdk::Solver>(now: fn() -> Clock) -> Library {
    let plugin = sdk::export::plugin("test", "1.0", vec![sdk::export::solver::<S>()], Vec::new());
    let host = HostTable::new(Box::new(TestClock(now)));
    // SAFETY: a description made by the SDK.
    unsafe { Library::from_description(Path::new("test"), plugin, host) }.unwrap()
}

/// Runs `S` with these parameters on a system, from zero.
pub(crate) fn run<S: sdk::Solver>(
    system: &System,
    params: &[(&str, ParamValue)],
    limits: SolveLimits,
    now: fn() -> Clock,
    observer: &mut dyn Observer,
) -> Result<(SolveOutcome, Array2<f64>), CallError> {
    let library = library_of::<S>(now);
    let params: BTreeMap<String, ParamValue> =
        params.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect();
    let mut solver = SolverObject::create(library.solver(S::ID).unwrap(), library.host(), &params)?;
    let mut x = Array2::zeros((system.m(), system.columns()).f());
    let session = Session::new(system, limits, library.host(), observer);
    let outcome = solver.run(&session, &mut x)?;
    Ok((outcome, x))
}

/// A matrix of zeros, stored by columns.
pub(crate) fn zeros(rows: usize, columns: usize) -> Array2<f64> {
    Array2::zeros((rows, columns).f())
}

/// H^-1 B by a dense factor of H.
pub(crate) fn exact_solution(system: &System) -> Array2<f64> {
    let all: Vec<usize> = (0..system.n()).collect();
    let mut h = Array2::zeros((system.n(), system.n()).f());
    system.operator.block(&all, &all, h.view_mut());
    lapack::cholesky(&mut h).unwrap();
    let mut x = system.targets.rhs.clone();
    lapack::cholesky_solve(&h, &mut x).unwrap();
    x
}

/// Asserts that two arrays are the same up to a tolerance relative to the largest entry.
#[track_caller]
pub(crate) fn close(what: &str, a: &Array2<f64>, b: &Array2<f64>, tolerance: f64) {
    let size = |a: &Array2<f64>| a.fold(0.0, |m: f64, v| m.max(v.abs()));
    let (error, scale) = (size(&(a - b)), size(b));
    assert!(error <= tolerance * scale, "{what}: {error} of {scale}");
}
