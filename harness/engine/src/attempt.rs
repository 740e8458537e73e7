//! One attempt to run the cases that have no row: which case runs next, on which thread, and when to stop.
//!
//! Cases run in the order of the plan. Those that an earlier attempt did not survive, and those that the system
//! refused something, run after all others and alone: whatever they do, the others have their rows.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, Scope, ScopedJoinHandle};
use std::time::Duration;

use gpbench_record::{CaseStatus, Environment, PlannedCase, Row};

use crate::case::CaseRunner;
use crate::interrupt::TIME_OVER;
use crate::memory::Reservation;
use crate::reuse::FinishedCases;
use crate::room::{solution_bytes, try_room};
use crate::tries::{Faults, Pending, RenewDataset, Tried, Tries};
use crate::work::Workload;
use crate::{CaseWithoutRow, EngineError, Event, RowSink, RunProgress, RunSummary, Stop};

/// Cases that are taken in turn.
struct Queue<'a> {
    cases: Vec<Pending<'a>>,
    /// The number of the case that comes next.
    next: Mutex<usize>,
}

impl<'a> Queue<'a> {
    fn new(cases: Vec<Pending<'a>>) -> Self {
        Self { cases, next: Mutex::default() }
    }
}

/// One attempt to run the cases that have no row.
pub(crate) struct RunAttempt<'a> {
    tries: Tries<'a>,
    cases: &'a [PlannedCase],
    pending: Vec<Pending<'a>>,
    /// Set when the run cannot continue.
    stop: AtomicBool,
    /// Cases that have failed in this attempt.
    failures: AtomicUsize,
    rows: Mutex<&'a mut (dyn RowSink + 'static)>,
    environment: &'a Environment,
    /// Its short name in rows.
    kind: String,
    finished: Option<FinishedCases>,
    /// Cases to be tried once more when all others have ended.
    later: Mutex<Vec<Pending<'a>>>,
    without_rows: Mutex<Vec<CaseWithoutRow>>,
}

impl<'a> RunAttempt<'a> {
    pub(crate) fn new(
        cases: CaseRunner<'a>,
        work: Workload<'a>,
        finished: Option<FinishedCases>,
        renew_dataset: RenewDataset<'a>,
    ) -> Self {
        let Workload { cases: planned, pending, rows, attempts, environment, .. } = work;
        let pending =
            pending.into_iter().map(|planned| Pending { planned, faults: Faults::default() }).collect();
        let has_rows = progress(rows, planned).done > 0;
        Self {
            tries: Tries::new(cases, attempts, renew_dataset, has_rows),
            cases: planned,
            pending,
            stop: AtomicBool::new(false),
            failures: AtomicUsize::new(0),
            rows: Mutex::new(rows),
            environment,
            kind: environment.kind(),
            finished,
            later: Mutex::default(),
            without_rows: Mutex::default(),
        }
    }

    fn runner(&self) -> &CaseRunner<'a> {
        &self.tries.cases
    }

    /// Runs all pending cases on `jobs` threads; the number of rows written.
    ///
    /// Each thread starts its workers itself and outlives them, because a worker is killed when the thread that
    /// started it ends.
    pub(crate) fn run(&self, jobs: usize, events: &mut dyn FnMut(Event)) -> Result<usize, EngineError> {
        thread::scope(|scope| {
            // Dropped when this closure ends, however it ends.
            let (_done, over) = channel::<()>();
            if let Some(seconds) = self.runner().options.time_limit_seconds {
                start(scope, move || self.interrupt_after(seconds, &over))?;
            }
            let (unbroken, suspects): (Vec<_>, Vec<_>) =
                self.pending.iter().copied().partition(|pending| !self.tries.is_open(pending));
            let ran = self.run_queue(&Queue::new(unbroken), jobs, events)?;
            let mut last = std::mem::take(&mut *lock(&self.later));
            last.extend(suspects);
            // The case with the most starts that did not end runs last.
            last.sort_by_key(|pending| self.tries.starts(pending));
            Ok(ran + self.run_queue(&Queue::new(last), 1, events)?)
        })
    }

    /// Runs the cases of a queue; the number of rows written. Where the system starts fewer threads, these run all
    /// cases.
    fn run_queue(
        &self,
        queue: &Queue<'a>,
        jobs: usize,
        events: &mut dyn FnMut(Event),
    ) -> Result<usize, EngineError> {
        thread::scope(|scope| {
            let (to, from) = channel();
            let (mut threads, mut refused) = (Vec::new(), None);
            for _ in 0..jobs.min(queue.cases.len()) {
                let to = to.clone();
                match start(scope, move || self.work(queue, jobs == 1, &to)) {
                    Ok(thread) => threads.push(thread),
                    Err(error) => refused = Some(error),
                }
            }
            drop(to);
            if let Some(error) = refused.filter(|_| threads.is_empty()) {
                return Err(error);
            }
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
            && self.runner().interrupt.signal().is_none()
        {
            self.runner().interrupt.raise(TIME_OVER);
        }
    }

    /// Runs one case of a queue after the other; the number of rows written. `is_alone`: no other case is running.
    fn work(&self, queue: &Queue<'a>, is_alone: bool, to: &Sender<Event>) -> Result<usize, EngineError> {
        // Sending fails only if the receiver panicked, and that panic ends the run.
        let report = |event| drop(to.send(event));
        let mut ran = 0;
        while let Some((pending, _memory)) = self.take(queue) {
            let stop = || self.stop.store(true, Ordering::SeqCst);
            if !lock(&self.rows).begin(pending.id()).inspect_err(|_| stop())? {
                stop();
                break;
            }
            report(Event::CaseStarted {
                id: pending.id().to_owned(),
                labels: pending.planned.labels.clone(),
            });
            match self.tries.run(pending, is_alone, &report).inspect_err(|_| stop())? {
                Tried::Row(mut row) => {
                    row.environment = Some(self.kind.clone());
                    let written = self.admit(&row).and_then(|()| self.write(&row));
                    let progress = written.inspect_err(|_| {
                        stop();
                        self.tries.release(pending.id());
                    })?;
                    ran += 1;
                    let finished = self.finished.as_ref();
                    let warning = finished.and_then(|finished| finished.keep(&row, self.environment));
                    warning.map(Event::Warning).into_iter().for_each(&report);
                    report(Event::CaseFinished { row, progress });
                }
                Tried::Later(pending) => lock(&self.later).push(pending),
                Tried::WithoutRow(case) => lock(&self.without_rows).push(case),
                Tried::Interrupted => break,
            }
        }
        Ok(ran)
    }

    /// The next case of a queue, once there is memory for it.
    fn take(&self, queue: &Queue<'a>) -> Option<(Pending<'a>, Reservation<'_>)> {
        // Held while the case waits, so that none overtakes it.
        let mut next = lock(&queue.next);
        if self.ends() {
            return None;
        }
        let pending = queue.cases.get(*next).copied()?;
        *next += 1;
        let memory = self.runner().reserve(pending.planned);
        // The attempt may have been stopped while the case waited.
        (!self.ends()).then_some((pending, memory))
    }

    /// Whether no further case is to start.
    fn ends(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
            || self.runner().interrupt.signal().is_some()
            || self.has_failed_enough()
    }

    fn has_failed_enough(&self) -> bool {
        let most = self.runner().options.max_failures;
        most.is_some_and(|most| self.failures.load(Ordering::SeqCst) >= most)
    }

    /// Counts a failure. Refuses a row if the disk is full: the case may have failed because it could not write.
    fn admit(&self, row: &Row) -> Result<(), EngineError> {
        if row.status.is_failure() {
            try_room(self.runner().workspace.scratch(), solution_bytes(row.n, &row.case))?;
            self.failures.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Writes a row; the progress of the run with it.
    fn write(&self, row: &Row) -> Result<RunProgress, EngineError> {
        let mut rows = lock(&self.rows);
        rows.append(row)?;
        let progress = progress(&**rows, self.cases);
        drop(rows);
        self.tries.end(&row.id)?;
        Ok(progress)
    }

    /// The progress of the run over all attempts.
    pub(crate) fn progress(&self) -> RunProgress {
        progress(&**lock(&self.rows), self.cases)
    }

    /// The state of the run after this attempt, which has written `ran` rows.
    pub(crate) fn summary(&self, folder: &Path, ran: usize) -> RunSummary {
        let without_rows = lock(&self.without_rows).clone();
        RunSummary {
            folder: folder.to_owned(),
            total: self.cases.len(),
            ran,
            left: self.pending.len() - ran,
            statuses: statuses(&**lock(&self.rows), self.cases),
            interrupted: self.runner().interrupt.signal().filter(|signal| *signal != TIME_OVER),
            other_load: None,
            stopped: self.stopped(ran + without_rows.len()),
            without_rows,
        }
    }

    /// The limit that was reached before the last case, where `tried` cases were tried to their end.
    fn stopped(&self, tried: usize) -> Option<Stop> {
        match self.runner().interrupt.signal() {
            _ if tried == self.pending.len() => None,
            Some(TIME_OVER) => Some(Stop::Time),
            None if self.has_failed_enough() => Some(Stop::Failures),
            _ => None,
        }
    }
}

/// Starts a thread; a refusal of the system is an error.
fn start<'scope, 'env, T: Send + 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, EngineError> {
    Builder::new().spawn_scoped(scope, work).map_err(EngineError::Threads)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn progress(rows: &dyn RowSink, cases: &[PlannedCase]) -> RunProgress {
    let counts = statuses(rows, cases);
    RunProgress {
        total: cases.len(),
        done: counts.values().sum(),
        failed: counts.iter().filter(|(status, _)| status.is_failure()).map(|(_, count)| count).sum(),
    }
}

/// The number of cases by status.
fn statuses(rows: &dyn RowSink, cases: &[PlannedCase]) -> BTreeMap<CaseStatus, usize> {
    let mut counts = BTreeMap::new();
    for status in cases.iter().filter_map(|planned| rows.status(&planned.id)) {
        *counts.entry(status).or_default() += 1;
    }
    counts
}
