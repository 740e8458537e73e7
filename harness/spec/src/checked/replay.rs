//! Hyperparameters of an earlier run, to be trained along again.

use std::fs;

use gpbench_record::{Case, Hyperparameters, JournalEntry, Row, Training};

use crate::error::Mistakes;
use crate::source::At;
use crate::typed::{ReplayTable, Typed};

/// The trained cases of the run that `[train]` wants replayed.
pub(crate) struct Replay<'a> {
    table: &'a At<ReplayTable>,
    rows: Vec<Row>,
}

impl<'a> Replay<'a> {
    /// Reads the run, if there is one to replay. Its folder is relative to the spec's.
    pub(crate) fn open(typed: &'a Typed, mistakes: &mut Mistakes) -> Option<Replay<'a>> {
        let table = typed.root.train.as_ref()?.value.replay.as_ref()?;
        let run = table.value.run.as_ref()?;
        let journal = typed.folder.join(&run.value).join("journal.jsonl");
        let text = match fs::read_to_string(&journal) {
            Ok(text) => text,
            Err(error) => {
                let hint = "name the folder of a run that has trained, relative to the spec".to_owned();
                mistakes.add(&run.at, format!("cannot read {}: {error}", journal.display()), hint);
                return None;
            }
        };
        let entries = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        let rows = entries.filter_map(|entry| match entry {
            JournalEntry::Case(row) if !row.steps.is_empty() && !row.hyperparameters.is_empty() => Some(*row),
            _ => None,
        });
        Some(Replay { table, rows: rows.collect() })
    }

    /// The training of `case` along the steps of the one case of the run with the same data set, kernel and
    /// seed, and with the solver and estimator that are asked for.
    pub(crate) fn along(
        &self,
        case: &Case,
        training: &Training,
        mistakes: &mut Mistakes,
    ) -> Option<Training> {
        let ReplayTable { solver, estimator, .. } = &self.table.value;
        let is = |wanted: &Option<At<String>>, name: &str| wanted.as_ref().is_none_or(|w| w.value == name);
        let labels = case.labels();
        let found: Vec<&Row> = self
            .rows
            .iter()
            .filter(|row| {
                let theirs = &row.labels;
                (&theirs.dataset, &theirs.kernel, theirs.seed)
                    == (&labels.dataset, &labels.kernel, labels.seed)
                    && is(solver, &theirs.solver)
                    && is(estimator, &theirs.estimator)
            })
            .collect();
        let [row] = found.as_slice() else {
            let what = format!(
                "{} trained cases of that run are of data set `{}`, kernel `{}` and seed {}",
                found.len(),
                labels.dataset,
                labels.kernel,
                labels.seed
            );
            let hint = "choose one with `solver` and `estimator`".to_owned();
            mistakes.add(&self.table.at, what, hint);
            return None;
        };
        let last = [row.hyperparameters.clone()];
        let path: Vec<Hyperparameters> =
            row.steps.iter().map(|step| step.hyperparameters.clone()).chain(last).collect();
        let steps = training.steps.min(row.steps.len() as u64);
        let replay = path.into_iter().take(steps as usize + 1).collect();
        Some(Training { steps, replay, ..training.clone() })
    }
}
