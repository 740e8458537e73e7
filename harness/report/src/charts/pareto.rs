//! Quality against time, one panel a problem.

use gpbench_record::metric::{self, Metric};
use gpbench_record::names;

use super::figure::{Drawn, Figure, series, solvers};
use super::panel::{Dot, Panel};
use super::scale::Axis;
use crate::aggregate::{Group, MeanWithError};
use crate::clock::Clock;
use crate::results::Results;

/// Height of a row of panels.
const ROW: u32 = 300;

const CAPTION: &str = "\
Mean over seeds with its standard error; lower left is better. The thin line joins the means that no other mean is below \
in both, whatever their errors. A marker that points down lies below the axis, at the value beside it.";

/// Part of the caption where some predictions are the learner's own.
const OWN: &str = " Hollow markers, which the line passes over: predictions that are the learner's own.";

/// Part of the caption where some times are not comparable.
const INCOMPARABLE: &str =
    " Hollow markers, which the line passes over: times that are compared with no others.";

/// One point a solver: total seconds against the distance to the exact prediction, or else the next known quality.
pub(crate) fn figure(results: &Results<'_>) -> Drawn {
    let qualities = [names::RMSE_TO_EXACT, names::TEST_RMSE, names::RESIDUAL_Y].into_iter();
    let mut known = qualities.filter(|name| results.groups.iter().any(|group| group.mean(name).is_some()));
    let Some(quality) = known.next().and_then(metric::find) else { return Ok(None) };
    let mut panels = Vec::new();
    for problem in results.problems() {
        let dots = results.of_problem(problem).filter_map(|group| dot(results, group, quality.name));
        let dots: Vec<Dot> = dots.collect();
        if dots.len() >= 2 {
            panels.push(panel(results.problem_title(problem), dots, quality));
        }
    }
    if panels.is_empty() {
        return Ok(None);
    }
    let columns = panels.len().min(2);
    let rows = panels.len().div_ceil(columns);
    let height = 70 + ROW * rows as u32 + if rows == 1 { 70 } else { 0 };
    let title = "Quality against time";
    let svg = results.form.panels(title, &solvers(results, |_| true), &panels, columns, height)?;
    let some = |is: &dyn Fn(&Group) -> bool, what| if results.groups.iter().any(is) { what } else { "" };
    let own = some(&|group| results.has_own_predictions(group), OWN);
    let incomparable = some(&|group| has_incomparable_times(results, group), INCOMPARABLE);
    let caption = format!("{CAPTION}{own}{incomparable}");
    Ok(Some(Figure::new("quality-time", "", title.to_owned(), caption, svg)))
}

fn panel(title: String, dots: Vec<Dot>, quality: &Metric) -> Panel {
    Panel {
        title: Some(title),
        x: Axis { label: Clock::Seconds.metric().axis.to_owned(), log: true },
        y: Axis::of(quality),
        backdrop: vec![frontier(&dots)],
        dots,
        ..Panel::default()
    }
}

fn dot(results: &Results<'_>, group: &Group, quality: &str) -> Option<Dot> {
    let (x, y) = (group.metrics.get(names::SECONDS)?, group.metrics.get(quality)?);
    let spread = |e: &MeanWithError| {
        let error = e.stderr.unwrap_or(0.0);
        // On a logarithmic axis a whisker must not reach zero.
        ((e.mean - error).max(0.1 * e.mean), e.mean + error)
    };
    Some(Dot {
        series: series(results, &group.solver),
        at: (x.mean, y.mean),
        x_range: spread(x),
        y_range: spread(y),
        hollow: results.has_own_predictions(group) || has_incomparable_times(results, group),
    })
}

fn has_incomparable_times(results: &Results<'_>, group: &Group) -> bool {
    !results.mark(group, names::SECONDS).is_empty()
}

/// Corners of the staircase of verified points that are not beaten in both coordinates.
fn frontier(dots: &[Dot]) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = dots.iter().filter(|dot| !dot.hollow).map(|dot| dot.at).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for point in points {
        match steps.last() {
            Some(last) if point.1 >= last.1 => {}
            Some(last) => steps.extend([(point.0, last.1), point]),
            None => steps.push(point),
        }
    }
    steps
}
