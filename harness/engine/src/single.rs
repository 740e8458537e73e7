//! One case of which nothing is stored: under a debugger or profiler, or as a trial of what it costs.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use gpbench_record::{ComposedLibrary, Fault, Row};
use gpbench_runs::{RunError, Workspace};

use crate::case::{CaseRunner, GRACE, NoRow};
use crate::exact::ExactReferences;
use crate::memory::Memory;
use crate::programs::Plugins;
use crate::{Engine, EngineError, Event, Plan, Planned, RunOptions};

/// Seconds beyond twice its time budget after which a trial is killed.
const GRACE_OF_TRIAL: f64 = 5.0;

/// What became of a single case.
#[derive(Debug)]
pub enum SingleCase {
    /// The worker gave a result, which was verified, or failed.
    Row(Box<Row>),
    /// The worker ended without a result, or the user ended it.
    Unfinished,
    /// The machine or a file was at fault.
    Fault(Fault),
}

impl Engine<'_> {
    /// Runs one case of a plan, at `place` in its list, once and without limits: a limit on its time, a budget of time among them,
    /// would end it while a user looks at it. All of its files are in `folder`, which the caller removes; the plan's run has no part
    /// of it. The plugin is loaded from its own place.
    ///
    /// # Errors
    /// When the case cannot start.
    pub fn debug(
        &self,
        plan: &Plan,
        place: usize,
        folder: &Path,
        options: &RunOptions,
        report: &dyn Fn(Event),
    ) -> Result<SingleCase, EngineError> {
        let options = RunOptions {
            kill_after_seconds: None,
            cpu_seconds: None,
            memory_bytes: None,
            ..options.absolute()?
        };
        let planned = plan.planned(place);
        let mut entry = planned.entry.clone();
        entry.case.budget.seconds = None;
        let planned = Planned { entry: &entry, ..planned };
        Ok(match self.single(&plan.libraries, planned, folder, &options, GRACE, report)? {
            SingleCase::Row(row) => SingleCase::Row(Box::new(without_log(*row))),
            ended => ended,
        })
    }

    /// Runs one case once, with the limits of a run. It is killed soon after twice its budget of time. All of its files are in
    /// `folder`, which the caller removes, and no run has a part of it. The plugin, one of these libraries if it consists of
    /// more than its file, is loaded from its own place.
    ///
    /// # Errors
    /// When the case cannot start.
    pub fn trial(
        &self,
        libraries: &[ComposedLibrary],
        planned: Planned<'_>,
        folder: &Path,
        options: &RunOptions,
        report: &dyn Fn(Event),
    ) -> Result<SingleCase, EngineError> {
        self.single(libraries, planned, folder, &options.absolute()?, GRACE_OF_TRIAL, report)
    }

    /// Runs one case once. `grace`: [`CaseRunner::grace`].
    fn single(
        &self,
        libraries: &[ComposedLibrary],
        planned: Planned<'_>,
        folder: &Path,
        options: &RunOptions,
        grace: f64,
        report: &dyn Fn(Event),
    ) -> Result<SingleCase, EngineError> {
        let workspace = Workspace::of_attempt(folder, folder, "single");
        let cases = self.runner(&workspace, options, Plugins::in_place(libraries, &[planned])?, grace)?;
        let ended = cases.run(planned, 0, report);
        workspace.remove_checkpoint(&planned.id);
        Ok(match ended {
            Ok(row) => SingleCase::Row(Box::new(row)),
            Err(NoRow::Interrupted) => SingleCase::Unfinished,
            Err(NoRow::Fault(fault)) => SingleCase::Fault(fault),
        })
    }
}

impl Engine<'_> {
    /// The runner of a case that is of no run, with all of its files in a workspace, which is made. `grace`: [`CaseRunner::grace`].
    pub(crate) fn runner<'a>(
        &'a self,
        workspace: &'a Workspace,
        options: &'a RunOptions,
        plugins: Plugins,
        grace: f64,
    ) -> Result<CaseRunner<'a>, EngineError> {
        for folder in workspace.folders() {
            let refused = |source| RunError::Io { action: "create", path: folder.to_owned(), source };
            fs::create_dir_all(folder).map_err(refused)?;
        }
        Ok(CaseRunner {
            executor: self.executor,
            clock: self.clock,
            options,
            interrupt: &self.interrupt,
            workspace,
            references: ExactReferences::new(self.executor, options, &self.interrupt, workspace.scratch()),
            plugins,
            memory: Memory::new(self.executor.free_memory(), options),
            kept: HashSet::new(),
            grace,
        })
    }
}

/// The row without the path of its log, which the terminal has shown.
fn without_log(mut row: Row) -> Row {
    row.reason = row.reason.replace(&format!("; log: logs/{}.log", row.id), "");
    row
}
