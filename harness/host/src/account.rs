//! The account of one solve or fit: its limits, its use of kernel entries and time, and its clock.

use std::cell::{Cell, RefCell};

use gpbench_abi::Budget;
use gpbench_terms::{Clock, Entries, StopReason};

use crate::allowance::Allowance;
use crate::clock::{Stopwatch, difference};
use crate::services::Services;

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

/// Limits, kernel entries and time of one solve or fit.
pub(crate) struct Account {
    pub(crate) limits: SolveLimits,
    budget: Budget,
    entries: Cell<Entries>,
    stopwatch: RefCell<Stopwatch>,
    /// Counted and uncounted seconds of earlier sessions of the case, and the uncounted ones of this session.
    allowance: Cell<Allowance>,
    exhausted: Cell<Option<StopReason>>,
    refusals: Cell<u64>,
}

impl Account {
    /// An account of a system of `n` rows, with the stopwatch at zero and paused.
    pub(crate) fn new(n: usize, limits: SolveLimits, services: &'static dyn Services) -> Account {
        Account {
            limits,
            budget: Budget::new(n, limits.max_epochs.unwrap_or(f64::INFINITY)),
            entries: Cell::new(Entries::default()),
            stopwatch: RefCell::new(Stopwatch::new(services)),
            allowance: Cell::new(Allowance::default()),
            exhausted: Cell::new(None),
            refusals: Cell::new(0),
        }
    }

    /// Records the cost of work before it is done and returns true. Returns false and records nothing if the remaining
    /// epochs or time do not allow the work.
    ///
    /// `evaluated` says how many of the entries used are evaluated: a product with all of H evaluates each pair of
    /// entries once. The budget limits the entries used.
    pub(crate) fn claim(&self, used: f64, evaluated: f64) -> bool {
        let entries = self.entries.get();
        let granted = !self.is_out_of_time() && self.budget.fits(entries.used, used);
        if granted {
            self.entries.set(entries.plus(Entries { used, evaluated, ..Entries::default() }));
        }
        self.note_refusal_unless(granted)
    }

    /// Records that `found` of the entries claimed as evaluated were read from memory instead.
    pub(crate) fn find(&self, found: f64) {
        let entries = self.entries.get();
        self.entries.set(entries.plus(Entries { evaluated: -found, found, ..Entries::default() }));
    }

    /// Records entries that the plugin evaluated by itself, which may exceed the budget. Returns whether any budget is
    /// left.
    pub(crate) fn charge(&self, entries: f64) -> bool {
        let charged =
            Entries { used: entries, evaluated: entries, self_reported: entries, ..Entries::default() };
        self.entries.set(self.entries.get().plus(charged));
        self.note_refusal_unless(!self.is_exhausted())
    }

    fn note_refusal_unless(&self, granted: bool) -> bool {
        if !granted {
            self.note_exhausted();
            self.refusals.set(self.refusals.get() + 1);
        }
        granted
    }

    /// The limit that is reached: of time, or else of epochs.
    pub(crate) fn reached(&self) -> Option<StopReason> {
        if self.is_out_of_time() {
            return Some(StopReason::Time);
        }
        self.budget.is_spent(self.entries.get().used).then_some(StopReason::Epochs)
    }

    /// Whether all epochs are used or all time has passed.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.reached().is_some()
    }

    fn is_out_of_time(&self) -> bool {
        self.limits.seconds.is_some_and(|seconds| self.clock().wall >= seconds)
    }

    /// Records that the solver has been told that a limit is reached.
    pub(crate) fn note_exhausted(&self) {
        let reason = if self.is_out_of_time() { StopReason::Time } else { StopReason::Epochs };
        self.exhausted.set(self.exhausted.get().or(Some(reason)));
    }

    /// The limit that the solver was stopped by. A solver that stops before the host asks it to has compared
    /// its use with its limits by itself.
    pub(crate) fn stop_reason(&self) -> StopReason {
        self.exhausted.get().unwrap_or(match self.limits {
            limits if limits.max_epochs.is_some() => StopReason::Epochs,
            limits if limits.seconds.is_some() => StopReason::Time,
            _ => StopReason::Iterations,
        })
    }

    /// Number of times that work was refused.
    pub(crate) fn refusals(&self) -> u64 {
        self.refusals.get()
    }

    /// Counts all entries so far as setup.
    pub(crate) fn close_setup(&self) {
        let entries = self.entries.get();
        self.entries.set(Entries { setup: entries.used, ..entries });
    }

    /// Continues from the time, the entries and the uncounted seconds of an earlier process. What this session has
    /// spent so far is kept.
    pub(crate) fn continue_from(&self, clock: Clock, entries: Entries, uncounted: f64) {
        self.stopwatch.borrow_mut().add(clock);
        self.entries.set(entries);
        let allowance = self.allowance.get();
        self.allowance.set(Allowance { uncounted: allowance.uncounted + uncounted, ..allowance });
    }

    /// Kernel entries used so far.
    pub(crate) fn entries(&self) -> Entries {
        self.entries.get()
    }

    /// Epochs used so far.
    pub(crate) fn epochs(&self) -> f64 {
        self.budget.epochs(self.entries.get().used)
    }

    /// Time spent so far.
    pub(crate) fn clock(&self) -> Clock {
        self.stopwatch.borrow().read()
    }

    /// Starts or resumes the clock.
    pub(crate) fn resume(&self) {
        self.stopwatch.borrow_mut().resume();
    }

    /// Resumes the clock as if the latest pause had not happened.
    pub(crate) fn resume_without_pause(&self) {
        self.stopwatch.borrow_mut().resume_without_pause();
    }

    /// Records that the requested iterate has arrived. The time since the clock was paused stays uncounted within the
    /// [`Allowance`].
    pub(crate) fn end_wait(&self) {
        let waited = self.stopwatch.borrow().stopped_for();
        self.excuse(waited);
    }

    /// Runs a call of the plugin while the clock is paused. Its time stays uncounted within the [`Allowance`].
    pub(crate) fn aside<T>(&self, call: impl FnOnce() -> T) -> T {
        let began = self.stopwatch.borrow().now();
        let found = call();
        let ended = self.stopwatch.borrow().now();
        self.excuse(difference(ended, began));
        found
    }

    /// Records the time of a call of the plugin while the clock was paused: what exceeds the [`Allowance`] counts.
    pub(crate) fn excuse(&self, spent: Clock) {
        let mut allowance = self.allowance();
        let counted = allowance.take(spent);
        self.allowance.set(Allowance { uncounted: allowance.uncounted, ..self.allowance.get() });
        self.stopwatch.borrow_mut().add(counted);
    }

    /// Continues from the allowance of an earlier session of the case.
    pub(crate) fn continue_allowance(&self, earlier: Allowance) {
        self.allowance.set(earlier);
    }

    /// Counted and uncounted seconds of this session and the earlier ones.
    pub(crate) fn allowance(&self) -> Allowance {
        let earlier = self.allowance.get();
        Allowance { counted: earlier.counted + self.clock().wall, ..earlier }
    }

    /// Pauses the clock.
    pub(crate) fn pause(&self) {
        self.stopwatch.borrow_mut().pause();
    }

    /// Whether the clock runs.
    pub(crate) fn is_running(&self) -> bool {
        self.stopwatch.borrow().is_running()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::testing::{TIME, TestClock};

    fn account(n: usize, max_epochs: Option<f64>) -> Account {
        let limits = SolveLimits { tolerance: None, max_epochs, seconds: None, threads: 1, seed: 1 };
        Account::new(n, limits, &TestClock(4.0))
    }

    fn wait(account: &Account, seconds: f64) {
        account.pause();
        TIME.set(TIME.get() + seconds);
        account.end_wait();
        account.resume();
    }

    #[test]
    fn iterates_are_free_up_to_a_share_of_the_counted_time() {
        let about =
            |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}, {expected}");
        let account = account(10, None);
        account.resume();
        TIME.set(10.0);
        // The time of a copy is not counted.
        wait(&account, 0.001);
        about(account.clock().wall, 10.0);
        about(account.allowance().uncounted(), 0.001);
        // Two seconds of work: 0.05 s and a twentieth of ten seconds are free in all.
        wait(&account, 2.0);
        about(account.allowance().uncounted(), 0.55);
        about(account.clock().wall, 10.0 + 2.001 - 0.55);
        // On the test's clock four threads work; as many processor seconds are free as wall-clock seconds.
        about(account.clock().cpu, 4.0 * 12.001 - 0.55);
        // However many iterates are requested, the uncounted time stays below the limit.
        for _ in 0..1000 {
            wait(&account, 0.1);
        }
        let (counted, uncounted) = (account.clock().wall, account.allowance().uncounted());
        about(counted + uncounted, TIME.get());
        assert!(uncounted <= 0.05 + 0.05 * counted, "{uncounted} beside {counted}");
    }

    #[test]
    fn calls_while_the_clock_is_paused_are_timed() {
        let first = account(10, None);
        first.aside(|| TIME.set(TIME.get() + 2.05));
        assert!((first.clock().wall - 2.0).abs() < 1e-9 && !first.is_running(), "{:?}", first.clock());
        // A further session of the case has no allowance of its own.
        let second = account(10, None);
        second.continue_allowance(first.allowance());
        second.aside(|| TIME.set(TIME.get() + 1.0));
        assert!((second.clock().wall - 0.9).abs() < 1e-9, "{:?}", second.clock());
    }

    #[test]
    fn refused_work_is_not_booked() {
        let account = account(10, Some(1.5));
        assert!(account.claim(100.0, 100.0));
        assert!(!account.claim(100.0, 100.0));
        assert!(account.claim(50.0, 50.0));
        assert_eq!((account.entries().used, account.refusals()), (150.0, 1));
        assert_eq!(account.stop_reason(), StopReason::Epochs);
    }

    #[test]
    fn entries_that_were_found_are_not_evaluated() {
        let account = account(10, None);
        assert!(account.claim(100.0, 55.0));
        account.find(40.0);
        let expected = Entries { used: 100.0, evaluated: 15.0, found: 40.0, ..Entries::default() };
        assert_eq!(account.entries(), expected);
    }

    #[test]
    fn charges_are_counted_separately_and_may_exceed_the_budget() {
        let account = account(10, Some(1.0));
        assert!(account.claim(60.0, 30.0));
        account.close_setup();
        assert!(!account.charge(60.0));
        let expected = Entries { used: 120.0, evaluated: 90.0, setup: 60.0, self_reported: 60.0, found: 0.0 };
        assert_eq!(account.entries(), expected);
    }
}
