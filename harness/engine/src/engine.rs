//! Runs a plan: continues its run folder or creates one, then runs the cases that have no row.

use std::mem;
use std::path::{Path, PathBuf};

use gpbench_record::{ComposedLibrary, Environment};
use gpbench_runs::{Attempts, Workspace};

use crate::attempt::RunAttempt;
use crate::case::{CaseRunner, GRACE};
use crate::exact::ExactReferences;
use crate::memory::Memory;
use crate::programs::{CheckedExecutor, Keeper, Plugins};
use crate::reuse::FinishedCases;
use crate::solutions::kept_sample;
use crate::tries::RenewDataset;
use crate::{
    EngineError, Event, Executor, Interrupt, OpenRun, Plan, Planned, ProcessorTimes, RunOptions, RunSummary,
    WallClock, Workload,
};

/// Runs plans.
pub struct Engine<'a> {
    /// Where work items run.
    pub executor: &'a dyn Executor,
    /// The time of day.
    pub clock: &'a dyn WallClock,
    /// The request to end.
    pub interrupt: Interrupt,
    /// What to do when the binary copy of a data set cannot be read.
    pub renew_dataset: RenewDataset<'a>,
}

impl Engine<'_> {
    /// Runs the cases of a plan that have no row: continues the newest folder of its name with the same cases, or
    /// creates one. `events` is called on this thread.
    ///
    /// Where the machine or a file is at fault, a case has no row: it is tried once more, the others go on, and the
    /// summary names it. A case that did not end three times, for which its plugin may be to blame, gets a row nevertheless.
    ///
    /// # Errors
    /// When no case can run, as on a full disk. The rows of all cases that have ended are in the journal.
    pub fn run(
        &self,
        plan: &Plan,
        options: &RunOptions,
        events: &mut dyn FnMut(Event),
    ) -> Result<RunSummary, EngineError> {
        let options = &options.absolute()?;
        let OpenRun { folder, mut journal, pending, beginning, reused, finished } =
            OpenRun::open(plan, options, self.clock, events)?;
        let workspace = folder.workspace();
        let attempts = Attempts::open(folder.path())?;
        let logs: Vec<PathBuf> = plan.file.ids().map(|id| folder.log(id)).collect();
        self.executor.end_stale_processes(&logs);
        let work = Workload {
            cases: &plan.file.cases,
            pending: pending.into_iter().map(|place| plan.planned(place)).collect(),
            libraries: &plan.libraries,
            workspace: &workspace,
            rows: &mut journal,
            attempts,
            environment: &plan.environment,
            beginning,
            reused,
            kept: kept_sample(&plan.file.cases, options.keep_solutions),
        };
        let ran = self.run_and_keep(work, Some(finished), folder.path(), options, events);
        // The reason for the end is reported before a failure to remove files.
        let removed = folder.end();
        let summary = ran?;
        removed?;
        summary.other_load.map_or(Ok(()), |share| folder.note_load(&plan.environment, share))?;
        Ok(summary)
    }

    /// Runs cases whose rows and files need not go into a run folder of this process alone. `folder` is the one that events
    /// and the summary name.
    ///
    /// # Errors
    /// When no case can run. All rows so far are where they were to go.
    pub fn run_work(
        &self,
        work: Workload<'_>,
        folder: &Path,
        options: &RunOptions,
        events: &mut dyn FnMut(Event),
    ) -> Result<RunSummary, EngineError> {
        self.run_and_keep(work, None, folder, options, events)
    }

    /// [`Engine::run_work`], with a store that keeps finished cases for later runs.
    fn run_and_keep(
        &self,
        mut work: Workload<'_>,
        finished: Option<FinishedCases>,
        folder: &Path,
        options: &RunOptions,
        events: &mut dyn FnMut(Event),
    ) -> Result<RunSummary, EngineError> {
        let Workload { environment, workspace, libraries, beginning, .. } = work;
        let runs: Vec<Planned<'_>> =
            work.pending.iter().copied().filter(|planned| planned.skip.is_none()).collect();
        let memory = self.memory(environment, options, &runs)?;
        memory.warning(&runs).map(Event::Warning).into_iter().for_each(&mut *events);
        let (executor, plugins) = self.programs(workspace, libraries, &runs)?;
        let cases = CaseRunner {
            executor: &executor,
            clock: self.clock,
            options,
            interrupt: &self.interrupt,
            workspace,
            references: ExactReferences::new(&executor, options, &self.interrupt, workspace.scratch()),
            plugins,
            memory,
            kept: mem::take(&mut work.kept),
            grace: GRACE,
        };
        let reused = work.reused.clone();
        let attempt = RunAttempt::new(cases, work, finished, self.renew_dataset);
        let progress = attempt.progress();
        events(Event::Begun { folder: folder.to_owned(), beginning, reused, progress });
        let before = self.executor.processor_times();
        let ran = attempt.run(options.jobs.max(1), events)?;
        let other_load = self.other_load(before, environment);
        Ok(RunSummary { other_load, ..attempt.summary(folder, ran) })
    }

    /// The share of the processors that other programs have used since `before`.
    fn other_load(&self, before: Option<ProcessorTimes>, environment: &Environment) -> Option<f64> {
        before?.share_of_others(self.executor.processor_times()?, environment.cores)
    }

    /// The memory for these cases.
    fn memory(
        &self,
        environment: &Environment,
        options: &RunOptions,
        cases: &[Planned<'_>],
    ) -> Result<Memory, EngineError> {
        let memory = Memory::new(self.executor.free_memory(), options);
        match environment.memory_bytes {
            0 => {}
            total => memory.refuse_limits_above(total, cases)?,
        }
        Ok(memory)
    }

    /// The programs that these cases execute and load, kept in the workspace.
    fn programs(
        &self,
        workspace: &Workspace,
        libraries: &[ComposedLibrary],
        cases: &[Planned<'_>],
    ) -> Result<(CheckedExecutor<'_>, Plugins), EngineError> {
        let keeper = Keeper::new(workspace);
        let plugins = Plugins::keep(&keeper, libraries, cases)?;
        let worker = cases.first().map(|planned| planned.fingerprint.worker_sha256.as_str());
        Ok((CheckedExecutor::new(&keeper, self.executor, worker)?, plugins))
    }
}
