//! Work-precision curves: the verified error of predictions along cases, one panel a problem.

use std::collections::BTreeMap;

use gpbench_statistics::profile::{ErrorTrace, decade_grid, work_precision};

use super::curve::Curve;
use super::figure::{Drawn, Figure, series, solvers};
use super::legend::{Entry, Sample};
use super::marker::Marker;
use super::panel::{Dot, Line, Panel};
use super::scale::Axis;
use super::series::Series;
use crate::clock::Clock;
use crate::problem::GroupProblem;
use crate::results::Results;
use crate::runtimes::{Measure, error_traces, predictions};

/// Height of a row of panels.
const ROW: u32 = 320;

const CAPTION: &str = "\
along one run each: the geometric mean over seeds at each cost, of which there are \
ten in a decade, with the last verified value of each seed. A curve begins where every seed has a value, and ends with the last seed \
or, at a cross, with the first that failed. A marker that points down lies below the axis, at the value beside it.";

/// Errors against seconds.
pub(crate) fn figure(results: &Results<'_>) -> Drawn {
    let problems = results.problems().into_iter();
    let panels: Vec<Panel> = problems.filter_map(|problem| panel(results, problem)).collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let mut entries = solvers(results, |solver| panels.iter().any(|panel| panel.has(solver)));
    if panels.iter().any(|panel| !panel.crosses.is_empty()) {
        entries.push(Entry::new("a seed failed", Sample::Marker(Marker::Cross)));
    }
    let columns = panels.len().min(2);
    let height = 80 + ROW * panels.len().div_ceil(columns) as u32;
    let (error, words) = match predictions(results) {
        Measure::TestError => ("test RMSE", "Test RMSE"),
        _ => ("distance to the exact prediction", "RMSE to the exact mean over the exact test RMSE"),
    };
    let title = format!("Work and precision: {error} against seconds");
    let svg = results.form.panels(&title, &entries, &panels, columns, height)?;
    Ok(Some(Figure::new("work-precision", "", title, format!("{words}, {CAPTION}"), svg)))
}

/// The curves of a problem; `None` unless two solvers have one, and one of these more than a point.
fn panel(results: &Results<'_>, problem: &GroupProblem) -> Option<Panel> {
    let traces = error_traces(results, problem, Clock::Seconds);
    let error = match predictions(results) {
        Measure::TestError => "test RMSE",
        _ => "RMSE to exact / exact RMSE",
    };
    let mut panel = Panel {
        title: Some(results.problem_title(problem)),
        x: Axis { label: Clock::Seconds.metric().axis.to_owned(), log: true },
        y: Axis { label: error.to_owned(), log: true },
        ..Panel::default()
    };
    for group in results.of_problem(problem) {
        add(&mut panel, series(results, &group.solver), &traces);
    }
    (panel.lines.len() + panel.dots.len() > 1 && !panel.lines.is_empty()).then_some(panel)
}

/// Adds the curve of a solver, or the only point of one, where it has one.
fn add(panel: &mut Panel, series: Series, traces: &BTreeMap<&str, Vec<ErrorTrace>>) {
    let Some((curve, failed)) = traces.get(series.name.as_str()).and_then(|runs| curve(runs)) else { return };
    let (Some(x), Some(y)) = (curve.at.last().copied(), curve.middle.last().copied()) else { return };
    if failed {
        panel.crosses.push((series.clone(), (x, y)));
    }
    if curve.at.len() > 1 {
        panel.lines.push(Line { series, curve, dashed: false });
    } else {
        panel.dots.push(Dot { series, at: (x, y), x_range: (x, x), y_range: (y, y), hollow: false });
    }
}

/// The curve of some runs, and whether a failed one ends it.
fn curve(runs: &[ErrorTrace]) -> Option<(Curve, bool)> {
    let costs =
        || runs.iter().flat_map(|run| run.trace.iter().map(|(cost, _)| *cost)).filter(|cost| *cost > 0.0);
    let grid = decade_grid(costs().reduce(f64::min)?, costs().reduce(f64::max)?);
    let errors = work_precision(runs, &grid);
    let points = grid.into_iter().zip(errors).skip_while(|(_, error)| error.is_none());
    let mut curve = Curve::default();
    for (cost, error) in points.map_while(|(cost, error)| Some((cost, error?))) {
        curve.push(cost, error, (error, error));
    }
    (!curve.at.is_empty()).then(|| (curve, runs.iter().any(|run| run.failed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_ends_with_a_seed_that_failed() {
        let run = |costs: &[f64], failed: bool| ErrorTrace {
            trace: costs.iter().map(|cost| (*cost, 1.0 / cost)).collect(),
            failed,
        };
        let (whole, failed) = curve(&[run(&[1.0, 10.0], false), run(&[2.0, 100.0], false)]).unwrap();
        assert!(!failed && whole.at[0] >= 2.0 && *whole.at.last().unwrap() >= 99.9);
        assert!((whole.middle.last().unwrap() - 0.001_f64.sqrt()).abs() < 1e-12);
        let (cut, failed) = curve(&[run(&[1.0, 10.0], true), run(&[2.0, 100.0], false)]).unwrap();
        assert!(failed && *cut.at.last().unwrap() < 10.1);
        assert!(curve(&[run(&[], true), run(&[1.0, 2.0], false)]).is_none() && curve(&[]).is_none());
    }
}
