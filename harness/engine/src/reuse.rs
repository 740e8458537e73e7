//! Finished cases of earlier runs: which rows are kept for later runs, and which are taken instead of running a case.

use gpbench_record::{Environment, PlannedCase, Row, SCHEMA};
use gpbench_runs::{FinishedCase, FinishedStore, Journal, RunError, RunFolder};

use crate::{EngineError, Event, Reuse, Reused};

/// Keeps the finished cases of a run.
#[derive(Debug)]
pub struct FinishedCases {
    store: FinishedStore,
    run: String,
}

impl FinishedCases {
    pub(crate) fn new(store: FinishedStore, folder: &RunFolder, name: &str) -> Self {
        let folder = folder.path().file_name().unwrap_or_default().to_string_lossy();
        Self { store, run: format!("{name}/{folder}") }
    }

    /// For the run in a folder, of the plan of this name. None where the folder does not lie below an output folder, where the
    /// store would be.
    pub fn of(folder: &RunFolder, name: &str) -> Option<Self> {
        let runs = folder.path().parent().filter(|runs| runs.file_name() == Some(name.as_ref()))?;
        Some(Self::new(FinishedStore::of(runs.parent()?), folder, name))
    }

    /// Keeps a row that is on the disk, if it may be re-used. `environment`: where it ran. Gives a warning where the row cannot
    /// be kept, which costs the time of another run and no result.
    pub fn keep(&self, row: &Row, environment: &Environment) -> Option<String> {
        if !row.is_reusable() {
            return None;
        }
        let (run, environment) = (self.run.clone(), environment.clone());
        let case = FinishedCase { schema: SCHEMA, run, environment, row: row.clone() };
        let refused = |error: RunError| format!("{error}; {} runs again in another run", row.labels);
        self.store.put(&case).err().map(refused)
    }

    /// Writes the rows of pending cases that ran in earlier runs into the journal, and removes these cases from `pending`, which
    /// holds indices into `cases`.
    /// `here`: the environment in which the others are going to run.
    pub(crate) fn take(
        &self,
        (reuse, here): (Reuse, &Environment),
        (cases, pending): (&[PlannedCase], &mut Vec<usize>),
        (folder, journal): (&RunFolder, &mut Journal),
        events: &mut dyn FnMut(Event),
    ) -> Result<Reused, EngineError> {
        let mut reused = Reused::default();
        for place in std::mem::take(pending) {
            let planned = &cases[place];
            let found = self.store.get(&planned.id).unwrap_or_else(|error| {
                events(Event::Warning(format!("{error}; its case runs again")));
                None
            });
            // A failure that is to be tried again has a row already.
            let is_new = journal.status(&planned.id).is_none() && planned.skip.is_none();
            let Some(finished) = found.filter(|finished| is_new && finished.row.is_reusable()) else {
                pending.push(place);
                continue;
            };
            let differences = finished.environment.differences(here);
            if reuse == Reuse::Same && !differences.is_empty() {
                reused.elsewhere += 1;
                reused.differences.extend(differences);
                pending.push(place);
                continue;
            }
            // The folder names all environments in which its rows were made.
            folder.add_environment(&finished.environment)?;
            // A row of this run may be here and not in its journal, where a line is damaged.
            let reused_from = (finished.run != self.run).then_some(finished.run);
            reused.cases += usize::from(reused_from.is_some());
            let environment = finished.row.environment.or_else(|| Some(finished.environment.kind()));
            journal.append(&Row { reused_from, environment, ..finished.row })?;
        }
        reused.differences.sort_unstable();
        reused.differences.dedup();
        Ok(reused)
    }
}
