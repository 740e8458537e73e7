//! The case of an earlier run whose steps are replayed.

use gpbench_record::Row;

use super::rules::CellEntries;
use crate::catalog::Catalog;
use crate::error::Mistakes;
use crate::source::At;
use crate::tables::replay::Replay as Table;

/// The cases of the run that a spec replays.
pub(super) struct Replay<'a> {
    table: &'a At<Table>,
    rows: Vec<&'a Row>,
}

impl<'a> Replay<'a> {
    /// Finds the run in the catalog, if the spec replays one; `has_path`: whether a row has steps to replay.
    pub(super) fn find(
        table: Option<&'a At<Table>>,
        catalog: &'a Catalog,
        has_path: fn(&Row) -> bool,
        mistakes: &mut Mistakes,
    ) -> Option<Replay<'a>> {
        let table = table?;
        let run = table.value.run.as_ref()?;
        let rows = match &catalog.replayed {
            Some(Ok(rows)) => rows,
            Some(Err(error)) => {
                let hint = "name the folder of an earlier run of this task, relative to the spec".to_owned();
                mistakes.add(&run.at, format!("cannot replay run `{}`: {error}", run.value), hint);
                return None;
            }
            None => {
                mistakes.add(&run.at, format!("run `{}` has not been read", run.value), None);
                return None;
            }
        };
        Some(Replay { table, rows: rows.iter().filter(|row| has_path(row)).collect() })
    }

    /// The one case of the run with the cell's data set, kernel and seed, and with the solver and estimator that the
    /// spec names.
    pub(super) fn row(&self, cell: &CellEntries<'_>, mistakes: &mut Mistakes) -> Option<&'a Row> {
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
                "{} cases of that run that can be replayed are of data set `{}`, kernel `{}` and seed {}",
                found.len(),
                cell.dataset.name,
                cell.kernel.name,
                cell.seed
            );
            mistakes.add(&self.table.at, what, "choose one with `solver` and `estimator`".to_owned());
            return None;
        };
        Some(row)
    }
}
