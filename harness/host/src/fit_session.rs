//! State shared by the callbacks of one fit: minibatches, work and time, and when the learner must pause.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::rc::Rc;

use gpbench_abi::{Fit, Status};
use gpbench_terms::{Clock, StopReason};

use crate::clock::difference;
use crate::cost::FitCost;

use crate::account::{Account, SolveLimits};
use crate::batches::{BatchPositions, Batches};
use crate::callback::{Callbacks, Refusal};
use crate::fit_data::{FitData, FitProblem};
use crate::host_table::HostTable;

/// The id of an extension of the fit, and its table.
pub(crate) type FitExtension = (&'static str, fn() -> *const c_void);

/// Limits of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitLimits {
    /// Passes over the training rows of stream 0.
    pub passes: f64,
    /// Epochs of kernel entries that the learner may report, where they are limited.
    pub max_epochs: Option<f64>,
    /// Seconds that begin and fit may take together.
    pub seconds: Option<f64>,
    /// Threads that the learner may use.
    pub threads: usize,
    /// Seed of the learner's own random numbers.
    pub seed: u64,
}

/// When `observe` tells the learner to pause, although no limit is reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pause {
    /// Never.
    Never,
    /// After every step.
    EachStep,
    /// Once this many passes are complete.
    AtPasses(f64),
}

/// Progress of a fit as the host records it, from which a fit in another process can continue.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FitProgress {
    /// Steps, time and work so far.
    pub cost: FitCost,
    /// Position in each stream of minibatches.
    pub(crate) positions: BatchPositions,
    /// Seconds in calls of the learner that were left uncounted.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) uncounted: f64,
}

impl FitProgress {
    /// Seconds in calls of the learner beside begin and fit that were left uncounted.
    pub fn uncounted(&self) -> f64 {
        self.uncounted
    }
}

/// Progress of a fit at one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitPoint {
    /// Steps since begin.
    pub step: u64,
    /// Seconds on the clock of begin and fit.
    pub seconds: f64,
    /// Kernel entries used so far over n^2.
    pub epochs: f64,
    /// Passes over the training rows.
    pub passes: f64,
}

/// Observes a fit. The clock is paused during its calls, unless they say otherwise.
pub trait FitObserver {
    /// Records a step, with the objective that the learner reports.
    fn step(&self, at: FitPoint, objective: f64);

    /// Records a finite number that the learner reports.
    fn note(&self, _at: FitPoint, _name: &str, _value: f64) {}

    /// Records the rows of a batch. The clock runs during this call.
    fn batch(&self, _stream: u32, _rows: &[i64]) {}
}

/// An observer that records nothing.
impl FitObserver for () {
    fn step(&self, _: FitPoint, _: f64) {}
}

/// Which function of the learner runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Begin,
    Load,
    Fit,
}

/// Work that was drawn or reported.
#[derive(Debug, Clone, Copy, Default)]
struct Work {
    /// Batches that count passes, and their rows.
    batches: u64,
    passed: u64,
    rows: f64,
    features: f64,
}

/// State shared by the callbacks of one fit.
pub struct FitSession<'a> {
    pub(crate) account: Account,
    pub(crate) callbacks: Callbacks,
    pub(crate) data: Box<FitData>,
    passes: f64,
    batches: RefCell<Batches>,
    work: Cell<Work>,
    steps: Cell<u64>,
    begin: Cell<Clock>,
    call: Cell<Option<Call>>,
    pause: Cell<Pause>,
    /// Steps that the learner has taken in this call after it was told to stop; none if it was not.
    late: Cell<Option<u64>>,
    late_draws: Cell<u64>,
    observer: Rc<dyn FitObserver + 'a>,
}

impl<'a> FitSession<'a> {
    /// A session on the calling thread, with the clock at zero and paused. `batch_key` keys the minibatches.
    pub fn new(
        problem: FitProblem<'_>,
        limits: FitLimits,
        batch_key: u64,
        host: &'static HostTable,
        observer: Rc<dyn FitObserver + 'a>,
    ) -> FitSession<'a> {
        let data = Box::new(FitData::new(problem));
        let FitLimits { passes, max_epochs, seconds, threads, seed } = limits;
        let limits = SolveLimits { tolerance: None, max_epochs, seconds, threads, seed };
        FitSession {
            account: Account::new(data.n(), limits, host.services()),
            callbacks: Callbacks::new(host.services()),
            passes,
            batches: RefCell::new(Batches::new(data.n(), batch_key)),
            data,
            work: Cell::new(Work::default()),
            steps: Cell::new(0),
            begin: Cell::new(Clock::default()),
            call: Cell::new(None),
            pause: Cell::new(Pause::Never),
            late: Cell::new(None),
            late_draws: Cell::new(0),
            observer,
        }
    }

    /// Continues from the progress of another session on the same problem. The learner must load its state. `None` if
    /// the progress belongs to another problem.
    #[must_use]
    pub fn resuming(self, progress: &FitProgress) -> Option<FitSession<'a>> {
        let FitProgress { cost, positions, uncounted } = progress;
        let batches = self.batches.borrow().at(positions)?;
        self.batches.replace(batches);
        self.account.continue_from(cost.begin.plus(cost.fit), cost.entries, *uncounted);
        self.work.set(Work { batches: 0, passed: cost.passed, rows: cost.rows, features: cost.features });
        self.steps.set(cost.steps);
        self.begin.set(cost.begin);
        Some(self)
    }

    /// The progress of the fit.
    pub fn progress(&self) -> FitProgress {
        let (Work { passed, rows, features, .. }, begin) = (self.work.get(), self.begin.get());
        let cost = FitCost {
            steps: self.steps.get(),
            begin,
            fit: difference(self.account.clock(), begin),
            entries: self.account.entries(),
            passed,
            rows,
            features,
        };
        let uncounted = self.account.allowance().uncounted();
        FitProgress { cost, positions: self.batches.borrow().positions(), uncounted }
    }

    /// Runs a call of the learner beside begin and fit, such as one of `model` or `save`. Its time stays uncounted within
    /// the [`Allowance`](crate::Allowance).
    pub fn aside<T>(&self, call: impl FnOnce() -> T) -> T {
        self.account.aside(call)
    }

    /// Records the time of a call of the learner's library before the session began: what exceeds the
    /// [`Allowance`](crate::Allowance) counts.
    pub fn excuse(&self, spent: Clock) {
        self.account.excuse(spent);
    }

    /// Number of batches that this session has drawn from the stream that counts passes.
    pub fn batches(&self) -> u64 {
        self.work.get().batches
    }

    /// Number of requests for rows after the learner was told to stop.
    pub fn late_draws(&self) -> u64 {
        self.late_draws.get()
    }

    /// Number of training rows.
    pub fn n(&self) -> usize {
        self.data.n()
    }

    /// Number of inputs.
    pub fn d(&self) -> usize {
        self.data.d()
    }

    /// When `observe` tells the learner to pause from now on.
    pub fn pause(&self, pause: Pause) {
        self.pause.set(pause);
    }

    /// The limit that is reached, if one is.
    pub fn exhausted(&self) -> Option<StopReason> {
        self.account.reached().or_else(|| self.has_passed(self.passes).then_some(StopReason::Epochs))
    }

    /// Steps that the learner has taken in this call after it was told to stop; none if it was not told.
    pub(crate) fn late_steps(&self) -> Option<u64> {
        self.late.get()
    }

    /// Passes that are granted.
    pub(crate) fn passes_granted(&self) -> f64 {
        self.passes
    }

    /// Records that a function of the learner begins. The clock runs in begin and fit.
    pub(crate) fn enter(&self, call: Call) {
        self.call.set(Some(call));
        self.late.set(None);
        if call != Call::Load {
            self.account.resume();
        }
    }

    /// Records that the function has returned.
    pub(crate) fn leave(&self) {
        self.account.pause();
        if self.call.take() == Some(Call::Begin) {
            self.account.close_setup();
            self.begin.set(self.account.clock());
        }
    }

    /// Whether this many passes are complete.
    fn has_passed(&self, passes: f64) -> bool {
        gpbench_abi::Batches::are_spent(self.work.get().passed, self.n(), passes)
    }

    fn passed(&self) -> f64 {
        self.work.get().passed as f64 / self.n() as f64
    }

    fn point(&self, step: u64) -> FitPoint {
        FitPoint {
            step,
            seconds: self.account.clock().wall,
            epochs: self.account.epochs(),
            passes: self.passed(),
        }
    }

    /// Records that the learner is told to stop.
    fn tell_to_stop(&self) -> Refusal {
        self.late.set(self.late.get().or(Some(0)));
        Refusal::Stopped
    }

    /// Draws rows of a stream, at most as many as `out` has room for; returns their number.
    pub(crate) fn draw(&self, stream: u32, out: &mut [i64]) -> Result<usize, Refusal> {
        if self.call.get() == Some(Call::Load) {
            return Err(Refusal::Unsupported("rows cannot be drawn while a state is loaded".into()));
        }
        let counts = gpbench_abi::Batches::counts_passes(stream);
        // No rows are drawn after the learner was told to stop, so that continuing has no effect.
        if self.late.get().is_some() {
            self.late_draws.set(self.late_draws.get() + 1);
            return Err(Refusal::Stopped);
        }
        if counts && self.exhausted().is_some() {
            return Err(self.tell_to_stop());
        }
        let mut batches = self.batches.borrow_mut();
        let drawn = batches.draw(stream, out.len())?;
        out[..drawn.len()].copy_from_slice(drawn);
        let mut work = self.work.get();
        work.rows += drawn.len() as f64;
        if counts {
            work.batches += 1;
            work.passed += drawn.len() as u64;
        }
        self.work.set(work);
        self.observer.batch(stream, drawn);
        Ok(drawn.len())
    }

    /// Records work that the learner reports; refuses it once the time limit is reached.
    pub(crate) fn charge(&self, rows: i64, entries: i64, features: i64) -> Result<(), Refusal> {
        for (name, number) in [("rows", rows), ("entries", entries), ("features", features)] {
            if number < 0 {
                return Err(format!("`{name}` is {number}").into());
            }
        }
        let work = self.work.get();
        self.work.set(Work {
            rows: work.rows + rows as f64,
            features: work.features + features as f64,
            ..work
        });
        if self.account.charge(entries as f64) { Ok(()) } else { Err(self.tell_to_stop()) }
    }

    /// Records a step; an error tells the learner to stop.
    pub(crate) fn observe(&self, step: i64, objective: f64) -> Result<(), Refusal> {
        if self.call.get() != Some(Call::Fit) {
            return Err(Refusal::Unsupported("steps are observed in `fit` only".into()));
        }
        if !objective.is_finite() {
            return Err(format!("`objective` is {objective}; such a fit has diverged").into());
        }
        let next = self.steps.get() + 1;
        if step != next as i64 {
            return Err(format!("`step` is {step}, where step {next} is the next since `begin`").into());
        }
        self.steps.set(next);
        self.late.set(self.late.get().map(|steps| steps + 1));
        self.account.pause();
        self.observer.step(self.point(next), objective);
        let stop = self.late.get().is_some()
            || self.exhausted().is_some()
            || match self.pause.get() {
                Pause::Never => false,
                Pause::EachStep => true,
                Pause::AtPasses(passes) => self.has_passed(passes),
            };
        self.account.resume();
        if stop { Err(self.tell_to_stop()) } else { Ok(()) }
    }

    /// Forwards a number that the learner reports to the observer.
    pub(crate) fn note(&self, step: i64, name: &str, value: f64) {
        if !value.is_finite() {
            return;
        }
        let running = self.account.is_running();
        self.account.pause();
        self.observer.note(self.point(step.max(0).unsigned_abs()), name, value);
        if running {
            self.account.resume();
        }
    }
}

/// Serves a call of the fit.
///
/// # Safety
/// `fit` is null or the fit that the session's learner was given.
pub(crate) unsafe fn serve_fit(
    fit: *const Fit,
    call: &str,
    body: impl FnOnce(&FitSession) -> Result<(), Refusal>,
) -> Status {
    // SAFETY: by this function's contract; the context of that fit is its session.
    match unsafe { fit.as_ref().and_then(|fit| fit.ctx.cast_const().cast::<FitSession>().as_ref()) } {
        None => Status::INVALID_ARGUMENT,
        Some(session) => session.callbacks.serve(call, || body(session)),
    }
}

#[cfg(test)]
mod tests {
    use gpbench_terms::{Covariance, Family};
    use ndarray::{Array1, Array2};

    use super::*;

    #[test]
    fn a_limit_of_epochs_ends_a_fit_that_reports_as_many_entries() {
        let (x, y) = (Array2::zeros((10, 1)), Array1::zeros(10));
        let problem = FitProblem {
            x: x.view(),
            y: y.view(),
            basis: None,
            covariance: Covariance::Stationary(Family::Rbf),
            signal_scale: 1.0,
            noise_scale: 1.0,
            length_scale: &[1.0],
            shared_length_scale: false,
            mean: 0.0,
            trained_mean: false,
            network: None,
        };
        let limits = FitLimits { passes: 100.0, max_epochs: Some(1.5), seconds: None, threads: 1, seed: 1 };
        let session = FitSession::new(problem, limits, 1, HostTable::new(Box::new(())), Rc::new(()));
        session.enter(Call::Fit);
        assert!(session.charge(5, 100, 0).is_ok());
        assert!(session.observe(1, 0.0).is_ok());
        assert_eq!(session.exhausted(), None);
        assert!(matches!(session.charge(5, 50, 0), Err(Refusal::Stopped)));
        assert_eq!((session.exhausted(), session.late_steps()), (Some(StopReason::Epochs), Some(0)));
        assert!(matches!(session.draw(0, &mut [0; 3]), Err(Refusal::Stopped)));
    }
}
