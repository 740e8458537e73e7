//! One case from start to row: exact reference, solve, verification, status.

use std::fs;
use std::path::{Path, PathBuf};

use gpbench_record::{Case, Job, Limits, Row, SCHEMA};
use gpbench_runs::RunFolder;

use crate::exact::ExactReferences;
use crate::memory::{Memory, Reservation};
use crate::programs::Plugins;
use crate::tasks::rules;
use crate::{
    Clock, End, Event, Evidence, Executor, Interrupt, Options, Outcome, PlannedCase, WorkItem, classify, row,
    text,
};

/// Everything that the cases of a run have in common.
pub(crate) struct CaseRunner<'a> {
    pub(crate) executor: &'a dyn Executor,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) options: &'a Options,
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) folder: &'a RunFolder,
    pub(crate) references: ExactReferences<'a>,
    pub(crate) plugins: Plugins,
    pub(crate) memory: Memory,
}

impl CaseRunner<'_> {
    /// Waits until there is memory for a case.
    pub(crate) fn reserve(&self, planned: &PlannedCase) -> Reservation<'_> {
        self.memory.reserve(planned, self.references.bytes_to_make(planned))
    }

    /// Runs a case to its row; `None` if the run was interrupted.
    pub(crate) fn run(&self, id: &str, planned: &PlannedCase, report: &dyn Fn(Event)) -> Option<Row> {
        if let Some(reason) = &planned.skip {
            return Some(row::skipped(id, planned, reason, self.clock.now()));
        }
        let log = self.folder.log(id);
        // A case that is run again starts its log again.
        let _ = fs::remove_file(&log);
        let rules = rules(planned.case.task.kind());
        let exact_file = if rules.exact_reference { self.references.of(planned, &log, report) } else { None };
        let checkpoint_file = rules.checkpoint.then(|| self.folder.checkpoint(id));
        let job = self.job(id, planned, exact_file, checkpoint_file);
        let row = self.solve_and_verify(&job, planned, &log, report);
        let _ = fs::remove_file(&job.solution_file);
        row
    }

    /// Removes the checkpoint of a case whose row is written.
    pub(crate) fn remove_checkpoint(&self, id: &str) {
        let _ = fs::remove_file(self.folder.checkpoint(id));
    }

    fn solve_and_verify(
        &self,
        job: &Job,
        planned: &PlannedCase,
        log: &Path,
        report: &dyn Fn(Event),
    ) -> Option<Row> {
        let solving = self.execute(&WorkItem::Case(job.clone()), log)?;
        let verifying = match solving.solved() {
            Some(solved) => {
                let verified = rules(planned.case.task.kind()).verified_case;
                let job = match verified(&planned.case, &solved.output) {
                    Some(case) => self.job_of(case, job, planned, log, report),
                    None => job.clone(),
                };
                Some(self.execute(&WorkItem::Verify(job), log)?)
            }
            None => None,
        };
        let log_tail = text::log_tail(log);
        let evidence = Evidence {
            case: &planned.case,
            solving: &solving,
            verifying: verifying.as_ref(),
            log_tail: &log_tail,
        };
        let status = classify(&evidence);
        Some(row::ended(&job.id, planned, status, &evidence, self.clock.now()))
    }

    /// The job of verifying another case than the one that was run, with an exact reference of its own.
    fn job_of(
        &self,
        case: Case,
        job: &Job,
        planned: &PlannedCase,
        log: &Path,
        report: &dyn Fn(Event),
    ) -> Job {
        let planned = PlannedCase { case, ..planned.clone() };
        let exact_file = self.references.of(&planned, log, report);
        Job { case: planned.case, exact_file, checkpoint_file: None, ..job.clone() }
    }

    /// Runs a work item; `None` if the run is to end, and the case will be run again later.
    fn execute(&self, item: &WorkItem, log: &Path) -> Option<Outcome> {
        if self.interrupt.signal().is_some() {
            return None;
        }
        let outcome = self.executor.run(item, log, self.interrupt);
        (outcome.end != End::Interrupted).then_some(outcome)
    }

    fn job(
        &self,
        id: &str,
        planned: &PlannedCase,
        exact_file: Option<PathBuf>,
        checkpoint_file: Option<PathBuf>,
    ) -> Job {
        Job {
            schema: SCHEMA,
            id: id.to_owned(),
            case: planned.case.clone(),
            dataset_file: planned.dataset_file.clone(),
            plugin: self.plugins.of(planned),
            exact_file,
            solution_file: self.folder.solution(id),
            checkpoint_file,
            threads: planned.fingerprint.threads,
            limits: self.limits(planned),
        }
    }

    /// Limits that the executor enforces. The solver itself ends at the time budget; the executor kills the case after
    /// twice that and a minute, which leaves time for loading and for the trace.
    fn limits(&self, planned: &PlannedCase) -> Limits {
        let seconds = planned.case.budget.seconds;
        let options = self.options;
        Limits {
            kill_after_seconds: seconds.map(|seconds| 2.0 * seconds + 60.0).or(options.kill_after_seconds),
            cpu_seconds: options.cpu_seconds,
            memory_bytes: self.memory.limit(planned),
            memory_share: self.memory.share(planned),
        }
    }
}
