//! One case from start to row: reference, solve, verification, verdict.

use std::fs;
use std::path::{Path, PathBuf};

use gpbench_record::{Job, Limits, Message, Metrics, Row, SCHEMA, Solved, Status, Task, Trained, names};

use crate::exact::ExactReferences;
use crate::executor::Outcome;
use crate::status::{Evidence, Verdict, claimed, judge, solved, verified};
use crate::{Clock, End, Event, Executor, Interrupt, Options, PlannedCase, RunFolder, Work, text};

/// Everything that the cases of a run have in common.
pub(crate) struct CaseRunner<'a> {
    pub(crate) executor: &'a dyn Executor,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) options: &'a Options,
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) folder: &'a RunFolder,
    pub(crate) references: ExactReferences<'a>,
}

impl CaseRunner<'_> {
    /// Runs a case to its terminal row; `None` if the run was interrupted.
    pub(crate) fn run(&self, id: &str, planned: &PlannedCase, tell: &dyn Fn(Event)) -> Option<Row> {
        if let Some(reason) = &planned.skip {
            let verdict = Verdict { status: Status::Skipped, reason: reason.clone(), reproducible: true };
            return Some(self.row(id, planned, verdict));
        }
        let log = self.folder.log(id);
        // A case that is run again starts its log again.
        let _ = fs::remove_file(&log);
        let exact_file = match planned.case.task {
            // The hyperparameters to compare at are not known yet, or verification needs more than a reference has.
            Task::Train | Task::Likelihood => None,
            Task::Solve | Task::Posterior => self.references.of(planned, &log, tell),
        };
        let job = self.job(id, planned, exact_file);
        let row = self.solve_and_verify(&job, planned, &log, tell);
        let _ = fs::remove_file(&job.solution_file);
        row
    }

    /// Removes what a case would have gone on from: its row is written.
    pub(crate) fn forget(&self, id: &str) {
        let _ = fs::remove_file(self.folder.checkpoint(id));
    }

    fn solve_and_verify(
        &self,
        job: &Job,
        planned: &PlannedCase,
        log: &Path,
        tell: &dyn Fn(Event),
    ) -> Option<Row> {
        let solving = self.execute(&Work::Case(job.clone()), log)?;
        let verifying = match solved(&solving) {
            Some(Solved { trained: Some(trained), .. }) => {
                Some(self.execute(&Work::Verify(self.prediction(job, planned, trained, log, tell)), log)?)
            }
            Some(_) => Some(self.execute(&Work::Verify(job.clone()), log)?),
            None => None,
        };
        let log_tail = text::log_tail(log);
        let evidence = Evidence {
            case: &planned.case,
            solving: &solving,
            verifying: verifying.as_ref(),
            log_tail: &log_tail,
        };
        let mut row = self.row(&job.id, planned, judge(&evidence));
        fill(&mut row, solving, verifying);
        if row.status.is_failure() {
            row.log_tail = log_tail;
        }
        Some(row)
    }

    /// The job of judging what a training case ended with, beside an exact reference at the same
    /// hyperparameters.
    fn prediction(
        &self,
        job: &Job,
        planned: &PlannedCase,
        trained: &Trained,
        log: &Path,
        tell: &dyn Fn(Event),
    ) -> Job {
        let Some(case) = planned.case.prediction(&trained.hyperparameters) else { return job.clone() };
        let predicted = PlannedCase { case: case.clone(), ..planned.clone() };
        let exact_file = self.references.of(&predicted, log, tell);
        Job { case, exact_file, checkpoint_file: None, ..job.clone() }
    }

    /// Runs an errand, unless the run is to end: what is half done then is done again later.
    fn execute(&self, work: &Work, log: &Path) -> Option<Outcome> {
        if self.interrupt.signal().is_some() {
            return None;
        }
        let outcome = self.executor.run(work, log, self.interrupt);
        (outcome.end != End::Interrupted).then_some(outcome)
    }

    fn job(&self, id: &str, planned: &PlannedCase, exact_file: Option<PathBuf>) -> Job {
        Job {
            schema: SCHEMA,
            id: id.to_owned(),
            case: planned.case.clone(),
            dataset_file: planned.dataset_file.clone(),
            plugin_file: planned.plugin_file.clone(),
            exact_file,
            solution_file: self.folder.solution(id),
            checkpoint_file: (planned.case.task == Task::Train).then(|| self.folder.checkpoint(id)),
            threads: self.options.threads_per_case(),
            limits: limits(planned, self.options),
        }
    }

    fn row(&self, id: &str, planned: &PlannedCase, verdict: Verdict) -> Row {
        Row {
            id: id.to_owned(),
            labels: planned.case.labels(),
            case: planned.case.clone(),
            status: verdict.status,
            reason: verdict.reason,
            n: planned.n,
            d: None,
            metrics: Metrics::default(),
            solver_values: Default::default(),
            trace: Vec::new(),
            steps: Vec::new(),
            hyperparameters: Default::default(),
            curve: None,
            landscape: None,
            log_tail: String::new(),
            reproducible: verdict.reproducible,
            finished: self.clock.now().to_string(),
        }
    }
}

/// Bounds from outside. The time budget is the solver's own to keep; the kill
/// stands at twice that plus a minute, for loading and for the trace.
fn limits(planned: &PlannedCase, options: &Options) -> Limits {
    let budget = &planned.case.budget;
    Limits {
        kill_after_seconds: budget.seconds.map(|s| 2.0 * s + 60.0).or(options.kill_after_seconds),
        cpu_seconds: options.cpu_seconds,
        memory_bytes: budget.memory_bytes.or(options.memory_bytes),
    }
}

/// Puts everything that was measured into the row: of a case that failed, what it reported till then.
fn fill(row: &mut Row, solving: Outcome, verifying: Option<Outcome>) {
    if solving.peak_memory_bytes > 0 {
        row.metrics.insert(names::PEAK_MEMORY_BYTES, solving.peak_memory_bytes as f64);
    }
    if let Some(seconds) = solving.seconds_over_limit {
        row.metrics.insert(names::SECONDS_OVER_LIMIT, seconds);
    }
    if let Some(solved) = solved(&solving) {
        row.n = Some(solved.n);
        row.d = Some(solved.d);
        row.metrics.extend(&measured(solved));
        row.solver_values = solved.values.clone();
        if let Some(trained) = &solved.trained {
            row.hyperparameters = trained.hyperparameters.clone();
            row.landscape = trained.landscape.clone();
        }
    }
    if let Some(truth) = verifying.as_ref().and_then(verified) {
        row.metrics.extend(&truth.metrics);
        row.curve = truth.curve.clone();
    }
    for message in solving.messages {
        match message {
            Message::Trace(point) => row.trace.push(point),
            Message::Step(step) => row.steps.push(step),
            _ => {}
        }
    }
}

/// The metrics that `case` itself measured or was told.
fn measured(solved: &Solved) -> Metrics {
    let epoch = (solved.n as f64).powi(2);
    let mut metrics = Metrics::default();
    for (name, value) in [
        (names::EPOCHS, solved.entries.used / epoch),
        (names::EPOCHS_SETUP, solved.entries.setup / epoch),
        (names::EPOCHS_EVALUATED, solved.entries.evaluated / epoch),
        (names::EPOCHS_SELF_REPORTED, solved.entries.self_reported / epoch),
        (names::ITERATIONS, solved.iterations as f64),
        (names::SECONDS_STARTUP, solved.startup_seconds),
        (names::SECONDS_POSE, solved.pose_seconds),
        (names::SECONDS_PREPARE, solved.prepare.wall),
        (names::SECONDS_SOLVE, solved.solve.wall),
        (names::CPU_SECONDS, solved.prepare.cpu + solved.solve.cpu),
        (names::PEAK_MEMORY_BYTES, solved.peak_memory_bytes as f64),
    ] {
        metrics.insert(name, value);
    }
    if solved.kept_bytes > 0 {
        metrics.insert(names::KEPT_BYTES, solved.kept_bytes as f64);
    }
    if let Some(trained) = &solved.trained {
        metrics.insert(names::STEPS, trained.steps as f64);
        metrics.insert(names::SECONDS_TRAIN, trained.seconds);
        metrics.insert(names::SECONDS_PREDICT, trained.predict.wall);
        metrics.insert(names::EPOCHS_PREDICT, trained.predict_epochs);
    }
    if let Some((y, probes)) = claimed(solved) {
        metrics.insert(names::CLAIMED_Y, y);
        if let Some(probes) = probes {
            metrics.insert(names::CLAIMED_PROBES, probes);
        }
    }
    metrics
}
