//! The tries of one case: what is done after a fault, and when a case is given up.
//!
//! A fault of the machine or of a file says nothing about the solver: the case has no row, and is tried once more. A
//! fault that the plugin may have caused counts, in this attempt and in later ones, and the third such start makes the
//! row `crashed`. So does a case that gpbench itself did not survive three times.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use gpbench_record::{Fault, FaultCause, Row};
use gpbench_runs::Attempts;

use crate::case::{CaseRunner, NoRow};
use crate::log::Log;
use crate::room::{solution_bytes, try_room};
use crate::{CaseWithoutRow, EngineError, Event, Planned, row};

/// Starts that a case may be blamed for before it gets its row.
const MOST_STARTS: usize = 3;
/// Faults of one cause in one attempt after which a case is left for the next attempt.
const MOST_FAULTS: u8 = 2;
/// The same for a machine that stands still, which has no cause that a next attempt would lack.
const MOST_STANDSTILLS: u8 = 10;

/// A case that has no row.
#[derive(Clone, Copy)]
pub(crate) struct Pending<'a> {
    pub(crate) planned: Planned<'a>,
    /// What was at fault in this attempt.
    pub(crate) faults: Faults,
}

impl<'a> Pending<'a> {
    pub(crate) fn id(&self) -> &'a str {
        &self.planned.entry.id
    }
}

/// How often each cause was at fault. Each has its own remedy: one that helped says nothing about the next.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Faults([u8; FaultCause::ALL.len()]);

impl Faults {
    /// Counts a fault; the number of those of its cause.
    fn add(&mut self, cause: FaultCause) -> u8 {
        self.0[place(cause)] += 1;
        self.of(cause)
    }

    /// The number of faults of a cause.
    fn of(&self, cause: FaultCause) -> u8 {
        self.0[place(cause)]
    }
}

fn place(cause: FaultCause) -> usize {
    FaultCause::ALL.iter().position(|other| *other == cause).expect("every cause is listed")
}

/// Makes the binary copy of a case's data set anew, because a worker could not read it. Called from several threads
/// at once.
///
/// # Errors
/// Why the copy that was planned cannot be made.
pub type RenewDataset<'a> = &'a (dyn Fn(Planned<'_>) -> Result<(), String> + Sync);

/// The outcome of the tries of a case.
pub(crate) enum Tried<'a> {
    /// It has ended.
    Row(Box<Row>),
    /// It is to be tried once more when no other case is running.
    Later(Pending<'a>),
    /// It has no row in this attempt.
    WithoutRow(CaseWithoutRow),
    /// The run is to end.
    Interrupted,
}

/// The next action after a fault.
enum Next {
    TryNow,
    TryLater,
    GiveUp,
}

/// Runs cases until they have a row or are given up.
pub(crate) struct Tries<'a> {
    pub(crate) cases: CaseRunner<'a>,
    attempts: Mutex<Attempts>,
    renew_dataset: RenewDataset<'a>,
    /// Whether a case of the run has a row, which shows that the system can run cases.
    cases_run: AtomicBool,
}

impl<'a> Tries<'a> {
    pub(crate) fn new(
        cases: CaseRunner<'a>,
        attempts: Attempts,
        renew_dataset: RenewDataset<'a>,
        has_rows: bool,
    ) -> Self {
        Self { cases, attempts: Mutex::new(attempts), renew_dataset, cases_run: AtomicBool::new(has_rows) }
    }

    /// How often a case was started and did not survive, or could be blamed for what happened.
    pub(crate) fn starts(&self, pending: &Pending<'_>) -> usize {
        let checkpoint = self.cases.checkpoint(&pending.planned);
        self.attempts().starts(pending.id(), checkpoint.as_deref())
    }

    /// Whether a case was started and has not ended, however far it came.
    pub(crate) fn is_open(&self, pending: &Pending<'_>) -> bool {
        self.attempts().starts(pending.id(), None) > 0
    }

    /// Stores that a case has its row, and removes its checkpoint.
    pub(crate) fn end(&self, id: &str) -> Result<(), EngineError> {
        self.cases.workspace.remove_checkpoint(id);
        Ok(self.attempts().end(id)?)
    }

    /// Stores that a case has no row for no fault of its own: the run cannot continue. If that cannot be stored either,
    /// the case runs later than others.
    pub(crate) fn release(&self, id: &str) {
        let _ = self.attempts().release(id);
    }

    /// Tries a case until it has a row or is given up. `is_alone`: no other case is running.
    pub(crate) fn run(
        &self,
        mut pending: Pending<'a>,
        is_alone: bool,
        report: &dyn Fn(Event),
    ) -> Result<Tried<'a>, EngineError> {
        let (id, planned) = (pending.id(), pending.planned);
        if let Some(reason) = &planned.skip {
            return Ok(Tried::Row(Box::new(row::skipped(&planned, reason, self.cases.clock.now()))));
        }
        if self.starts(&pending) >= MOST_STARTS {
            let reason = format!("ended gpbench or the machine, or did not end, {MOST_STARTS} times");
            return Ok(Tried::Row(self.blamed(&pending, reason)));
        }
        loop {
            let checkpoint = self.cases.checkpoint(&planned);
            self.attempts().start(id, checkpoint.as_deref())?;
            let standstills = pending.faults.of(FaultCause::Standstill);
            let fault = match self.cases.run(planned, standstills, report) {
                Ok(row) => {
                    self.cases_run.store(true, Ordering::SeqCst);
                    return Ok(Tried::Row(Box::new(row)));
                }
                Err(NoRow::Interrupted) => {
                    self.attempts().release(id)?;
                    return Ok(Tried::Interrupted);
                }
                // The reason may hold words of the plugin.
                Err(NoRow::Fault(fault)) => Fault { reason: row::sentence(&fault.reason), ..fault },
            };
            self.check_room(&pending, &fault).inspect_err(|_| self.release(id))?;
            if !self.may_blame(&fault, is_alone) {
                self.attempts().release(id)?;
            } else if self.starts(&pending) >= MOST_STARTS {
                let reason = format!("{}; started {MOST_STARTS} times", fault.reason);
                return Ok(Tried::Row(self.blamed(&pending, reason)));
            }
            let faults = pending.faults.add(fault.cause);
            let labels = &planned.labels;
            match self.after(&pending, &fault, faults, is_alone) {
                Ok(Next::TryNow) => {
                    report(Event::Warning(format!("{labels}: {}; it is tried again", fault.reason)));
                }
                Ok(Next::TryLater) => {
                    let text =
                        format!("{labels}: {}; it is tried again when all others have ended", fault.reason);
                    report(Event::Warning(text));
                    return Ok(Tried::Later(pending));
                }
                Ok(Next::GiveUp) => {
                    return Ok(Tried::WithoutRow(without_row(&pending, fault)));
                }
                Err(why) => {
                    let fault = Fault { reason: format!("{}; {why}", fault.reason), ..fault };
                    return Ok(Tried::WithoutRow(without_row(&pending, fault)));
                }
            }
        }
    }

    /// Removes the file that was at fault, if it can be made anew; the next action. `faults`: the number of faults of this cause.
    ///
    /// # Errors
    /// Why it cannot be made anew.
    fn after(
        &self,
        pending: &Pending<'_>,
        fault: &Fault,
        faults: u8,
        is_alone: bool,
    ) -> Result<Next, String> {
        // Such a case is blamed after a few more starts.
        let was_killed = fault.plugin_ran && fault.cause == FaultCause::Worker;
        let most = match fault.cause {
            FaultCause::Standstill => MOST_STANDSTILLS,
            _ if was_killed => MOST_STARTS as u8,
            _ => MOST_FAULTS,
        };
        if faults >= most {
            return Ok(Next::GiveUp);
        }
        match fault.cause {
            FaultCause::Dataset => (self.renew_dataset)(pending.planned)?,
            // The checkpoint of a machine that stood still has steps of that time.
            FaultCause::Checkpoint | FaultCause::Standstill => {
                self.cases.workspace.remove_checkpoint(pending.id());
            }
            FaultCause::Reference | FaultCause::Solution => {}
            FaultCause::Worker if was_killed => {}
            FaultCause::Plugin | FaultCause::Worker | FaultCause::Storage | FaultCause::Resources => {
                return Ok(if is_alone { Next::TryNow } else { Next::TryLater });
            }
        }
        Ok(Next::TryNow)
    }

    /// Whether a fault counts against its case. What the system refuses counts only if it is refused to a case that runs
    /// alone, where another case could run.
    fn may_blame(&self, fault: &Fault, is_alone: bool) -> bool {
        let is_own =
            fault.cause != FaultCause::Resources || (is_alone && self.cases_run.load(Ordering::SeqCst));
        fault.plugin_ran && is_own
    }

    /// The row of a case that was started as often as may be.
    fn blamed(&self, pending: &Pending<'_>, reason: String) -> Box<Row> {
        let log = Log::read(&self.cases.workspace.log(pending.id()));
        Box::new(row::blamed(&pending.planned, reason, &log, self.cases.clock.now()))
    }

    /// Ends the run if a file could not be written because the run folder's disk is full or a folder is gone: no case can
    /// run then.
    fn check_room(&self, pending: &Pending<'_>, fault: &Fault) -> Result<(), EngineError> {
        if fault.cause == FaultCause::Storage {
            let planned = pending.planned;
            try_room(self.cases.workspace.scratch(), solution_bytes(planned.n, &planned.case))?;
        }
        Ok(())
    }

    fn attempts(&self) -> MutexGuard<'_, Attempts> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn without_row(pending: &Pending<'_>, fault: Fault) -> CaseWithoutRow {
    CaseWithoutRow { labels: pending.planned.labels.clone(), cause: fault.cause, reason: fault.reason }
}
