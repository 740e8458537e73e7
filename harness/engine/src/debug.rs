//! One case under a debugger or profiler, of which nothing is stored.

use std::fs;
use std::path::Path;

use gpbench_record::{Fault, Row};
use gpbench_runs::{RunError, Workspace};

use crate::case::{CaseRunner, NoRow};
use crate::exact::ExactReferences;
use crate::memory::Memory;
use crate::programs::Plugins;
use crate::{Engine, EngineError, Event, Plan, Planned, RunOptions};

/// What became of a case that was debugged.
#[derive(Debug)]
pub enum Debugged {
    /// The worker gave a result, which was verified.
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
    ) -> Result<Debugged, EngineError> {
        let options = options.absolute()?;
        let options =
            RunOptions { kill_after_seconds: None, cpu_seconds: None, memory_bytes: None, ..options };
        let workspace = Workspace::of_attempt(folder, folder, "debug");
        for folder in workspace.folders() {
            let refused = |source| RunError::Io { action: "create", path: folder.to_owned(), source };
            fs::create_dir_all(folder).map_err(refused)?;
        }
        let planned = plan.planned(place);
        let mut entry = planned.entry.clone();
        entry.case.budget.seconds = None;
        let planned = Planned { entry: &entry, ..planned };
        let cases = CaseRunner {
            executor: self.executor,
            clock: self.clock,
            options: &options,
            interrupt: &self.interrupt,
            workspace: &workspace,
            references: ExactReferences::new(self.executor, &options, &self.interrupt, workspace.scratch()),
            plugins: Plugins::in_place(&plan.libraries, &[planned])?,
            memory: Memory::new(self.executor.free_memory(), &options),
        };
        Ok(match cases.run(planned, 0, report) {
            Ok(row) => Debugged::Row(Box::new(without_log(row))),
            Err(NoRow::Interrupted) => Debugged::Unfinished,
            Err(NoRow::Fault(fault)) => Debugged::Fault(fault),
        })
    }
}

/// The row without the path of its log, which the terminal has shown.
fn without_log(mut row: Row) -> Row {
    row.reason = row.reason.replace(&format!("; log: logs/{}.log", row.id), "");
    row
}
