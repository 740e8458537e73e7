//! Some cases of a run: rows of its frame.

use gpbench_record::{ReportOptions, Row, TaskKind};
use gpbench_runs::RunRecord;

use super::{CaseView, Frame};
use crate::run::{Run, noun, tasks};

/// Some cases of a run, in the order of its frame, each as this view shows it.
#[derive(Clone)]
pub(crate) struct Cases<'f> {
    pub(crate) frame: &'f Frame<'f>,
    all: Vec<CaseView<'f>>,
    /// Names on the solver axis, in the order of the spec.
    pub(crate) axis: Vec<&'f str>,
}

impl<'f> Cases<'f> {
    /// All cases of a frame.
    pub(crate) fn of(frame: &'f Frame<'f>) -> Cases<'f> {
        let record = &frame.run.record;
        let all = (0..record.rows.len()).map(|row| CaseView::new(frame, row)).collect();
        Cases { frame, all, axis: record.axes.solver.iter().map(String::as_str).collect() }
    }

    /// These cases, each as `shown` gives it; without those of which it gives nothing.
    pub(crate) fn with(&self, shown: impl Fn(&CaseView<'f>) -> Option<CaseView<'f>>) -> Cases<'f> {
        Cases { frame: self.frame, all: self.all.iter().filter_map(shown).collect(), axis: self.axis.clone() }
    }

    /// The cases that a condition holds for.
    pub(crate) fn filter(&self, mut is_kept: impl FnMut(&CaseView<'f>) -> bool) -> Cases<'f> {
        let all = self.all.iter().filter(|case| is_kept(case)).copied().collect();
        Cases { frame: self.frame, all, axis: self.axis.clone() }
    }

    /// The cases of a task.
    pub(crate) fn of_task(&self, task: TaskKind) -> Cases<'f> {
        self.filter(|case| case.case().task.kind() == task)
    }

    /// The cases.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = CaseView<'f>> + Clone {
        self.all.iter().copied()
    }

    /// The case at a place.
    pub(crate) fn at(&self, place: usize) -> CaseView<'f> {
        self.all[place]
    }

    /// The rows of the journal, for what views do not change.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &'f Row> + Clone + use<'f, '_> {
        self.all.iter().map(CaseView::row)
    }

    /// Number of cases.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The run.
    pub(crate) fn run(&self) -> &'f Run {
        self.frame.run
    }

    /// The content of the run's folder.
    pub(crate) fn record(&self) -> &'f RunRecord {
        &self.frame.run.record
    }

    /// Options of the spec's report.
    pub(crate) fn options(&self) -> &'f ReportOptions {
        &self.record().report
    }

    /// Names of the metrics that some case of the run has.
    pub(crate) fn metrics(&self) -> impl Iterator<Item = &'f str> {
        self.frame.metrics.iter().map(String::as_str)
    }

    /// Names of the metrics of trace points that begin with a prefix.
    pub(crate) fn traced(&self, prefix: &'static str) -> impl Iterator<Item = &'f str> {
        let names = self.frame.traces.table.columns().iter().map(|column| column.name().as_str());
        names.filter(move |name| name.starts_with(prefix))
    }

    /// The tasks that the cases belong to.
    pub(crate) fn tasks(&self) -> Vec<TaskKind> {
        tasks(self.rows())
    }

    /// `learner` or `solver`, by the task of the cases.
    pub(crate) fn noun(&self) -> &'static str {
        noun(&self.tasks())
    }

    /// Names of the solvers, in the order of the spec.
    pub(crate) fn solvers(&self) -> Vec<&'f str> {
        let mut names: Vec<&str> = self.iter().map(|case| case.solver()).collect();
        let place = |name: &str| self.axis.iter().position(|other| *other == name);
        names.sort_unstable();
        names.dedup();
        names.sort_by_key(|name| place(name).unwrap_or(usize::MAX));
        names
    }

    /// The solver that speed-ups are relative to: the spec's choice, else the first of several solvers.
    pub(crate) fn baseline_solver(&self) -> Option<&'f str> {
        let solvers = self.solvers();
        match &self.options().baseline {
            Some(name) => solvers.into_iter().find(|solver| solver == name),
            None => (solvers.len() > 1).then(|| solvers[0]),
        }
    }
}
