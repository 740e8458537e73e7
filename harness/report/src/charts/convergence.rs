//! Several errors of a solve side by side, against seconds (Lin et al. 2023, Figures 3, 5 and 8), and numbers that
//! solvers report, against iterations (Figure 2).

use gpbench_record::metric::{self, Shown};
use gpbench_record::{TaskKind, names};

use super::curve::{Mean, curve, path};
use super::figure::{Drawn, Figure, series, solvers};
use super::panel::{Line, Panel};
use super::progress::RESIDUALS;
use super::scale::Axis;
use crate::clock::Clock;
use crate::problem::GroupProblem;
use crate::results::Results;

/// Height of a row of panels.
const ROW: u32 = 270;

/// All errors that are traced, one panel each. The residual has a chart of its own.
pub(crate) fn errors_figure(
    results: &Results<'_>,
    task: TaskKind,
    problem: &GroupProblem,
    what: &str,
) -> Drawn {
    let traced = metric::shown(task, Shown::Trace).filter(|metric| !RESIDUALS.contains(&metric.name));
    let panels: Vec<Panel> = traced
        .filter_map(|metric| {
            let (y, mean) = (Axis::of(metric), Mean::of_metric(metric));
            panel(results, problem, metric.name, y, Clock::Seconds, mean)
        })
        .collect();
    // One error alone has a chart of its own.
    if panels.len() < 2 {
        return Ok(None);
    }
    let title = format!("Convergence: {what}");
    let svg = sheet_of(results, &title, &panels)?;
    let caption = "Errors of the current iterate against seconds of prepare and solve: geometric mean over seeds \
                   (arithmetic for the NLL). Each seed's last value is carried forward; the band spans the lowest to \
                   the highest seed. ||e||_K² = eᵀKe is the squared distance of the posterior means in the kernel's \
                   Hilbert space. A marker that points down lies below the axis, at the value beside it.";
    Ok(Some(Figure::new("convergence", what, title, caption, svg)))
}

/// Numbers that solvers report along the trace, one panel each.
pub(crate) fn own_numbers_figure(results: &Results<'_>, problem: &GroupProblem, what: &str) -> Drawn {
    let panels: Vec<Panel> = results
        .cases
        .traced(names::OF_SOLVER)
        .filter_map(|name| {
            let label = name.trim_start_matches(names::OF_SOLVER).replace('_', " ");
            panel(results, problem, name, Axis { label, log: true }, Clock::Iterations, Mean::Geometric)
        })
        .collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let title = format!("The solvers' own numbers: {what}");
    let svg = sheet_of(results, &title, &panels)?;
    let caption = "Numbers that solvers report, against their iterations: geometric mean over seeds; the band spans \
                   the lowest to the highest seed. The harness does not check them.";
    Ok(Some(Figure::new("own-numbers", what, title, caption, svg)))
}

/// A panel with one curve a solver; absent where none has two points.
fn panel(
    results: &Results<'_>,
    problem: &GroupProblem,
    metric: &str,
    y: Axis,
    clock: Clock,
    mean: Mean,
) -> Option<Panel> {
    let mut lines = Vec::new();
    for group in results.of_problem(problem) {
        // Every case has the end; a curve needs a trace.
        let traced = results.of(group).any(|case| case.is_traced(metric));
        let paths: Vec<_> =
            results.of(group).filter(|_| traced).map(|case| path(&case, metric, clock)).collect();
        if let Some(curve) = curve(&paths, true, mean) {
            lines.push(Line { series: series(results, &group.solver), curve, dashed: false });
        }
    }
    let x = Axis { label: clock.metric().axis.to_owned(), log: true };
    let panel = Panel { x, y, lines, ..Panel::default() };
    (!panel.lines.is_empty()).then_some(panel)
}

fn sheet_of(
    results: &Results<'_>,
    title: &str,
    panels: &[Panel],
) -> Result<String, Box<dyn std::error::Error>> {
    let columns = panels.len().min(2);
    let rows = panels.len().div_ceil(columns);
    let drawn = |solver: &str| panels.iter().any(|panel| panel.has_line_of(solver));
    let height = 80 + ROW * rows as u32 + if rows == 1 { 70 } else { 0 };
    results.form.panels(title, &solvers(results, drawn), panels, columns, height)
}
