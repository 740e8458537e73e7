//! Residuals, and what samples chose, along the steps of Thompson sampling.

use gpbench_record::metric::{self, Metric, Shown};
use gpbench_record::{TaskKind, names};

use super::figure::{Drawn, Figure, series, solvers};
use super::panel::Panel;
use super::training::{Quantity, panel};
use crate::aggregate::Group;
use crate::problem::GroupProblem;
use crate::results::Results;
use crate::search::Measure;
use crate::search_pool::measure;

/// Height of a row of panels.
const ROW: u32 = 280;

/// The metrics of the steps of a problem, one curve a solver.
pub(crate) fn figure(results: &Results<'_>, problem: &GroupProblem) -> Drawn {
    let groups: Vec<&Group> = results.of_problem(problem).collect();
    let own = |group: &Group| series(results, &group.solver);
    let panel = |metric| panel(results, &groups, &quantity(metric), own);
    let shown = metric::shown(TaskKind::Thompson, Shown::Steps).filter(|metric| metric.name != names::BEST);
    let panels: Vec<Panel> = shown.filter_map(panel).collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let what = results.problem_title(problem);
    let title = match measure(results) {
        Measure::Best => format!("Steps of Thompson sampling: {what}"),
        Measure::Chosen => format!("Steps of Thompson sampling, with the points of another run: {what}"),
    };
    let has_line = |solver: &str| panels.iter().any(|panel| panel.has_line_of(solver));
    let rows = panels.len().div_ceil(2) as u32;
    let svg = results.form.panels(&title, &solvers(results, has_line), &panels, 2, 90 + ROW * rows)?;
    let caption = "Of each step alone, its own systems and points: geometric mean over seeds, arithmetic where the axis is \
                   linear; the band spans the lowest to the highest seed. Residuals are recomputed in double precision. A \
                   sample less the objective, at the point that the sample chose, is what samples promise too much; it \
                   falls as the process learns the objective, and stays where samples are wrong.";
    Ok(Some(Figure::new("search-steps", &what, title, caption, svg)))
}

/// Values and shares of points are on linear axes: they may be negative or 0.
fn quantity(metric: &'static Metric) -> Quantity {
    let is_of_points = metric.tasks == [TaskKind::Thompson];
    if is_of_points { Quantity::linear(metric) } else { Quantity::metric(metric) }
}
