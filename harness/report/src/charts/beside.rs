//! A metric of a run and of archived ones.

use gpbench_record::metric::Metric;

use super::form::ChartForm;
use super::history::{problem_title, sheet};
use super::panel::{Dot, Panel};
use super::scale::Axis;
use super::series::{Look, Series};
use crate::beside::BesideArchive;
use crate::compare::Compared;
use crate::error::Result;
use crate::problem::GroupProblem;
use crate::results::once_each;

/// A run beside archived ones as SVG: one panel for each problem, one marker for each solver of each run; the run itself is
/// on the left.
///
/// # Errors
/// If it cannot be drawn.
pub fn beside_chart(beside: &BesideArchive, metric: &Metric, form: ChartForm) -> Result<String> {
    let rows: Vec<&Compared> = beside.rows.iter().filter(|row| row.metric.name == metric.name).collect();
    let solvers: Vec<&str> = once_each(rows.iter().map(|row| row.solver.as_str()));
    let all: Vec<Series> =
        solvers.iter().enumerate().map(|(i, solver)| Series::new(solver, Look::nth(i))).collect();
    let problems: Vec<&GroupProblem> = once_each(rows.iter().map(|row| &row.problem));
    let panels = problems.iter().map(|problem| {
        let own: Vec<&Compared> = rows.iter().copied().filter(|row| row.problem == **problem).collect();
        panel(beside, metric, problem, &own, &all)
    });
    sheet(&format!("{} beside the archive", metric.title), &all, &panels.collect::<Vec<_>>(), form)
}

fn panel(
    beside: &BesideArchive,
    metric: &Metric,
    problem: &GroupProblem,
    rows: &[&Compared],
    all: &[Series],
) -> Panel {
    let y = Axis::of(metric);
    let is_positive = rows.iter().flat_map(|row| row.means.iter().flatten()).all(|mean| *mean > 0.0);
    let dots = rows.iter().flat_map(|row| {
        let series = all.iter().find(|series| series.name == row.solver);
        let places =
            row.means.iter().enumerate().filter_map(|(run, mean)| Some((run as f64 + 1.0, (*mean)?)));
        places.filter_map(move |(x, mean)| {
            let (x_range, y_range) = ((x, x), (mean, mean));
            Some(Dot { series: series?.clone(), at: (x, mean), x_range, y_range, hollow: false })
        })
    });
    Panel {
        title: Some(problem_title(problem)),
        x: Axis { label: "run".to_owned(), log: false },
        y: Axis { log: y.log && is_positive, ..y },
        names: beside.runs.clone(),
        dots: dots.collect(),
        ..Panel::default()
    }
}
