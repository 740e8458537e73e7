//! One solve as the harness lives through it: the account, the clock, the
//! observer, and what every callback does before and after its work.

use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::ThreadId;

use gpbench_abi::{Operator, Problem, Status, Targets};
use gpbench_gp::blas::ThreadGuard;
use gpbench_gp::{KernelMatrix, RandomFeatures};
use gpbench_record::{Clock, Entries, StopReason};
use ndarray::{Array2, ArrayView2, ShapeBuilder};

use crate::budget::Ledger;
use crate::clock::Stopwatch;
use crate::system::System;

use super::extensions::{self, OperatorTables};
use super::operator::MIXED;
use super::seal::Seal;
use super::state::Kept;

/// What a solver is asked to keep to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms {
    /// Relative residual norm to reach.
    pub tolerance: Option<f64>,
    /// Epochs that prepare and solve may use together.
    pub max_epochs: Option<f64>,
    /// Seconds that prepare and solve may take together.
    pub seconds: Option<f64>,
    /// Threads that the solver may use.
    pub threads: usize,
    /// Seed of the solver's own random numbers.
    pub seed: u64,
}

/// A moment of a solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment<'a> {
    /// The solver's count.
    pub iteration: u64,
    /// Seconds on the clock of prepare and solve.
    pub seconds: f64,
    /// Epochs used so far.
    pub epochs: f64,
    /// The solver's own relative residual norms, one a column, or none.
    pub claimed: &'a [f64],
}

/// Someone who watches a solve. The clock does not run while it does.
pub trait Observer {
    /// Whether to ask for the iterate at this moment.
    fn wants_iterate(&mut self, moment: Moment<'_>) -> bool;

    /// Takes note of a moment, with the weights of the iterate if that was asked for.
    fn record(&mut self, moment: Moment<'_>, iterate: Option<ArrayView2<f64>>);

    /// Whether to answer `STOPPED` at the moment just recorded. The operator is not told: it serves
    /// as long as the budget lasts.
    fn wants_stop(&mut self) -> bool {
        false
    }

    /// Takes note of a finite number of the solver's own.
    fn note(&mut self, _moment: Moment<'_>, _name: &str, _value: f64) {}
}

/// An observer that looks away.
impl Observer for () {
    fn wants_iterate(&mut self, _: Moment<'_>) -> bool {
        false
    }

    fn record(&mut self, _: Moment<'_>, _: Option<ArrayView2<f64>>) {}
}

/// Why a call of the plugin was not served.
pub(super) enum Refusal {
    /// The budget is spent.
    Stopped,
    /// The call makes no sense.
    Invalid(String),
    /// The problem does not have what is asked for.
    Unsupported(String),
}

impl From<String> for Refusal {
    fn from(what: String) -> Self {
        Refusal::Invalid(what)
    }
}

/// Everything that the callbacks of one solve share.
pub struct Session<'a> {
    pub(super) system: &'a System,
    pub(super) terms: Terms,
    pub(super) ledger: Ledger,
    pub(super) tables: OperatorTables,
    seal: Seal,
    /// The parts of pathwise targets, once asked for.
    pub(super) targets: OnceCell<Option<Targets>>,
    /// Inputs in the column-major order that plugins see.
    pub(super) x_by_columns: OnceCell<Array2<f64>>,
    /// Inducing points in the same order.
    pub(super) z_by_columns: OnceCell<Array2<f64>>,
    /// The random features last asked for, with their seed and count.
    pub(super) features: RefCell<Option<(u64, usize, RandomFeatures)>>,
    /// Whether the call being served is one of the operator in mixed precision.
    mixed: Cell<bool>,
    /// First entry of the iterate, m x s, while a solver runs, and the distance between its columns.
    pub(super) iterate: Cell<(*mut f64, usize)>,
    /// What the solver keeps from one outer step to the next; none where there are no such steps.
    pub(super) kept: Option<RefCell<Kept>>,
    /// Whether BLAS has more than one thread while the plugin runs.
    pub(super) blas_raised: Cell<bool>,
    /// Whether `observe` may ask for the iterate: in solve, not in prepare.
    pub(super) solving: Cell<bool>,
    stopwatch: RefCell<Stopwatch>,
    observer: RefCell<&'a mut dyn Observer>,
    awaiting: Cell<Option<i64>>,
    refused: Cell<Option<StopReason>>,
    refusals: Cell<u64>,
    complaint: RefCell<Option<String>>,
    thread: ThreadId,
}

impl<'a> Session<'a> {
    /// A session on the calling thread, with the stopwatch at zero and paused.
    pub fn new(system: &'a System, terms: Terms, now: fn() -> Clock, observer: &'a mut dyn Observer) -> Self {
        Session {
            system,
            terms,
            ledger: Ledger::new(system.n(), terms.max_epochs),
            tables: extensions::tables(),
            seal: Seal::of(system),
            targets: OnceCell::new(),
            x_by_columns: OnceCell::new(),
            z_by_columns: OnceCell::new(),
            features: RefCell::new(None),
            mixed: Cell::new(false),
            iterate: Cell::new((std::ptr::null_mut(), 0)),
            kept: None,
            blas_raised: Cell::new(false),
            solving: Cell::new(false),
            stopwatch: RefCell::new(Stopwatch::new(now)),
            observer: RefCell::new(observer),
            awaiting: Cell::new(None),
            refused: Cell::new(None),
            refusals: Cell::new(0),
            complaint: RefCell::new(None),
            thread: std::thread::current().id(),
        }
    }

    /// Lets the solver keep things for the next outer step, beginning with what it has kept so far.
    #[must_use]
    pub fn keeping(mut self, kept: Kept) -> Self {
        self.kept = Some(RefCell::new(kept));
        self
    }

    /// What the solver has kept.
    pub fn into_kept(self) -> Kept {
        self.kept.map(RefCell::into_inner).unwrap_or_default()
    }

    /// The matrix in the precision that the call being served asks for.
    pub(super) fn matrix(&self) -> &dyn KernelMatrix {
        let matrix = self.system.matrix();
        if self.mixed.get() { matrix.mixed().unwrap_or(matrix) } else { matrix }
    }

    /// The terms as the solver's own problem has them. Where duplicates are collapsed it is smaller, and
    /// so are its epochs and the norms that its residuals are relative to.
    pub(super) fn own_terms(&self) -> Terms {
        let rows = self.system.matrix().shape().0;
        let epochs = (self.system.n() as f64 / rows as f64).powi(2);
        let looser = |tolerance: f64| match &self.system.collapse {
            None => tolerance,
            Some(collapse) => collapse.tolerance(tolerance),
        };
        Terms {
            tolerance: self.terms.tolerance.map(looser),
            max_epochs: self.terms.max_epochs.map(|max| max * epochs),
            ..self.terms
        }
    }

    /// Time spent so far.
    pub fn clock(&self) -> Clock {
        self.stopwatch.borrow().read()
    }

    /// Kernel entries used so far.
    pub fn entries(&self) -> Entries {
        self.ledger.entries()
    }

    /// Which budget the solver was first refused for.
    pub fn refused(&self) -> Option<StopReason> {
        self.refused.get()
    }

    /// Whether the inputs are as they were, here and where plugins see them.
    pub fn has_inputs(&self, x: ArrayView2<f64>) -> bool {
        self.system.inputs() == x && self.x_by_columns.get().is_none_or(|seen| seen == x)
    }

    /// What the plugin may only read and has changed since the session began, if anything.
    pub fn tampered_with(&self) -> Option<&'static str> {
        self.seal.broken(self.system).or_else(|| {
            let same = self.has_inputs(self.system.inputs().view());
            (!same).then_some("inputs")
        })
    }

    /// How often the operator has refused work for want of budget.
    pub fn refusals(&self) -> u64 {
        self.refusals.get()
    }

    /// What was wrong with the latest call that made no sense.
    pub(super) fn take_complaint(&self) -> Option<String> {
        self.complaint.take()
    }

    /// Lets the clock run. An iterate that was asked for and has not come is given up, and the
    /// pause that was granted for it counts.
    pub(super) fn resume_clock(&self) {
        let mut stopwatch = self.stopwatch.borrow_mut();
        match self.awaiting.take() {
            Some(_) => stopwatch.resume_without_pause(),
            None => stopwatch.resume(),
        }
    }

    pub(super) fn pause_clock(&self) {
        self.stopwatch.borrow_mut().pause();
    }

    /// Books work, or refuses it for want of epochs or time.
    ///
    /// `evaluated` says how much of it the operator evaluates: a product with all of H does each
    /// pair of entries once.
    pub(super) fn spend(&self, used: f64, evaluated: f64) -> Result<(), Refusal> {
        if self.is_out_of_time() || !self.ledger.claim(used, evaluated) {
            self.note_refusal();
            self.refusals.set(self.refusals.get() + 1);
            return Err(Refusal::Stopped);
        }
        Ok(())
    }

    /// Books entries that the plugin evaluated by itself.
    pub(super) fn charge(&self, entries: f64) -> Result<(), Refusal> {
        if !self.ledger.charge(entries) || self.is_out_of_time() {
            self.note_refusal();
            self.refusals.set(self.refusals.get() + 1);
            return Err(Refusal::Stopped);
        }
        Ok(())
    }

    fn is_out_of_time(&self) -> bool {
        self.terms.seconds.is_some_and(|seconds| self.clock().wall >= seconds)
    }

    fn note_refusal(&self) {
        let reason = if self.is_out_of_time() { StopReason::Time } else { StopReason::Epochs };
        if self.refused.get().is_none() {
            self.refused.set(Some(reason));
        }
    }

    /// The answer to `observe`.
    pub(super) fn observe(&self, iteration: i64, claimed: &[f64]) -> Status {
        let answers_request = self.awaiting.get() == Some(iteration);
        if answers_request {
            self.awaiting.set(None);
        } else {
            self.resume_clock();
        }
        self.pause_clock();
        let claimed = self.system.norms(claimed);
        let moment = self.moment(iteration, &claimed);
        let stop = self.ledger.is_spent() || self.is_out_of_time();
        let mut observer = self.observer.borrow_mut();
        if answers_request {
            let (first, distance) = self.iterate.get();
            let shape = (self.system.m(), self.system.columns()).strides((1, distance));
            // SAFETY: the iterate has this shape while a solver runs, which it does; the solver is
            // inside `observe` and thus not writing.
            let iterate = unsafe { ArrayView2::from_shape_ptr(shape, first) };
            observer.record(moment, Some(self.system.weights(iterate.into()).view()));
        } else if !stop && self.solving.get() && observer.wants_iterate(moment) {
            self.awaiting.set(Some(iteration));
            return Status::ITERATE;
        } else {
            observer.record(moment, None);
        }
        let cancelled = observer.wants_stop();
        self.resume_clock();
        if stop {
            self.note_refusal();
        }
        if stop || cancelled { Status::STOPPED } else { Status::DONE }
    }

    /// Passes on a number of the solver's own. An iterate that was asked for may still come.
    pub(super) fn note(&self, iteration: i64, name: &str, value: f64) {
        if !value.is_finite() {
            return;
        }
        let running = self.stopwatch.borrow().is_running();
        self.pause_clock();
        self.observer.borrow_mut().note(self.moment(iteration, &[]), name, value);
        if running {
            self.resume_clock();
        }
    }

    fn moment<'m>(&self, iteration: i64, claimed: &'m [f64]) -> Moment<'m> {
        Moment {
            iteration: iteration.max(0).unsigned_abs(),
            seconds: self.clock().wall,
            epochs: self.ledger.epochs(),
            claimed,
        }
    }

    /// Runs the body of a callback: behind the panic wall, on the right thread,
    /// with one BLAS thread.
    fn enter(&self, call: &str, body: impl FnOnce(&Session) -> Result<(), Refusal>) -> Status {
        let on_thread = || -> Result<(), Refusal> {
            if std::thread::current().id() != self.thread {
                return Err(Refusal::Invalid("was called from another thread than the solver was".into()));
            }
            let _one_blas_thread = self.blas_raised.get().then(|| ThreadGuard::raise(1));
            body(self)
        };
        let (status, complaint) = match catch_unwind(AssertUnwindSafe(on_thread)) {
            Ok(Ok(())) => return Status::DONE,
            Ok(Err(Refusal::Stopped)) => return Status::STOPPED,
            Ok(Err(Refusal::Invalid(what))) => (Status::INVALID_ARGUMENT, what),
            Ok(Err(Refusal::Unsupported(what))) => (Status::UNSUPPORTED, what),
            Err(_) => (Status::PANIC, "panicked inside the harness".to_owned()),
        };
        let complaint = format!("{call}: {complaint}");
        eprintln!("[host] {complaint}");
        if std::thread::current().id() == self.thread {
            self.complaint.replace(Some(complaint));
        }
        status
    }
}

/// Serves a call of the operator. An iterate that was asked for and not handed
/// over before is given up, so that no work passes while the clock is paused.
///
/// # Safety
/// `op` is null or the operator that the session's solver was given.
pub(super) unsafe fn enter_operator(
    op: *const Operator,
    call: &str,
    body: impl FnOnce(&Session) -> Result<(), Refusal>,
) -> Status {
    // SAFETY: by this function's contract; the context of that operator is its session.
    match unsafe { op.as_ref().and_then(|op| Some((session(op.ctx)?, op.flags))) } {
        None => Status::INVALID_ARGUMENT,
        Some((session, flags)) => session.enter(call, |session| {
            session.resume_clock();
            session.mixed.set(flags == MIXED);
            body(session)
        }),
    }
}

/// Serves a call of the problem.
///
/// # Safety
/// `problem` is null or the problem that the session's solver was given.
pub(super) unsafe fn enter_problem(
    problem: *const Problem,
    call: &str,
    body: impl FnOnce(&Session) -> Result<(), Refusal>,
) -> Status {
    // SAFETY: by this function's contract; the context of that problem is its session.
    match unsafe { problem.as_ref().and_then(|problem| session(problem.ctx)) } {
        None => Status::INVALID_ARGUMENT,
        Some(session) => session.enter(call, body),
    }
}

/// # Safety
/// `ctx` is null or leads to a live session.
unsafe fn session<'s>(ctx: *mut c_void) -> Option<&'s Session<'s>> {
    // SAFETY: by this function's contract.
    unsafe { ctx.cast_const().cast::<Session<'s>>().as_ref() }
}
