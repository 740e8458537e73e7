//! A solver of a loaded library, as the conformance suite sees it.

use std::sync::Arc;

use gpbench_data::Split;
use gpbench_gp::pathwise::Targets;
use gpbench_gp::seed::Streams;
use gpbench_gp::{Family, Kernel, KernelOperator, blas};
use gpbench_host::{
    HostTable, IterationInfo, Library, LibraryError, Observer, Session, SolveLimits, SolverObject,
};
use gpbench_testkit::conformance::{
    Ask, Description, Fault, Object, Offer, Outcome, Request, Setting, Subject, Touched,
};
use ndarray::{Array2, ArrayView2, Axis, ShapeBuilder, s};
use rayon::ThreadPool;

use crate::channel::Capture;
use crate::system::{DrawnFeatures, Formulation, System};

use super::offer::{self, fault, reason};

/// What the memory around an iterate holds: a number that no solver computes.
const UNTOUCHED: f64 = -6.283_185_307_179_586e-123;

/// A solver, its library, and the threads that its systems are served on.
pub(super) struct LoadedSolver {
    library: Library,
    description: Description,
    pool: Arc<ThreadPool>,
    capture: Capture,
}

impl LoadedSolver {
    /// A solver of a library that has been loaded.
    pub(super) fn new(
        library: Library,
        pool: Arc<ThreadPool>,
        solver: &str,
        capture: Capture,
    ) -> Result<LoadedSolver, LibraryError> {
        let entry = library.solver(solver)?;
        let description = offer::description("solver", &entry.info, library.oddities(entry));
        Ok(LoadedSolver { library, description, pool, capture })
    }
}

impl Offer for LoadedSolver {
    fn description(&self) -> &Description {
        &self.description
    }

    fn try_settings(&self, settings: &[(&str, Setting)]) -> Result<(), Fault> {
        self.create(settings)?.end()
    }

    fn blas_threads(&self) -> usize {
        blas::threads()
    }

    fn printed(&self) -> u64 {
        self.capture.bytes()
    }
}

impl Subject for LoadedSolver {
    fn create<'s>(&'s self, settings: &[(&str, Setting)]) -> Result<Box<dyn Object + 's>, Fault> {
        let entry = self.library.solver(&self.description.id).expect("found when it was loaded");
        let solver =
            SolverObject::create(entry, self.library.host(), &offer::params(settings)).map_err(fault)?;
        Ok(Box::new(LiveObject { solver, host: self.library.host(), pool: &self.pool }))
    }
}

/// A solver object.
struct LiveObject<'s> {
    solver: SolverObject<'s>,
    host: &'static HostTable,
    pool: &'s Arc<ThreadPool>,
}

impl Object for LiveObject<'_> {
    fn prepare(&mut self, request: &Request) -> Result<(), Fault> {
        let system = system(request, self.pool);
        let mut no_observer = ();
        let session = Session::new(&system, limits(request), self.host, &mut no_observer);
        let mut x = by_columns(&request.start);
        self.solver.prepare(&session, &mut x.view_mut()).map(drop).map_err(fault)
    }

    fn run(&mut self, request: &Request, between: &mut dyn FnMut()) -> Result<Outcome, Fault> {
        let system = system(request, self.pool);
        let mut recorder = Recorder::new(request);
        let session = Session::new(&system, limits(request), self.host, &mut recorder);
        let ((n, s), margin) = (request.rhs.dim(), request.margin);
        let mut memory = Array2::from_elem((n + 2 * margin, s + 2 * margin).f(), UNTOUCHED);
        let mut x = memory.slice_mut(s![margin..margin + n, margin..margin + s]);
        x.assign(&request.start);

        let early = self.solver.prepare(&session, &mut x).map_err(fault)?;
        let moved = x != request.start;
        between();
        let outcome = match early {
            Some(outcome) => outcome,
            None => self.solver.solve(&session, &mut x).map_err(fault)?,
        };

        let found = x.to_owned();
        x.fill(UNTOUCHED);
        let touched = [
            (Touched::RightHandSides, !same(system.targets.rhs.view(), request.rhs.view())),
            (Touched::Inputs, !session.has_inputs(request.system.x.view())),
            (Touched::IterateInPrepare, moved),
            (Touched::Margin, memory.iter().any(|entry| entry.to_bits() != UNTOUCHED.to_bits())),
        ];
        let touched = touched.into_iter().filter_map(|(what, is_so)| is_so.then_some(what)).collect();
        let refusals = session.refusals();
        drop(session);
        let epochs = |entries: f64| entries / (n as f64).powi(2);
        Ok(Outcome {
            x: found,
            reason: reason(outcome.stop_reason),
            claimed: outcome.claimed,
            epochs: epochs(outcome.cost.entries.used),
            setup: epochs(outcome.cost.entries.setup),
            self_reported: epochs(outcome.cost.entries.self_reported),
            refusals,
            observed: recorder.observed,
            asked: recorder.asked,
            handed: recorder.handed,
            touched,
        })
    }

    fn end(self: Box<Self>) -> Result<(), Fault> {
        self.solver.destroy().map_err(fault)
    }
}

/// Asks and stops as a request says, and records what it observes.
struct Recorder {
    ask: Ask,
    stop_at: Option<usize>,
    observed: Vec<f64>,
    asked: usize,
    handed: Vec<Array2<f64>>,
}

impl Recorder {
    fn new(request: &Request) -> Recorder {
        Recorder {
            ask: request.ask,
            stop_at: request.stop_at,
            observed: Vec::new(),
            asked: 0,
            handed: Vec::new(),
        }
    }
}

impl Observer for Recorder {
    fn wants_iterate(&mut self, _: IterationInfo<'_>) -> bool {
        let asks = match self.ask {
            Ask::Never => false,
            Ask::At(at) => at == self.observed.len() && self.asked == 0,
            Ask::Always => true,
        };
        self.asked += usize::from(asks);
        asks
    }

    fn record(&mut self, info: IterationInfo<'_>, iterate: Option<ArrayView2<f64>>) {
        self.observed.push(info.epochs);
        self.handed.extend(iterate.map(|iterate| iterate.to_owned()));
    }

    fn wants_stop(&mut self) -> bool {
        self.stop_at.is_some_and(|at| at + 1 == self.observed.len())
    }
}

/// The system of a request, served by the harness's own operator.
fn system(request: &Request, pool: &Arc<ThreadPool>) -> System {
    let conformance = &request.system;
    let (x, d) = (conformance.x.clone(), conformance.x.ncols());
    let kernel = Kernel::new(Family::Matern32, 1.0, &conformance.length_scale, d);
    let operator = KernelOperator::with_pool(&kernel, conformance.noise_scale, x.view(), pool.clone());
    let (n, s, margin) = (request.rhs.nrows(), request.rhs.ncols(), request.margin);
    let mut rhs = Array2::zeros((n + margin, s).f()).slice_move(s![..n, ..]);
    rhs.assign(&request.rhs);
    let streams = Streams::new(request.seed, &["conformance"]);
    let none = |rows: usize| Array2::zeros((rows, 0).f());
    System {
        data: Arc::new(Split::raw(x, request.rhs.index_axis(Axis(1), 0).to_owned())),
        operator: Box::new(operator),
        targets: Targets { rhs, f_train: none(n), noise: none(n), f_test: none(0) },
        features: None,
        formulation: Formulation::Full,
        of_targets: streams.clone(),
        streams,
        drawn: DrawnFeatures::default(),
        pool: pool.clone(),
    }
}

fn limits(request: &Request) -> SolveLimits {
    SolveLimits {
        tolerance: request.tolerance,
        max_epochs: Some(request.max_epochs),
        seconds: None,
        threads: request.threads,
        seed: request.seed,
    }
}

/// A column-major copy.
fn by_columns(array: &Array2<f64>) -> Array2<f64> {
    let mut copy = Array2::zeros(array.dim().f());
    copy.assign(array);
    copy
}

/// Whether two matrices are the same to the last bit, NaN included.
fn same(a: ArrayView2<f64>, b: ArrayView2<f64>) -> bool {
    a.dim() == b.dim() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}
