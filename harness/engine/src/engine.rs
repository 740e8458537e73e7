//! Runs a plan: continues its run folder or creates one, then runs the cases that have no row.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use gpbench_record::Environment;
use gpbench_runs::{
    Attempts, ComparedEnvironment, DamagedLine, Journal, PlanFile, RunError, RunFolder, Store, Workspace,
    newest_run,
};

use crate::attempt::RunAttempt;
use crate::case::CaseRunner;
use crate::exact::ExactReferences;
use crate::memory::Memory;
use crate::programs::{CheckedExecutor, Keeper, Plugins};
use crate::reuse::FinishedCases;
use crate::tries::RenewDataset;
use crate::{
    Beginning, Clock, EngineError, Event, Executor, Interrupt, Options, Plan, PlannedCase, ProcessorTimes,
    Reused, Summary, Work,
};

/// Runs plans.
pub struct Engine<'a> {
    /// Where work items run.
    pub executor: &'a dyn Executor,
    /// The time of day.
    pub clock: &'a dyn Clock,
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
    /// summary names it. A case that a plugin may have kept from its end three times gets a row nevertheless.
    ///
    /// # Errors
    /// When no case can run, as on a full disk. The rows of all cases that have ended are in the journal.
    pub fn run(
        &self,
        plan: &Plan,
        options: &Options,
        events: &mut dyn FnMut(Event),
    ) -> Result<Summary, EngineError> {
        let ids = plan.ids()?;
        let options = &absolute(options)?;
        let (folder, beginning) = self.folder(plan, &ids, options, events)?;
        // The journal is locked before the folder is changed.
        let (mut journal, damaged) = Journal::open(folder.path())?;
        folder.begin()?;
        // A run that was killed may have left those of cases whose rows it had just written.
        let workspace = folder.workspace();
        ids.iter().filter(|id| journal.status(id).is_some()).for_each(|id| workspace.remove_checkpoint(id));
        if beginning == Beginning::Continued {
            let file = match PlanFile::read(folder.path()) {
                Err(error @ RunError::Damaged { .. }) => {
                    events(Event::Warning(format!("{error}; it is written anew, and the run goes on")));
                    plan.file(&ids, folder.created().unwrap_or(self.clock.now()))
                }
                read => plan.refresh(read?),
            };
            folder.write_plan(&file, &plan.spec_toml)?;
        }
        let attempts = Attempts::open(folder.path())?;
        let environment = folder.add_environment(&plan.environment)?;
        let logs: Vec<PathBuf> = ids.iter().map(|id| folder.log(id)).collect();
        self.executor.end_stale_processes(&logs);

        let missing = |id: &str| match journal.status(id) {
            None => true,
            Some(status) => options.retry_failed && status.is_failure(),
        };
        let mut pending: Vec<(&String, &PlannedCase)> =
            ids.iter().zip(&plan.cases).filter(|(id, _)| missing(id)).collect();
        let finished = FinishedCases::new(Store::of(&options.output_dir), &folder, plan);
        let reused = if options.fresh {
            Reused::default()
        } else {
            let into = (&folder, &mut journal);
            let taken = finished.take(options.reuse, &mut pending, into, events);
            taken.inspect_err(|_| drop(folder.end()))?
        };
        let complete = ids.iter().all(|id| journal.status(id).is_some());
        warnings(&damaged, complete, environment).into_iter().map(Event::Warning).for_each(&mut *events);
        let work = Work {
            ids: &ids,
            pending,
            workspace: &workspace,
            rows: &mut journal,
            attempts,
            environment: &plan.environment,
            beginning,
            reused,
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
        work: Work<'_>,
        folder: &Path,
        options: &Options,
        events: &mut dyn FnMut(Event),
    ) -> Result<Summary, EngineError> {
        self.run_and_keep(work, None, folder, options, events)
    }

    /// [`Engine::run_work`], with a store that keeps finished cases for later runs.
    fn run_and_keep(
        &self,
        work: Work<'_>,
        finished: Option<FinishedCases>,
        folder: &Path,
        options: &Options,
        events: &mut dyn FnMut(Event),
    ) -> Result<Summary, EngineError> {
        let Work { environment, workspace, beginning, .. } = work;
        let runs: Vec<&PlannedCase> = work
            .pending
            .iter()
            .map(|(_, planned)| *planned)
            .filter(|planned| planned.skip.is_none())
            .collect();
        let memory = self.memory(environment, options, &runs)?;
        memory.warning(&runs).map(Event::Warning).into_iter().for_each(&mut *events);
        let (executor, plugins) = self.programs(workspace, &runs)?;
        let cases = CaseRunner {
            executor: &executor,
            clock: self.clock,
            options,
            interrupt: &self.interrupt,
            workspace,
            references: ExactReferences::new(&executor, options, &self.interrupt),
            plugins,
            memory,
        };
        let reused = work.reused.clone();
        let attempt = RunAttempt::new(cases, work, finished, self.renew_dataset);
        let progress = attempt.progress();
        events(Event::Begun { folder: folder.to_owned(), beginning, reused, progress });
        let before = self.executor.processor_times();
        let ran = attempt.run(options.jobs.max(1), events)?;
        let other_load = self.other_load(before, environment);
        Ok(Summary { other_load, ..attempt.summary(folder, ran) })
    }

    /// The share of the processors that other programs have used since `before`.
    fn other_load(&self, before: Option<ProcessorTimes>, environment: &Environment) -> Option<f64> {
        before?.share_of_others(self.executor.processor_times()?, environment.cores)
    }

    /// The memory for these cases.
    fn memory(
        &self,
        environment: &Environment,
        options: &Options,
        cases: &[&PlannedCase],
    ) -> Result<Memory, EngineError> {
        let memory = Memory::new(self.executor.free_memory(), options);
        match environment.memory_bytes {
            0 => {}
            total => memory.refuse_limits_above(total, cases)?,
        }
        Ok(memory)
    }

    /// What these cases execute and load, kept in the workspace.
    fn programs(
        &self,
        workspace: &Workspace,
        cases: &[&PlannedCase],
    ) -> Result<(CheckedExecutor<'_>, Plugins), EngineError> {
        let keeper = Keeper::new(workspace);
        let plugins = Plugins::keep(&keeper, cases)?;
        let worker = cases.first().map(|planned| planned.fingerprint.worker_sha256.as_str());
        Ok((CheckedExecutor::new(&keeper, self.executor, worker)?, plugins))
    }

    /// The folder to run in, and whether it is continued, or why not.
    fn folder(
        &self,
        plan: &Plan,
        ids: &[String],
        options: &Options,
        events: &mut dyn FnMut(Event),
    ) -> Result<(RunFolder, Beginning), EngineError> {
        let names: Vec<&str> = ids.iter().map(String::as_str).collect();
        if !options.fresh {
            match RunFolder::find(&options.output_dir, &plan.name, &names) {
                Ok(folder) => return Ok((folder, Beginning::Continued)),
                Err(unreadable) => unreadable.into_iter().for_each(|error| {
                    events(Event::Warning(format!("{error}; that run is not continued, a new one begins")));
                }),
            }
        }
        let beginning = if options.fresh { Beginning::Fresh } else { beginning(plan, ids, options) };
        let now = self.clock.now();
        let file = plan.file(ids, now);
        let created = RunFolder::create(&options.output_dir, &file, &plan.spec_toml, &plan.environment, now)?;
        Ok((created, beginning))
    }
}

/// Why the newest run of a plan's name is not continued.
fn beginning(plan: &Plan, ids: &[String], options: &Options) -> Beginning {
    let newest = newest_run(&options.output_dir, &plan.name);
    let Some(newest) = newest.and_then(|run| PlanFile::read(&run).ok()) else { return Beginning::First };
    let mut earlier: HashMap<_, _> =
        newest.cases.iter().map(|entry| (&entry.labels, entry.id.as_str())).collect();
    let (mut same, mut changed, mut added) = (0, 0, 0);
    for (id, planned) in ids.iter().zip(&plan.cases) {
        match earlier.remove(&planned.case.labels()) {
            Some(known) if known == id => same += 1,
            Some(_) => changed += 1,
            None => added += 1,
        }
    }
    Beginning::Changed { same, changed, added, removed: earlier.len() }
}

/// What the user should know of a folder that is continued.
fn warnings(damaged: &[DamagedLine], complete: bool, environment: ComparedEnvironment) -> Vec<String> {
    let ComparedEnvironment { differences, warnings } = environment;
    let elsewhere = (!differences.is_empty()).then(|| {
        let what = differences.join(", ");
        format!(
            "this run began in another environment, described by its environment.json ({what}); \
             do not compare its times"
        )
    });
    damaged.iter().map(|line| line.warning(complete)).chain(warnings).chain(elsewhere).collect()
}

/// Makes paths absolute: workers get absolute ones, since a plugin may change its working folder.
fn absolute(options: &Options) -> Result<Options, EngineError> {
    let absolute = |path: &PathBuf| {
        std::path::absolute(path).map_err(|source| EngineError::Path { path: path.clone(), source })
    };
    Ok(Options {
        output_dir: absolute(&options.output_dir)?,
        cache_dir: absolute(&options.cache_dir)?,
        ..options.clone()
    })
}
