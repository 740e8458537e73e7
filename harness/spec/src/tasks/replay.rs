//! Hyperparameters of an earlier run, taken step by step.

use gpbench_record::{Hyperparameters, Row};

use super::rules::CellEntries;
use crate::catalog::Catalog;
use crate::error::Mistakes;
use crate::source::At;
use crate::tables::train::Replay as Table;
use crate::typed::Typed;

/// The trained cases of the run that `[train]` replays.
pub(super) struct Replay<'a> {
    table: &'a At<Table>,
    rows: Vec<&'a Row>,
}

impl<'a> Replay<'a> {
    /// Finds the run in the catalog, if the spec replays one.
    pub(super) fn find(
        typed: &'a Typed,
        catalog: &'a Catalog,
        mistakes: &mut Mistakes,
    ) -> Option<Replay<'a>> {
        let table = typed.root.train.value.replay.as_ref()?;
        let run = table.value.run.as_ref()?;
        let rows = match &catalog.replayed {
            Some(Ok(rows)) => rows,
            Some(Err(error)) => {
                let hint = "name the folder of a run that has trained, relative to the spec".to_owned();
                mistakes.add(&run.at, format!("cannot replay run `{}`: {error}", run.value), hint);
                return None;
            }
            None => {
                mistakes.add(&run.at, format!("run `{}` has not been read", run.value), None);
                return None;
            }
        };
        let has_trained = |row: &&Row| {
            let training = row.output.training();
            training.is_some_and(|t| !t.steps.is_empty() && !t.hyperparameters.is_empty())
        };
        Some(Replay { table, rows: rows.iter().filter(has_trained).collect() })
    }

    /// The hyperparameters of every step and after the last one, from the one case of the run with the cell's data
    /// set, kernel and seed, and with the solver and estimator that the spec names.
    pub(super) fn path(
        &self,
        cell: &CellEntries<'_>,
        mistakes: &mut Mistakes,
    ) -> Option<Vec<Hyperparameters>> {
        let Table { solver, estimator, .. } = &self.table.value;
        let is = |wanted: &Option<At<String>>, name: Option<&str>| {
            wanted.as_ref().is_none_or(|wanted| name == Some(wanted.value.as_str()))
        };
        let matches = |row: &&&Row| {
            let labels = &row.labels;
            labels.dataset == cell.dataset.name
                && labels.kernel == cell.kernel.name
                && labels.seed == cell.seed
                && is(solver, Some(&labels.solver))
                && is(estimator, labels.estimator.as_deref())
        };
        let found: Vec<&&Row> = self.rows.iter().filter(matches).collect();
        let [row] = found.as_slice() else {
            let what = format!(
                "{} trained cases of that run are of data set `{}`, kernel `{}` and seed {}",
                found.len(),
                cell.dataset.name,
                cell.kernel.name,
                cell.seed
            );
            mistakes.add(&self.table.at, what, "choose one with `solver` and `estimator`".to_owned());
            return None;
        };
        let training = row.output.training()?;
        let steps = training.steps.iter().map(|step| step.hyperparameters.clone());
        Some(steps.chain([training.hyperparameters.clone()]).collect())
    }
}
