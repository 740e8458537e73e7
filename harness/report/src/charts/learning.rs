//! Quality of learners' models along passes and seconds.

use gpbench_record::metric::{self, Metric, Shown};
use gpbench_record::{TaskKind, names};

use super::curve::{Curve, Mean, Path, curve, range};
use super::figure::{Drawn, Figure, series, solvers};
use super::panel::{Line, Panel};
use super::scale::Axis;
use crate::frame::{CaseView, Cells};
use crate::problem::GroupProblem;
use crate::results::Results;

/// Height of a row of panels.
const ROW: u32 = 250;

/// Metrics that are drawn against passes and against seconds.
const QUALITIES: [&str; 5] =
    [names::NLML, names::BOUND, names::CLAIMED_OBJECTIVE, names::TEST_RMSE, names::TEST_NLL];

/// The horizontal axis of an evaluation.
#[derive(Clone, Copy)]
enum Along {
    Passes,
    Seconds,
}

impl Along {
    fn label(self) -> &'static str {
        match self {
            Along::Passes => "passes over the training rows",
            Along::Seconds => "seconds",
        }
    }

    /// Place of an evaluation.
    fn of_evaluation(self, evaluation: &Cells<'_>) -> Option<f64> {
        match self {
            Along::Passes => evaluation.number(names::PASSES),
            Along::Seconds => evaluation.solver_seconds(),
        }
    }

    /// Place of a point of the trace, which has the numbers that a learner reports of its steps.
    fn of_point(self, point: &Cells<'_>) -> Option<f64> {
        match self {
            Along::Passes => point.number(names::PASSES),
            Along::Seconds => point.number(names::SECONDS),
        }
    }
}

/// Qualities of the models of a problem: on the left against passes, on the right against seconds.
pub(crate) fn figure(results: &Results<'_>, problem: &GroupProblem, what: &str) -> Drawn {
    let mut panels = Vec::new();
    for metric in QUALITIES.into_iter().filter_map(metric::find) {
        let both = [Along::Passes, Along::Seconds]
            .map(|along| panel(results, problem, metric.name, axis(metric), Mean::Arithmetic, along));
        panels.extend(both.into_iter().flatten());
    }
    let caption = "At each evaluation, by the model of then: mean over seeds; the band spans the lowest to the highest seed. \
                   Seconds are those of the learner, setup included, without evaluations. The objective is each method's \
                   own, and so comparable within a method only. Where a parameter has a grid, the chosen value is drawn. What \
                   lies above an axis runs along its upper edge.";
    sheet_of(results, "learning", what, format!("Learning: {what}"), &panels, caption)
}

/// The learners' own numbers along the passes.
pub(crate) fn own_numbers_figure(results: &Results<'_>, problem: &GroupProblem, what: &str) -> Drawn {
    let panels = results.cases.traced(names::OF_SOLVER).filter_map(|name| {
        let label = name.trim_start_matches(names::OF_SOLVER).replace('_', " ");
        let axis = Axis { label, log: true };
        panel(results, problem, name, axis, Mean::Geometric, Along::Passes)
    });
    let panels: Vec<Panel> = panels.collect();
    let caption = "Numbers that learners report, against passes: geometric mean over seeds; the band spans the lowest to \
                   the highest seed. The harness does not check them.";
    sheet_of(results, "learners-own", what, format!("The learners' own numbers: {what}"), &panels, caption)
}

/// The axis of a quality: logarithmic for errors alone.
fn axis(metric: &Metric) -> Axis {
    let is_error = metric.name == names::TEST_RMSE;
    debug_assert!(metric.is_shown(Shown::Steps) && metric.is_of(TaskKind::Learn), "{}", metric.name);
    Axis { label: metric.axis.to_owned(), log: is_error }
}

/// A number of the evaluations, one curve a learner; none where no learner has it at two evaluations.
fn panel(
    results: &Results<'_>,
    problem: &GroupProblem,
    name: &str,
    y: Axis,
    mean: Mean,
    along: Along,
) -> Option<Panel> {
    let mut lines = Vec::new();
    for group in results.of_problem(problem) {
        let paths: Vec<Path> = results.of(group).map(|case| path(&case, name, y.log, along)).collect();
        if let Some(curve) = at_same_places(&paths, mean).or_else(|| curve(&paths, true, mean)) {
            lines.push(Line { series: series(results, &group.solver), curve, dashed: false });
        }
    }
    let x = Axis { label: along.label().to_owned(), log: true };
    let cut_high = !y.log;
    let panel = Panel { x, y, lines, cut_high, ..Panel::default() };
    (!panel.lines.is_empty()).then_some(panel)
}

/// The curve through the places of all cases, where these are the same, as passes are; none with fewer than two places.
fn at_same_places(paths: &[Path], mean: Mean) -> Option<Curve> {
    let paths: Vec<&Path> = paths.iter().filter(|path| !path.is_empty()).collect();
    let (first, rest) = paths.split_first()?;
    let is_same = |other: &&Path| other.iter().map(|point| point.0).eq(first.iter().map(|point| point.0));
    if first.len() < 2 || first[0].0 <= 0.0 || !rest.iter().all(is_same) {
        return None;
    }
    let mut curve = Curve::default();
    for (i, (at, _)) in first.iter().enumerate() {
        let values: Vec<f64> = paths.iter().map(|path| path[i].1).collect();
        curve.push(*at, mean.of(&values), range(&values));
    }
    Some(curve)
}

/// A number along a case: of its steps where the trace has it, else of its evaluations.
fn path(case: &CaseView<'_>, name: &str, log: bool, along: Along) -> Path {
    if !case.is_answer() {
        return Vec::new();
    }
    let steps = case.trace().filter_map(|step| Some((along.of_point(&step)?, step.number(name)?)));
    let mut path: Path = steps.collect();
    if path.is_empty() {
        let evaluations = case.steps();
        path = evaluations.filter_map(|own| Some((along.of_evaluation(&own)?, own.number(name)?))).collect();
    }
    path.retain(|(at, value)| at.is_finite() && value.is_finite() && (!log || *value > 0.0));
    path
}

fn sheet_of(
    results: &Results<'_>,
    kind: &str,
    what: &str,
    title: String,
    panels: &[Panel],
    caption: &str,
) -> Drawn {
    if panels.is_empty() {
        return Ok(None);
    }
    let drawn = |solver: &str| panels.iter().any(|panel| panel.has_line_of(solver));
    let columns = panels.len().min(2);
    let height = 100 + ROW * panels.len().div_ceil(columns) as u32;
    let svg = results.form.panels(&title, &solvers(results, drawn), panels, columns, height)?;
    Ok(Some(Figure::new(kind, what, title, caption, svg)))
}
