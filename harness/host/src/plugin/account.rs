//! The account of one solve: what it may use, what it has used, and the clock that it is timed by.

use std::cell::{Cell, RefCell};

use gpbench_record::{Clock, Entries, StopReason};

use crate::clock::Stopwatch;

use super::ledger::Ledger;

/// Limits of a solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolveLimits {
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

/// Limits, kernel entries and time of one solve.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) limits: SolveLimits,
    ledger: Ledger,
    stopwatch: RefCell<Stopwatch>,
    exhausted: Cell<Option<StopReason>>,
    refusals: Cell<u64>,
}

impl Account {
    /// An account of a system of `n` rows, with the stopwatch at zero and paused.
    pub(super) fn new(n: usize, limits: SolveLimits, now: fn() -> Clock) -> Account {
        Account {
            limits,
            ledger: Ledger::new(n, limits.max_epochs),
            stopwatch: RefCell::new(Stopwatch::new(now)),
            exhausted: Cell::new(None),
            refusals: Cell::new(0),
        }
    }

    /// Books work that is about to be done and answers true, or answers false and books nothing if epochs or time do
    /// not allow it.
    ///
    /// `evaluated` says how many of the entries used are evaluated: a product with all of H evaluates each pair of
    /// entries once.
    pub(super) fn claim(&self, used: f64, evaluated: f64) -> bool {
        self.note_refusal_unless(!self.is_out_of_time() && self.ledger.claim(used, evaluated))
    }

    /// Books entries that the plugin evaluated by itself. Answers whether anything is left.
    pub(super) fn charge(&self, entries: f64) -> bool {
        self.note_refusal_unless(self.ledger.charge(entries) && !self.is_out_of_time())
    }

    fn note_refusal_unless(&self, granted: bool) -> bool {
        if !granted {
            self.note_exhausted();
            self.refusals.set(self.refusals.get() + 1);
        }
        granted
    }

    /// Whether all epochs are used or all time has passed.
    pub(super) fn is_exhausted(&self) -> bool {
        self.ledger.is_spent() || self.is_out_of_time()
    }

    fn is_out_of_time(&self) -> bool {
        self.limits.seconds.is_some_and(|seconds| self.clock().wall >= seconds)
    }

    /// Notes that the solver has been told that a limit is reached.
    pub(super) fn note_exhausted(&self) {
        let reason = if self.is_out_of_time() { StopReason::Time } else { StopReason::Epochs };
        self.exhausted.set(self.exhausted.get().or(Some(reason)));
    }

    /// The limit that the solver was stopped by. A solver that stops before it is told to has compared its limits
    /// with its use by itself.
    pub(super) fn stop_reason(&self) -> StopReason {
        self.exhausted.get().unwrap_or(match self.limits {
            limits if limits.max_epochs.is_some() => StopReason::Epochs,
            limits if limits.seconds.is_some() => StopReason::Time,
            _ => StopReason::Iterations,
        })
    }

    /// How often work was refused.
    pub(super) fn refusals(&self) -> u64 {
        self.refusals.get()
    }

    /// Books everything so far as setup.
    pub(super) fn close_setup(&self) {
        self.ledger.close_setup();
    }

    /// Kernel entries used so far.
    pub(super) fn entries(&self) -> Entries {
        self.ledger.entries()
    }

    /// Epochs used so far.
    pub(super) fn epochs(&self) -> f64 {
        self.ledger.epochs()
    }

    /// Time spent so far.
    pub(super) fn clock(&self) -> Clock {
        self.stopwatch.borrow().read()
    }

    /// Lets the clock run.
    pub(super) fn resume(&self) {
        self.stopwatch.borrow_mut().resume();
    }

    /// Lets the clock run as if it had not been paused the last time.
    pub(super) fn resume_without_pause(&self) {
        self.stopwatch.borrow_mut().resume_without_pause();
    }

    /// Stops the clock.
    pub(super) fn pause(&self) {
        self.stopwatch.borrow_mut().pause();
    }

    /// Whether the clock runs.
    pub(super) fn is_running(&self) -> bool {
        self.stopwatch.borrow().is_running()
    }
}
