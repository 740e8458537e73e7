//! One try of a case, from start to row: references, solve, verification, status.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use gpbench_record::{
    Case, Fault, FaultCause, Job, Limits, Message, Optimum, PlannedCase, PluginParts, Program, Row, SCHEMA,
    Stamp, Step, Task, TaskOutput, TracePoint, names,
};
use gpbench_runs::Workspace;

use crate::distance;
use crate::exact::{ExactReferences, Reference};
use crate::log::Log;
use crate::memory::{Memory, Reservation};
use crate::programs::Plugins;
use crate::refusal::memory_may_be_refused;
use crate::standstill::{Standstill, standstill};
use crate::{
    End, Event, Evidence, Executor, Interrupt, Outcome, Planned, RunOptions, WallClock, WorkItem, classify,
    row,
};

/// Seconds that a case of a run may take beyond twice its time budget, for loading and for the trace.
pub(crate) const GRACE: f64 = 60.0;

/// What all cases of a run share: executor, options, folders, references, plugins and memory.
pub(crate) struct CaseRunner<'a> {
    pub(crate) executor: &'a dyn Executor,
    pub(crate) clock: &'a dyn WallClock,
    pub(crate) options: &'a RunOptions,
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) workspace: &'a Workspace,
    pub(crate) references: ExactReferences<'a>,
    pub(crate) plugins: Plugins,
    pub(crate) memory: Memory,
    /// The ids of the cases whose solutions are kept.
    pub(crate) kept: HashSet<String>,
    /// Seconds beyond twice its time budget after which a case is killed.
    pub(crate) grace: f64,
}

/// Why a try of a case has no row.
#[derive(Debug)]
pub(crate) enum NoRow {
    /// The run is to end; the case will be run again later.
    Interrupted,
    /// The machine or a file is at fault.
    Fault(Fault),
}

impl From<Fault> for NoRow {
    fn from(fault: Fault) -> Self {
        NoRow::Fault(fault)
    }
}

impl CaseRunner<'_> {
    /// Waits until there is memory for a case.
    pub(crate) fn reserve(&self, planned: Planned<'_>) -> Reservation<'_> {
        self.memory.reserve(planned, self.references.bytes_to_make(planned))
    }

    /// Runs a case to its row. `standstills` is the number of earlier tries on a machine that stood still. References
    /// that cannot be read are discarded, so that the next try makes them anew.
    pub(crate) fn run(
        &self,
        planned: Planned<'_>,
        standstills: u8,
        report: &dyn Fn(Event),
    ) -> Result<Row, NoRow> {
        let log = self.workspace.log(&planned.id);
        // A case that is run again starts its log again.
        let _ = fs::remove_file(&log);
        let mut references = Vec::new();
        let row = self.reference_and_row(planned, standstills, &log, report, &mut references);
        if row.is_ok() {
            self.keep_solution(&planned.id, report);
        }
        let _ = fs::remove_file(self.workspace.solution(&planned.id));
        if matches!(&row, Err(NoRow::Fault(fault)) if fault.cause == FaultCause::Reference) {
            references.iter().for_each(|reference| self.references.discard(reference));
        }
        row
    }

    /// Keeps the solution of a case that has its row, if it is to be kept and there is one.
    fn keep_solution(&self, id: &str, report: &dyn Fn(Event)) {
        if self.kept.contains(id)
            && self.workspace.solution(id).is_file()
            && let Err(error) = self.workspace.keep_solution(id)
        {
            report(Event::Warning(format!("the solution of case {id} cannot be kept: {error}")));
        }
    }

    /// Verifies a solution that was kept of a case whose row has this output. References are found or made as for the case.
    pub(crate) fn verify_kept(
        &self,
        planned: Planned<'_>,
        output: &TaskOutput,
        solution: &Path,
        report: &dyn Fn(Event),
    ) -> Result<Outcome, NoRow> {
        let (log, mut references) = (self.workspace.log(&planned.id), Vec::new());
        if planned.case.task.exact_reference() {
            references.extend(self.references.of(planned, &log, report)?);
        }
        let sha256 = planned.fingerprint.plugin_sha256.clone();
        // Verification never opens it.
        let plugin = Program { file: planned.files.plugin_file.clone(), sha256, stamp: Stamp::default() };
        let job = self.job(planned, (plugin, PluginParts::default()), references.first());
        let job = Job { solution_file: solution.to_owned(), ..job };
        let job = match planned.case.verified(output) {
            Some(case) => self.job_of(case, &job, planned, &log, report, &mut references)?,
            None => job,
        };
        self.execute(&WorkItem::Verify(job), &log, report)
    }

    /// The checkpoint of a case, if it writes one.
    pub(crate) fn checkpoint(&self, planned: &PlannedCase) -> Option<PathBuf> {
        planned.case.task.checkpoints().then(|| self.workspace.checkpoint(&planned.id))
    }

    /// Makes the row of a case; `references` takes the references that it used.
    fn reference_and_row(
        &self,
        planned: Planned<'_>,
        standstills: u8,
        log: &Path,
        report: &dyn Fn(Event),
        references: &mut Vec<Reference>,
    ) -> Result<Row, NoRow> {
        let optimum = self.optimum(planned, log, report, references)?;
        let lacks_optimum = optimum.is_none() && self.references.wants_optimum(planned);
        let before = references.len();
        let task = &planned.case.task;
        if task.exact_reference() {
            references.extend(self.references.of(planned, log, report)?);
        }
        let mut asked = usize::from(task.exact_reference());
        let job = self.job(planned, self.plugins.of(planned), references.get(before));
        let solving = self.execute(&WorkItem::Case(job.clone()), log, report)?;
        let remark = match standstill(&solving, standstills) {
            Some(Standstill::Fault(fault)) => return Err(fault.into()),
            Some(Standstill::Remark(remark)) => Some(remark),
            None => None,
        };
        let verifying = match solving.solved() {
            Some(solved) => {
                let job = match planned.case.verified(&solved.output) {
                    Some(case) => {
                        asked += 1;
                        self.job_of(case, &job, planned, log, report, references)?
                    }
                    None => job,
                };
                Some(self.execute(&WorkItem::Verify(job), log, report)?)
            }
            None => None,
        };
        let verified = verifying.as_ref().and_then(Outcome::verified);
        if let (Some(reference), Some(verified)) = (references.last(), verified) {
            self.references.remark(reference, &planned.labels, &verified.metrics, report);
        }
        let evidence = Evidence {
            case: &planned.case,
            solving: &solving,
            verifying: verifying.as_ref(),
            log: &Log::read(log),
            memory_may_be_refused: memory_may_be_refused(),
        };
        let mut status = classify(&evidence)?;
        remark.iter().for_each(|remark| status.add(remark));
        let unplanned = solving.solved().map_or(&[][..], |solved| &solved.unplanned_parts);
        remark_on_parts(unplanned).iter().for_each(|remark| status.add(remark));
        let lacks_exact =
            self.references.wanted(planned).is_some() && references.len() - before < asked || lacks_optimum;
        let mut row = Row { lacks_exact, ..row::ended(&planned, status, &evidence, self.clock.now()) };
        optimum.iter().for_each(|optimum| distance::insert(&mut row, optimum));
        Ok(row)
    }

    /// The optimum that a case is compared with, if it is compared with one and one can be found; `references` takes
    /// its file.
    fn optimum(
        &self,
        planned: Planned<'_>,
        log: &Path,
        report: &dyn Fn(Event),
        references: &mut Vec<Reference>,
    ) -> Result<Option<Optimum>, Fault> {
        let Some(reference) = self.references.optimum_of(planned, log, report)? else { return Ok(None) };
        let optimum = reference.read_optimum();
        references.push(reference);
        optimum.map(Some)
    }

    /// The job of verifying another case than the one that was run, with an exact reference of its own.
    fn job_of(
        &self,
        case: Case,
        job: &Job,
        planned: Planned<'_>,
        log: &Path,
        report: &dyn Fn(Event),
        references: &mut Vec<Reference>,
    ) -> Result<Job, Fault> {
        let entry = PlannedCase::new(case, planned.fingerprint.clone(), planned.n, None);
        let reference = self.references.of(Planned { entry: &entry, ..planned }, log, report)?;
        let exact_file = reference.as_ref().map(|reference| reference.path.clone());
        references.extend(reference);
        Ok(Job { case: entry.case, exact_file, checkpoint_file: None, ..job.clone() })
    }

    /// Runs a work item, and reports how far it has come.
    fn execute(&self, item: &WorkItem, log: &Path, report: &dyn Fn(Event)) -> Result<Outcome, NoRow> {
        if self.interrupt.signal().is_some() {
            return Err(NoRow::Interrupted);
        }
        let seen = |message: &Message| advance(item, message).into_iter().for_each(report);
        let outcome = self.executor.run(item, log, self.interrupt, &seen);
        if outcome.end == End::Interrupted { Err(NoRow::Interrupted) } else { Ok(outcome) }
    }

    fn job(
        &self,
        planned: Planned<'_>,
        (plugin, plugin_parts): (Program, PluginParts),
        reference: Option<&Reference>,
    ) -> Job {
        Job {
            schema: SCHEMA,
            id: planned.id.clone(),
            case: planned.case.clone(),
            dataset_file: planned.files.dataset_file.clone(),
            dataset_sha256: planned.fingerprint.dataset_sha256.clone(),
            plugin,
            plugin_parts,
            exact_file: reference.map(|reference| reference.path.clone()),
            solution_file: self.workspace.solution(&planned.id),
            checkpoint_file: self.checkpoint(&planned),
            threads: planned.fingerprint.threads,
            limits: self.limits(&planned),
        }
    }

    /// Limits that the executor enforces. The solver itself ends at the time budget; the executor kills the case after
    /// twice that and some time of grace.
    fn limits(&self, planned: &PlannedCase) -> Limits {
        let seconds = planned.case.budget.seconds;
        let options = self.options;
        Limits {
            kill_after_seconds: seconds
                .map(|seconds| 2.0 * seconds + self.grace)
                .or(options.kill_after_seconds),
            cpu_seconds: options.cpu_seconds,
            memory_bytes: self.memory.limit(planned),
            memory_share: self.memory.share(planned),
        }
    }
}

/// The remark on a case whose plugin has used files that its description does not name.
fn remark_on_parts(unplanned: &[String]) -> Option<String> {
    let first = unplanned.first()?;
    let others = match unplanned.len() - 1 {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    Some(format!(
        "the plugin used {first}{others}, which its description does not name; the case runs again each time"
    ))
}

/// How far a case has come, if a message tells it.
fn advance(item: &WorkItem, message: &Message) -> Option<Event> {
    let WorkItem::Case(job) = item else { return None };
    let (share, metrics) = match (message, &job.case.task) {
        (Message::Step(step), task @ (Task::Train(_) | Task::Thompson(_))) => {
            (Some((step.step + 1) as f64 / task.most_steps() as f64), &step.metrics)
        }
        (Message::Trace(point), Task::Learn(learning)) => {
            let passes = point.metrics.get(names::PASSES);
            (passes.map(|passes| passes / learning.passes as f64), &point.metrics)
        }
        (Message::Step(Step { metrics, .. }) | Message::Trace(TracePoint { metrics, .. }), _) => {
            (None, metrics)
        }
        _ => return None,
    };
    Some(Event::CaseAdvanced { id: job.id.clone(), share, metrics: metrics.clone() })
}
