//! A metric over the runs of a spec.

use super::curve::Curve;
use super::form::ChartForm;
use super::legend::Entry;
use super::panel::{Dot, Line, Panel};
use super::scale::Axis;
use super::series::{Look, Series};
use crate::error::{Error, Result};
use crate::history::{History, Point};
use crate::problem::GroupProblem;
use crate::results::once_each;

/// Height of a row of panels, and of what is above them.
const ROW: u32 = 290;
const HEAD: u32 = 90;

/// A history as SVG: one panel for each problem, one curve for each solver; runs from left to right, the newest last.
///
/// # Errors
/// If it cannot be drawn.
pub fn history_chart(history: &History, form: ChartForm) -> Result<String> {
    let points = &history.points;
    let solvers: Vec<&str> = once_each(points.iter().map(|point| point.solver.as_str()));
    let all: Vec<Series> =
        solvers.iter().enumerate().map(|(i, solver)| Series::new(solver, Look::nth(i))).collect();
    let runs: Vec<&str> = once_each(points.iter().map(|point| point.run.as_str()));
    let problems: Vec<&GroupProblem> = once_each(points.iter().map(|point| &point.problem));
    let panels: Vec<Panel> = problems.iter().map(|problem| panel(history, problem, &runs, &all)).collect();
    sheet(&format!("{} over runs: {}", history.metric.title, history.name), &all, &panels, form)
}

/// Panels of several problems as one chart.
///
/// # Errors
/// If it cannot be drawn.
pub(super) fn sheet(title: &str, all: &[Series], panels: &[Panel], form: ChartForm) -> Result<String> {
    let entries: Vec<Entry> = all.iter().cloned().map(Entry::Series).collect();
    let columns = panels.len().clamp(1, 2);
    let height = HEAD + ROW * panels.len().div_ceil(columns) as u32;
    form.panels(title, &entries, panels, columns, height).map_err(|error| Error::Chart(error.to_string()))
}

fn panel(history: &History, problem: &GroupProblem, runs: &[&str], all: &[Series]) -> Panel {
    let own = || history.points.iter().filter(|point| point.problem == *problem);
    let place =
        |point: &Point| 1.0 + runs.iter().position(|run| *run == point.run).unwrap_or_default() as f64;
    let is_positive = own().all(|point| point.lowest > 0.0);
    let y = Axis::of(history.metric);
    let mut panel = Panel {
        title: Some(problem_title(problem)),
        x: Axis { label: "run: date, revision".to_owned(), log: false },
        y: Axis { log: y.log && is_positive, ..y },
        names: runs.iter().map(|run| name(history, run)).collect(),
        ..Panel::default()
    };
    for series in all {
        let mut curve = Curve::default();
        for point in own().filter(|point| point.solver == series.name) {
            let (x, ends) = (place(point), (point.lowest, point.highest));
            let at = (x, point.mean);
            panel.dots.push(Dot {
                series: series.clone(),
                at,
                x_range: (x, x),
                y_range: ends,
                hollow: false,
            });
            curve.push(x, point.mean, ends);
        }
        if curve.at.len() > 1 {
            panel.lines.push(Line { series: series.clone(), curve, dashed: false });
        }
    }
    panel
}

/// The title of a problem's panel.
pub(super) fn problem_title(GroupProblem { dataset, kernel, estimator }: &GroupProblem) -> String {
    [Some(dataset), Some(kernel), estimator.as_ref()]
        .into_iter()
        .flatten()
        .cloned()
        .collect::<Vec<_>>()
        .join(" · ")
}

/// Label of a run below the axis: month, day, and revision where there is one.
fn name(history: &History, run: &str) -> String {
    let Some(point) = history.points.iter().find(|point| point.run == run) else { return run.to_owned() };
    let day = point.finished.get(5..10).unwrap_or(&point.finished);
    let revision = point.revision();
    format!("{day} {}", revision.get(..7).unwrap_or(&revision)).trim_end().to_owned()
}
