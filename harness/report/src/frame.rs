//! The results of a run as tables: a row for each case, each trace point and each step.
//!
//! A frame is built once for the reports, a comparison or a check of a run, which are queries on it. [`Cases`] are rows of it and say
//! what is shown of them; a filter copies neither the tables nor the run.

mod build;
mod case;
mod cases;
mod cells;
mod nested;
mod schema;

use gpbench_record::{Row, metric};
use polars::prelude::{Column, DataFrame};

pub(crate) use case::CaseView;
pub(crate) use cases::Cases;
pub(crate) use cells::{Cells, is_time};
pub use schema::COLUMNS;
pub(crate) use schema::{CASE, PREDICTION_COLUMNS, STEP_COLUMNS, TRACE_COLUMNS};

use nested::Nested;

use crate::error::Result;
use crate::run::Run;

/// The results of a run as tables, from which [`Frame::write`] and [`Frame::export`] make reports.
pub struct Frame<'r> {
    pub(crate) run: &'r Run,
    /// A row for each row of the journal, in the same order: id, axes, outcome, then a column for each metric.
    pub(crate) results: DataFrame,
    /// A row for each trace point, with the axes of its case.
    pub(crate) traces: Nested,
    /// A row for each step, with its hyperparameters and metrics.
    pub(crate) steps: Nested,
    /// Names of the metrics among the columns of `results`.
    pub(crate) metrics: Vec<String>,
    /// Archived runs whose results stand beside those of the run.
    pub(crate) archived: Vec<Frame<'r>>,
    /// Whether each case has a time.
    timed: Vec<bool>,
}

impl<'r> Frame<'r> {
    /// The tables of a run.
    ///
    /// # Errors
    /// If a table cannot be built.
    pub fn new(run: &'r Run) -> Result<Frame<'r>> {
        let rows = &run.record.rows;
        let (results, metrics) = build::results(rows)?;
        let (traces, steps) = (build::traces(rows)?, build::steps(rows)?);
        let timed = timed(&results, &metrics);
        Ok(Frame { run, timed, results, traces, steps, metrics, archived: Vec::new() })
    }

    /// The frame with archived runs, whose results a report then shows beside those of the run.
    ///
    /// # Errors
    /// If a table cannot be built.
    pub fn with_archive(self, archived: impl IntoIterator<Item = &'r Run>) -> Result<Frame<'r>> {
        let archived = archived.into_iter().map(Frame::new).collect::<Result<Vec<_>>>()?;
        Ok(Frame { archived, ..self })
    }

    /// The frame of a run of which a file of its results is kept, and neither traces nor steps.
    pub(crate) fn stored(run: &'r Run, results: DataFrame) -> Frame<'r> {
        let names = results.columns().iter().map(|column| column.name().to_string());
        let metrics: Vec<String> = names.filter(|name| metric::find(name).is_some()).collect();
        let none = || Nested { table: DataFrame::empty(), starts: vec![0; results.height() + 1] };
        let timed = timed(&results, &metrics);
        Frame { run, timed, traces: none(), steps: none(), results, metrics, archived: Vec::new() }
    }

    /// The table of cases with the whole case as JSON, which the file of results has.
    ///
    /// # Errors
    /// If the column cannot be added.
    pub(crate) fn results_with_cases(&self) -> Result<DataFrame> {
        let text = |row: &Row| serde_json::to_string(&row.case).unwrap_or_default();
        let cases: Vec<String> = self.run.record.rows.iter().map(text).collect();
        let mut table = self.results.clone();
        table.insert_column(table.width() - self.metrics.len(), Column::new(CASE.into(), cases))?;
        Ok(table)
    }

    /// The table of predictions on test rows; `None` where no case has any.
    ///
    /// # Errors
    /// If the table cannot be built.
    pub(crate) fn predictions(&self) -> Result<Option<DataFrame>> {
        let rows = &self.run.record.rows;
        let has_any = rows.iter().any(|row| row.predictions.is_some());
        Ok(has_any.then(|| build::predictions(rows)).transpose()?)
    }
}

/// Whether each row has a time among its metrics.
fn timed(results: &DataFrame, metrics: &[String]) -> Vec<bool> {
    let mut timed = vec![false; results.height()];
    let times = metrics.iter().filter(|name| is_time(name));
    for column in times.filter_map(|name| cells::numbers(results, name)) {
        timed.iter_mut().zip(column.iter()).for_each(|(timed, time)| *timed |= time.is_some());
    }
    timed
}
