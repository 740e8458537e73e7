//! A case as a view shows it.

use std::collections::BTreeMap;
use std::ops::Range;

use gpbench_record::{Case, CaseStatus, Row, TaskOutput, names};

use super::Frame;
use super::cells::Cells;
use super::nested::Nested;
use crate::problem::GroupProblem;

/// A row of a frame, with what a view shows of it: its times or none of them, the solver's name, and the price of its grid.
#[derive(Clone, Copy)]
pub(crate) struct CaseView<'f> {
    frame: &'f Frame<'f>,
    at: usize,
    solver: &'f str,
    timed: bool,
    grid_seconds: Option<f64>,
}

impl<'f> CaseView<'f> {
    /// A row of the frame with all that was measured.
    pub(super) fn new(frame: &'f Frame<'f>, at: usize) -> CaseView<'f> {
        CaseView {
            frame,
            at,
            solver: &frame.run.record.rows[at].labels.solver,
            timed: true,
            grid_seconds: None,
        }
    }

    /// The case without its times.
    #[must_use]
    pub(crate) fn without_times(self) -> CaseView<'f> {
        CaseView { timed: false, grid_seconds: None, ..self }
    }

    /// The case as the chosen value of a grid, whose values took so many seconds together.
    #[must_use]
    pub(crate) fn chosen(self, entry: &'f str, grid_seconds: Option<f64>) -> CaseView<'f> {
        CaseView { solver: entry, grid_seconds, ..self }
    }

    /// Its place among the rows of the frame.
    pub(crate) fn place(&self) -> usize {
        self.at
    }

    /// The row of the journal, for what views do not change: neither times nor the solver's name.
    pub(crate) fn row(&self) -> &'f Row {
        &self.frame.run.record.rows[self.at]
    }

    /// The resolved case.
    pub(crate) fn case(&self) -> &'f Case {
        &self.row().case
    }

    /// Arrays and other results that are no metrics.
    pub(crate) fn output(&self) -> &'f TaskOutput {
        &self.row().output
    }

    /// How it ended.
    pub(crate) fn status(&self) -> CaseStatus {
        self.row().status
    }

    /// Whether it gave an answer.
    pub(crate) fn is_answer(&self) -> bool {
        self.status().is_answer()
    }

    /// Its id.
    pub(crate) fn id(&self) -> &'f str {
        &self.row().id
    }

    /// Data set, as named in the spec.
    pub(crate) fn dataset(&self) -> &'f str {
        &self.row().labels.dataset
    }

    /// Kernel, as named in the spec.
    pub(crate) fn kernel(&self) -> &'f str {
        &self.row().labels.kernel
    }

    /// Estimator, as named in the spec.
    pub(crate) fn estimator(&self) -> Option<&'f str> {
        self.row().labels.estimator.as_deref()
    }

    /// Solver, as the view names it.
    pub(crate) fn solver(&self) -> &'f str {
        self.solver
    }

    /// The spec's seed.
    pub(crate) fn seed(&self) -> u64 {
        self.row().labels.seed
    }

    /// Whether it is of a problem.
    pub(crate) fn is_of(&self, problem: &GroupProblem) -> bool {
        let GroupProblem { dataset, kernel, estimator } = problem;
        (self.dataset(), self.kernel(), self.estimator())
            == (dataset.as_str(), kernel.as_str(), estimator.as_deref())
    }

    /// The environment in which it ran, where that is known.
    pub(crate) fn environment(&self) -> Option<&'f str> {
        self.row().environment.as_deref()
    }

    /// The plan that it belongs to, in a run of several.
    pub(crate) fn plan(&self) -> Option<&'f str> {
        let plans: &BTreeMap<String, String> = &self.frame.run.record.plans;
        plans.get(self.id()).map(String::as_str)
    }

    /// Whether it has seconds that a table could show.
    pub(crate) fn is_timed(&self) -> bool {
        self.is_answer() && (self.timed && self.frame.timed[self.at] || self.grid_seconds.is_some())
    }

    /// A metric; `None` where it was not measured, or is a time that is not shown.
    pub(crate) fn metric(&self, name: &str) -> Option<f64> {
        if name == names::SECONDS_GRID { self.grid_seconds } else { self.cells().number(name) }
    }

    /// Names and values of its metrics.
    pub(crate) fn metrics(&self) -> impl Iterator<Item = (&'f str, f64)> + use<'f> {
        let case = *self;
        let known = self.frame.metrics.iter().map(String::as_str).chain([names::SECONDS_GRID]);
        known.filter_map(move |name| Some((name, case.metric(name)?)))
    }

    /// Seconds of prepare and solve together.
    pub(crate) fn solver_seconds(&self) -> Option<f64> {
        self.cells().solver_seconds()
    }

    /// Its trace points.
    pub(crate) fn trace(&self) -> impl DoubleEndedIterator<Item = Cells<'f>> + ExactSizeIterator + use<'f> {
        self.rows_of(&self.frame.traces)
    }

    /// Whether some trace point has a metric.
    pub(crate) fn is_traced(&self, metric: &str) -> bool {
        self.trace().any(|point| point.number(metric).is_some())
    }

    /// Its outer steps, or the evaluations of a learner.
    pub(crate) fn steps(&self) -> impl DoubleEndedIterator<Item = Cells<'f>> + ExactSizeIterator + use<'f> {
        self.rows_of(&self.frame.steps)
    }

    fn rows_of(
        &self,
        nested: &'f Nested,
    ) -> std::iter::Map<Range<usize>, impl FnMut(usize) -> Cells<'f> + use<'f>> {
        let timed = self.timed;
        nested.rows_of(self.at).map(move |row| Cells { table: &nested.table, row, timed })
    }

    fn cells(&self) -> Cells<'f> {
        Cells { table: &self.frame.results, row: self.at, timed: self.timed }
    }
}
