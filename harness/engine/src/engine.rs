//! The schedule: which cases are to run, on how many threads, and how it ends.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use gpbench_record::Row;
use jiff::Timestamp;

use crate::cases::CaseRunner;
use crate::exact::ExactReferences;
use crate::interrupt::TIME_OVER;
use crate::{
    EngineError, Event, Executor, Interrupt, Journal, Options, Plan, PlannedCase, Progress, RunFolder, Stop,
    Summary,
};

/// The most that is tried to be written, in bytes, to see whether a disk is full.
const MOST_TRIED: u64 = 256 << 20;

/// Tells the time of day, for names of folders and for rows.
pub trait Clock: Sync {
    /// The time in UTC.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// Runs plans.
pub struct Engine<'a> {
    /// Where errands are run.
    pub executor: &'a dyn Executor,
    /// What time it is.
    pub clock: &'a dyn Clock,
    /// The wish to stop.
    pub interrupt: Interrupt,
}

impl Engine<'_> {
    /// Runs what a plan still lacks: continues the newest folder of its name that
    /// holds the same plan, or begins a new one. `events` is called on this thread.
    ///
    /// # Errors
    /// When the run itself cannot go on, such as on a full disk. What has ended
    /// till then is in the journal.
    pub fn run(
        &self,
        plan: &Plan,
        options: &Options,
        events: &mut dyn FnMut(Event),
    ) -> Result<Summary, EngineError> {
        let ids = plan.ids()?;
        let options = &absolute(options)?;
        let earlier = if options.fresh { None } else { RunFolder::find(plan, &ids, options) };
        let resumed = earlier.is_some();
        let folder = match earlier {
            Some(folder) => folder,
            None => RunFolder::create(plan, &ids, options, self.clock.now())?,
        };
        // The journal's lock comes before anything in the folder is touched.
        let (journal, unreadable) = Journal::open(folder.path())?;
        folder.prepare()?;
        if resumed {
            folder.write_spec(&plan.spec_toml)?;
        }
        self.executor.end_forsaken(&folder.logs());
        for text in warnings(&folder, plan, unreadable)? {
            events(Event::Warning(text));
        }
        let progress = progress(&journal, &ids);
        events(Event::Begun { folder: folder.path().to_owned(), resumed, progress });

        let missing = |id: &str| match journal.status(id) {
            None => true,
            Some(status) => options.retry_failed && status.is_failure(),
        };
        let pending: Vec<(&String, &PlannedCase)> =
            ids.iter().zip(&plan.cases).filter(|(id, _)| missing(id)).collect();
        let cases = CaseRunner {
            executor: self.executor,
            clock: self.clock,
            options,
            interrupt: &self.interrupt,
            folder: &folder,
            references: ExactReferences::new(self.executor, options, &self.interrupt),
        };
        let sitting = Sitting {
            cases,
            ids: &ids,
            pending,
            next: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            failures: AtomicUsize::new(0),
            journal: Mutex::new(journal),
        };
        let result = sitting.run(options.jobs.max(1), events);
        // What ended the run comes before what is left of it.
        let removed = folder.remove_scratch();
        let ran = result?;
        removed?;
        let stopped = sitting.stopped(ran);
        let journal = sitting.journal.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Summary {
            folder: folder.path().to_owned(),
            total: ids.len(),
            ran,
            statuses: journal.count(&ids),
            interrupted: self.interrupt.signal().filter(|signal| *signal != TIME_OVER),
            stopped,
        })
    }
}

/// What is odd about a folder that is continued. Another environment is kept beside the first.
fn warnings(folder: &RunFolder, plan: &Plan, unreadable: usize) -> Result<Vec<String>, EngineError> {
    let mut warnings = Vec::new();
    if unreadable > 0 {
        warnings.push(format!("{unreadable} lines of the journal cannot be read; their cases run again"));
    }
    let differences =
        folder.environment().map(|begun| begun.differences(&plan.environment)).unwrap_or_default();
    if !differences.is_empty() {
        folder.add_environment(&plan.environment)?;
        let what = differences.join(", ");
        warnings.push(format!(
            "this run was begun in another environment, described by its environment.json ({what}); \
             do not compare its times"
        ));
    }
    Ok(warnings)
}

/// One run of the pending cases.
struct Sitting<'a> {
    cases: CaseRunner<'a>,
    ids: &'a [String],
    pending: Vec<(&'a String, &'a PlannedCase)>,
    next: AtomicUsize,
    /// Set when the run cannot go on.
    stop: AtomicBool,
    /// Cases that have failed in this sitting.
    failures: AtomicUsize,
    journal: Mutex<Journal>,
}

impl Sitting<'_> {
    /// Runs all pending cases on `jobs` threads; the number of rows written.
    ///
    /// A thread starts its workers itself and outlives them, as their death
    /// signal hangs on the thread that started them.
    fn run(&self, jobs: usize, events: &mut dyn FnMut(Event)) -> Result<usize, EngineError> {
        thread::scope(|scope| {
            // Over with this closure, however it ends.
            let (_done, over) = channel::<()>();
            if let Some(seconds) = self.cases.options.time_limit_seconds {
                scope.spawn(move || self.ring_after(seconds, &over));
            }
            let (tell, told) = channel();
            let threads: Vec<_> = (0..jobs.min(self.pending.len()))
                .map(|_| {
                    let tell = tell.clone();
                    scope.spawn(move || self.work(&tell))
                })
                .collect();
            drop(tell);
            told.iter().for_each(events);
            threads.into_iter().try_fold(0, |ran, thread| {
                let more = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
                Ok(ran + more)
            })
        })
    }

    /// Ends the sitting when its time is over, unless it has ended before.
    fn ring_after(&self, seconds: f64, over: &Receiver<()>) {
        let patience = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        if over.recv_timeout(patience) == Err(RecvTimeoutError::Timeout)
            && self.cases.interrupt.signal().is_none()
        {
            self.cases.interrupt.raise(TIME_OVER);
        }
    }

    /// The bound that this sitting was ended by before its last case.
    fn stopped(&self, ran: usize) -> Option<Stop> {
        match self.cases.interrupt.signal() {
            _ if ran == self.pending.len() => None,
            Some(TIME_OVER) => Some(Stop::Time),
            None if self.has_failed_enough() => Some(Stop::Failures),
            _ => None,
        }
    }

    fn has_failed_enough(&self) -> bool {
        let most = self.cases.options.max_failures;
        most.is_some_and(|most| self.failures.load(Ordering::SeqCst) >= most)
    }

    /// Takes one case after the other until none is left; the number of rows written.
    fn work(&self, tell: &Sender<Event>) -> Result<usize, EngineError> {
        // Nobody listens only if the listener panicked, and then nothing matters.
        let tell = |event| drop(tell.send(event));
        let mut ran = 0;
        while let Some((id, planned)) = self.take() {
            tell(Event::CaseStarted { id: id.clone(), labels: planned.case.labels() });
            let Some(row) = self.cases.run(id, planned, &tell) else { break };
            let written = self.admit(&row).and_then(|()| self.write(&row));
            let progress = written.inspect_err(|_| self.stop.store(true, Ordering::SeqCst))?;
            self.cases.forget(id);
            ran += 1;
            tell(Event::CaseFinished { row: Box::new(row), progress });
        }
        Ok(ran)
    }

    fn take(&self) -> Option<(&String, &PlannedCase)> {
        if self.stop.load(Ordering::SeqCst)
            || self.cases.interrupt.signal().is_some()
            || self.has_failed_enough()
        {
            return None;
        }
        self.pending.get(self.next.fetch_add(1, Ordering::SeqCst)).copied()
    }

    /// Counts a failure, unless a full disk may be behind it: a case that could not write its solution
    /// down has not failed, and one without the exact reference that it should have is not to be kept.
    fn admit(&self, row: &Row) -> Result<(), EngineError> {
        if let Some(EngineError::NoRoom { folder, source }) = self.cases.references.no_room() {
            let source = io::Error::new(source.kind(), source.to_string());
            return Err(EngineError::NoRoom { folder: folder.clone(), source });
        }
        if !row.status.is_failure() {
            return Ok(());
        }
        let numbers = row.n.unwrap_or_default() * (1 + row.case.estimator.probes);
        self.cases.folder.try_room((8 * numbers as u64).clamp(4096, MOST_TRIED))?;
        self.failures.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn write(&self, row: &Row) -> Result<Progress, EngineError> {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.append(row)?;
        Ok(progress(&journal, self.ids))
    }
}

fn progress(journal: &Journal, ids: &[String]) -> Progress {
    let counts = journal.count(ids);
    Progress {
        total: ids.len(),
        done: counts.values().sum(),
        failed: counts.iter().filter(|(status, _)| status.is_failure()).map(|(_, count)| count).sum(),
    }
}

/// Workers are told absolute paths, whatever a plugin does to its working folder.
fn absolute(options: &Options) -> Result<Options, EngineError> {
    let absolute = |path: &std::path::PathBuf| {
        std::path::absolute(path).map_err(|source| EngineError::Io {
            action: "find",
            path: path.clone(),
            source,
        })
    };
    Ok(Options {
        output_dir: absolute(&options.output_dir)?,
        cache_dir: absolute(&options.cache_dir)?,
        ..options.clone()
    })
}
