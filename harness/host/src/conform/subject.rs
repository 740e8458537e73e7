//! A solver of a loaded library, as the conformance suite sees it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use gpbench_data::Split;
use gpbench_gp::pathwise::Targets;
use gpbench_gp::seed::Streams;
use gpbench_gp::{Family, Kernel, KernelOperator, blas};
use gpbench_record::{Capability, Param, ParamInfo, StopReason};
use gpbench_testkit::conformance::{
    Ask, Description, Fault, Object, Outcome, Parameter, Reason, Request, Setting, Subject, Touched,
};
use ndarray::{Array1, Array2, ArrayView2, Axis, ShapeBuilder, s};
use rayon::ThreadPool;

use crate::channel::Capture;
use crate::plugin::{
    CallError, HostTable, IterationInfo, Library, LibraryError, Observer, Session, SolveLimits, SolveOutcome,
    SolverObject,
};
use crate::process;
use crate::system::{Formulation, System};

/// Most threads that a request has.
const THREADS: usize = 3;

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
    /// Loads the library into this process.
    pub(super) fn load(file: &Path, solver: &str, capture: Capture) -> Result<LoadedSolver, LibraryError> {
        // As during products: a solver must leave it so.
        blas::set_threads(1);
        let pool = gpbench_gp::thread_pool(THREADS)
            .map_err(|error| LibraryError::Open { file: file.to_owned(), reason: error.to_string() })?;
        let library = Library::load(file, HostTable::new(Some(pool.clone())))?;
        let entry = library.solver(solver)?;
        let can = |capability| entry.info.can(capability);
        let description = Description {
            id: entry.info.id.clone(),
            doc: entry.info.doc.clone(),
            exact: can(Capability::Exact),
            randomized: can(Capability::Randomized),
            warm_start: can(Capability::WarmStart),
            blas_threads: can(Capability::BlasThreads),
            params: entry.info.params.iter().map(parameter).collect(),
            oddities: library.oddities(entry),
        };
        Ok(LoadedSolver { library, description, pool, capture })
    }
}

impl Subject for LoadedSolver {
    fn description(&self) -> &Description {
        &self.description
    }

    fn create<'s>(&'s self, settings: &[(&str, Setting)]) -> Result<Box<dyn Object + 's>, Fault> {
        let entry = self.library.solver(&self.description.id).expect("found when it was loaded");
        let params: BTreeMap<String, Param> =
            settings.iter().map(|(name, value)| ((*name).to_owned(), param(value))).collect();
        let solver = SolverObject::create(entry, self.library.host(), &params).map_err(fault)?;
        Ok(Box::new(LiveObject { solver, pool: &self.pool }))
    }

    fn blas_threads(&self) -> usize {
        blas::threads()
    }

    fn printed(&self) -> u64 {
        self.capture.bytes()
    }
}

/// A solver object.
struct LiveObject<'s> {
    solver: SolverObject<'s>,
    pool: &'s Arc<ThreadPool>,
}

impl Object for LiveObject<'_> {
    fn prepare(&mut self, request: &Request) -> Result<(), Fault> {
        let system = system(request, self.pool);
        let mut no_observer = ();
        let session = Session::new(&system, limits(request), process::now, &mut no_observer);
        let mut x = by_columns(&request.start);
        self.solver.prepare(&session, &mut x.view_mut()).map(drop).map_err(fault)
    }

    fn run(&mut self, request: &Request, between: &mut dyn FnMut()) -> Result<Outcome, Fault> {
        let system = system(request, self.pool);
        let mut recorder = Recorder::new(request);
        let session = Session::new(&system, limits(request), process::now, &mut recorder);
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
            reason: reason(&outcome),
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
    let none = |rows: usize| Array2::zeros((rows, 0).f());
    System {
        data: Arc::new(Split {
            x_train: x,
            y_train: request.rhs.index_axis(Axis(1), 0).to_owned(),
            x_test: Array2::zeros((0, d)),
            y_test: Array1::zeros(0),
            x_validation: Array2::zeros((0, d)),
            y_validation: Array1::zeros(0),
            x_mean: Array1::zeros(d),
            x_std: Array1::ones(d),
            y_mean: 0.0,
            y_std: 1.0,
        }),
        operator: Box::new(operator),
        targets: Targets { rhs, f_train: none(n), noise: none(n), f_test: none(0) },
        features: None,
        formulation: Formulation::Full,
        streams: Streams::new(request.seed, &["conformance"]),
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

fn reason(outcome: &SolveOutcome) -> Reason {
    match outcome.reason {
        StopReason::Converged => Reason::Converged,
        StopReason::Epochs | StopReason::Time => Reason::Stopped,
        StopReason::Iterations => Reason::Iterations,
        StopReason::Stagnated => Reason::Stagnated,
        StopReason::Diverged => Reason::Diverged,
    }
}

fn fault(error: CallError) -> Fault {
    Fault { panicked: matches!(error, CallError::Panicked { .. }), text: error.to_string() }
}

fn parameter(info: &ParamInfo) -> Parameter {
    let default = match &info.default {
        Param::Bool(value) => Setting::Bool(*value),
        Param::Int(value) => Setting::Int(*value),
        Param::Float(value) => Setting::Float(*value),
        Param::Text(value) => Setting::Text(value.clone()),
    };
    let ParamInfo { name, doc, min, max, choices, .. } = info.clone();
    Parameter { name, doc, default, min, max, choices }
}

fn param(setting: &Setting) -> Param {
    match setting {
        Setting::Bool(value) => Param::Bool(*value),
        Setting::Int(value) => Param::Int(*value),
        Setting::Float(value) => Param::Float(*value),
        Setting::Text(value) => Param::Text(value.clone()),
    }
}
