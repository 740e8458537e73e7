//! One attempt to run the cases that have no row: which case runs next, on which thread, and when to stop.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use gpbench_record::Row;
use gpbench_runs::Journal;

use crate::case::CaseRunner;
use crate::interrupt::TIME_OVER;
use crate::memory::Reservation;
use crate::room::try_room;
use crate::{EngineError, Event, PlannedCase, Progress, Stop, Summary};

/// Bytes of the smallest and the largest file that is written to find out whether a disk is full.
const TRIAL_BYTES: [u64; 2] = [4 << 10, 256 << 20];

/// One attempt to run the cases that have no row.
pub(crate) struct RunAttempt<'a> {
    cases: CaseRunner<'a>,
    ids: &'a [String],
    pending: Vec<(&'a String, &'a PlannedCase)>,
    /// The number of the case that comes next.
    next: Mutex<usize>,
    /// Set when the run cannot continue.
    stop: AtomicBool,
    /// Cases that have failed in this attempt.
    failures: AtomicUsize,
    journal: Mutex<Journal>,
}

impl<'a> RunAttempt<'a> {
    pub(crate) fn new(
        cases: CaseRunner<'a>,
        ids: &'a [String],
        pending: Vec<(&'a String, &'a PlannedCase)>,
        journal: Journal,
    ) -> Self {
        let (stop, failures) = (AtomicBool::new(false), AtomicUsize::new(0));
        Self { cases, ids, pending, next: Mutex::default(), stop, failures, journal: Mutex::new(journal) }
    }

    /// Runs all pending cases on `jobs` threads; the number of rows written.
    ///
    /// Each thread starts its workers itself and outlives them, because a worker is killed when the thread that
    /// started it ends.
    pub(crate) fn run(&self, jobs: usize, events: &mut dyn FnMut(Event)) -> Result<usize, EngineError> {
        thread::scope(|scope| {
            // Dropped when this closure ends, however it ends.
            let (_done, over) = channel::<()>();
            if let Some(seconds) = self.cases.options.time_limit_seconds {
                scope.spawn(move || self.interrupt_after(seconds, &over));
            }
            let (to, from) = channel();
            let threads: Vec<_> = (0..jobs.min(self.pending.len()))
                .map(|_| {
                    let to = to.clone();
                    scope.spawn(move || self.work(&to))
                })
                .collect();
            drop(to);
            from.iter().for_each(events);
            threads.into_iter().try_fold(0, |ran, thread| {
                let more = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
                Ok(ran + more)
            })
        })
    }

    /// Interrupts the attempt when its time is over, unless it has ended before.
    fn interrupt_after(&self, seconds: f64, over: &Receiver<()>) {
        let patience = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        if over.recv_timeout(patience) == Err(RecvTimeoutError::Timeout)
            && self.cases.interrupt.signal().is_none()
        {
            self.cases.interrupt.raise(TIME_OVER);
        }
    }

    /// Runs one pending case after the other; the number of rows written.
    fn work(&self, to: &Sender<Event>) -> Result<usize, EngineError> {
        // Sending fails only if the receiver panicked, and that panic ends the run.
        let report = |event| drop(to.send(event));
        let mut ran = 0;
        while let Some((id, planned, _memory)) = self.take() {
            report(Event::CaseStarted { id: id.clone(), labels: planned.case.labels() });
            let Some(row) = self.cases.run(id, planned, &report) else { break };
            let written = self.admit(&row).and_then(|()| self.write(&row));
            let progress = written.inspect_err(|_| self.stop.store(true, Ordering::SeqCst))?;
            self.cases.remove_checkpoint(id);
            ran += 1;
            report(Event::CaseFinished { row: Box::new(row), progress });
        }
        Ok(ran)
    }

    /// The next case, once there is memory for it.
    fn take(&self) -> Option<(&String, &PlannedCase, Reservation<'_>)> {
        // Held while the case waits, so that none overtakes it.
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if self.ends() {
            return None;
        }
        let (id, planned) = self.pending.get(*next).copied()?;
        *next += 1;
        let memory = self.cases.reserve(planned);
        // Much may have happened while it waited.
        (!self.ends()).then_some((id, planned, memory))
    }

    fn ends(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
            || self.cases.interrupt.signal().is_some()
            || self.has_failed_enough()
    }

    fn has_failed_enough(&self) -> bool {
        let most = self.cases.options.max_failures;
        most.is_some_and(|most| self.failures.load(Ordering::SeqCst) >= most)
    }

    /// Counts a failure. Refuses a row if the disk is full: the case may have failed because it could not write its
    /// solution, or may lack the metrics of an exact reference that could not be written.
    fn admit(&self, row: &Row) -> Result<(), EngineError> {
        if let Some(EngineError::NoRoom { folder, source }) = self.cases.references.no_room() {
            let source = io::Error::new(source.kind(), source.to_string());
            return Err(EngineError::NoRoom { folder: folder.clone(), source });
        }
        if row.status.is_failure() {
            let numbers = row.n.unwrap_or_default() * row.case.task.right_hand_sides();
            let [least, most] = TRIAL_BYTES;
            try_room(&self.cases.folder.scratch(), (8 * numbers as u64).clamp(least, most))?;
            self.failures.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Writes a row; the progress of the run with it.
    fn write(&self, row: &Row) -> Result<Progress, EngineError> {
        let mut journal = self.journal();
        journal.append(row)?;
        Ok(progress(&journal, self.ids))
    }

    fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The progress of the run over all attempts.
    pub(crate) fn progress(&self) -> Progress {
        progress(&self.journal(), self.ids)
    }

    /// The state of the run after this attempt, which has written `ran` rows.
    pub(crate) fn summary(&self, ran: usize) -> Summary {
        Summary {
            folder: self.cases.folder.path().to_owned(),
            total: self.ids.len(),
            ran,
            statuses: self.journal().count(self.ids.iter().map(String::as_str)),
            interrupted: self.cases.interrupt.signal().filter(|signal| *signal != TIME_OVER),
            stopped: self.stopped(ran),
        }
    }

    /// The limit that was reached before the last case.
    fn stopped(&self, ran: usize) -> Option<Stop> {
        match self.cases.interrupt.signal() {
            _ if ran == self.pending.len() => None,
            Some(TIME_OVER) => Some(Stop::Time),
            None if self.has_failed_enough() => Some(Stop::Failures),
            _ => None,
        }
    }
}

fn progress(journal: &Journal, ids: &[String]) -> Progress {
    let counts = journal.count(ids.iter().map(String::as_str));
    Progress {
        total: ids.len(),
        done: counts.values().sum(),
        failed: counts.iter().filter(|(status, _)| status.is_failure()).map(|(_, count)| count).sum(),
    }
}
