//! Values found by Thompson sampling against points, seconds and kernel entries (Lin et al. 2023, Figures 6 and 9).

use gpbench_record::{counted, metric};

use super::curve::{Curve, range};
use super::figure::{Drawn, Figure, other, series, solvers};
use super::legend::Entry;
use super::panel::{Line, Panel};
use super::scale::Axis;
use super::series::Series;
use crate::aggregate::MeanWithError;
use crate::results::Results;
use crate::search::{Measure, Search, Stop, Target};
use crate::search_pool::Pool;

/// Height of a row of panels.
const ROW: u32 = 290;

/// Ratio between the seconds of the slowest and the fastest solver from which their axis is logarithmic.
const WIDE: f64 = 15.0;

/// Largest difference that is not drawn.
const ROUNDING: f64 = 1e-6;

/// Part of the caption about all curves.
const CURVES: &str = "The band is one standard error on either side. Objectives differ more than solvers do, and bands have \
                      the spread of both: panels and tables of differences compare pairs. Seconds are those of all parts. \
                      A case that took fewer steps keeps its last value.";

/// The horizontal axis of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Along {
    Points,
    Seconds,
    Entries,
}

impl Along {
    fn of(self, stop: &Stop) -> f64 {
        match self {
            Along::Points => stop.points,
            Along::Seconds => stop.seconds(),
            Along::Entries => stop.entries,
        }
    }

    /// The axis for some searches, and how many of its units a second is, where it has seconds.
    fn axis(self, pool: &Pool<'_>) -> (Axis, f64) {
        let (label, log, unit) = match self {
            Along::Points => ("acquired points", false, 1.0),
            Along::Entries => ("kernel entries of the solves", true, 1.0),
            Along::Seconds => {
                let ends: Vec<f64> = pool.solvers.iter().map(|solver| seconds(pool, solver)).collect();
                let (least, most) = range(&ends);
                let (label, unit) = unit_of(most);
                (label, most > WIDE * least, unit)
            }
        };
        (Axis { label: label.to_owned(), log }, unit)
    }
}

/// Mean seconds of a solver's searches.
fn seconds(pool: &Pool<'_>, solver: &str) -> f64 {
    let seconds = pool.of(solver).map(|search| search.end().seconds());
    let seconds: Vec<f64> = seconds.filter(|seconds| seconds.is_finite()).collect();
    seconds.iter().sum::<f64>() / seconds.len().max(1) as f64
}

/// The unit of time in which so many seconds are written, and its share of a second.
fn unit_of(seconds: f64) -> (&'static str, f64) {
    match seconds {
        s if s >= 2.0 * 3600.0 => ("hours", 1.0 / 3600.0),
        s if s >= 5.0 * 60.0 => ("minutes", 1.0 / 60.0),
        _ => ("seconds", 1.0),
    }
}

/// All data sets of a pool together: against points, seconds and kernel entries, and the difference to the baseline.
pub(crate) fn figure(results: &Results<'_>, pool: &Pool<'_>) -> Drawn {
    let shared = pool.shared();
    let mut panels: Vec<Panel> = match pool.measure {
        Measure::Best => [Along::Points, Along::Seconds, Along::Entries]
            .into_iter()
            .filter_map(|along| panel(results, &shared, along, None))
            .collect(),
        Measure::Chosen => panel(results, &shared, Along::Points, None).into_iter().collect(),
    };
    panels.extend(differences(results, &shared));
    let (targets, datasets) = (shared.targets().len(), counted(shared.problems().len(), "data set"));
    let over = format!(
        "over the {targets} objectives ({datasets}, several seeds) that all solvers shown have searched"
    );
    let (kind, title, caption) = match pool.measure {
        Measure::Best => (
            "search",
            "Largest value found",
            format!("Mean of the largest value {over}, after the design and after each step. {CURVES}"),
        ),
        Measure::Chosen => (
            "chosen",
            "Values at the chosen points, where points of another run were acquired",
            format!(
                "Mean value at the points that the samples of each step chose, {over}. In each step all solvers have the \
                 same rows: the points of another run, whatever they choose. {CURVES}"
            ),
        ),
    };
    sheet_of(results, kind, &pool.title, title, &panels, &caption)
}

/// Each data set of a pool by itself, against points and seconds; none where there is only one.
pub(crate) fn datasets_figure(results: &Results<'_>, pool: &Pool<'_>) -> Drawn {
    let problems = pool.problems();
    if problems.len() < 2 || pool.measure == Measure::Chosen {
        return Ok(None);
    }
    let panels: Vec<Panel> = problems
        .into_iter()
        .flat_map(|problem| {
            let own = pool.of_problem(problem).shared();
            let title = results.problem_title(problem);
            [Along::Points, Along::Seconds].map(|along| panel(results, &own, along, Some(&title)))
        })
        .flatten()
        .collect();
    let caption = format!("Mean of the largest value over the seeds of a data set. {CURVES}");
    sheet_of(
        results,
        "search-data-sets",
        &pool.title,
        "Largest value found on each data set",
        &panels,
        &caption,
    )
}

/// The measure of a pool along a clock, one curve a solver, and random search; none where there is no curve.
fn panel(results: &Results<'_>, pool: &Pool<'_>, along: Along, title: Option<&str>) -> Option<Panel> {
    let (x, unit) = along.axis(pool);
    let at = |stop: &Stop| unit * along.of(stop);
    let line = |solver: &&str| {
        let searches: Vec<&Search> = pool.of(solver).collect();
        let value = |search: &Search, step: usize| pool.measure.of(search.stop(step));
        Some(Line {
            series: series(results, solver),
            curve: curve(&searches, x.log, at, value)?,
            dashed: false,
        })
    };
    let mut lines: Vec<Line> = pool.solvers.iter().filter_map(line).collect();
    if pool.measure == Measure::Best && !lines.is_empty() {
        lines.extend(random(results, pool, along, &lines));
    }
    let label = metric::find(pool.measure.metric()).map_or("", |metric| metric.axis);
    let y = Axis { label: label.to_owned(), log: false };
    let panel = Panel { title: title.map(str::to_owned), x, y, lines, ..Panel::default() };
    (!panel.lines.is_empty()).then_some(panel)
}

/// Random search on the targets of a pool: along the points, or else its last value, since it has no solves.
fn random(results: &Results<'_>, pool: &Pool<'_>, along: Along, others: &[Line]) -> Option<Line> {
    let known = |target: &Target| {
        pool.searches.iter().find(|search| search.target == *target && !search.random.is_empty())
    };
    let searches: Vec<&Search> = pool.targets().into_iter().filter_map(known).collect();
    let value = |search: &Search, step: usize| search.random.get(step).or(search.random.last()).copied();
    let mut curve = curve(&searches, false, |stop| stop.points, value)?;
    if along != Along::Points {
        let last = curve.at.len() - 1;
        let (middle, low, high) = (curve.middle[last], curve.low[last], curve.high[last]);
        let places: Vec<f64> = others.iter().flat_map(|line| line.curve.at.iter().copied()).collect();
        let (from, to) = range(&places);
        curve = Curve::default();
        [from, to].into_iter().for_each(|at| curve.push(at, middle, (low, high)));
    }
    Some(Line { series: random_search(results), curve, dashed: true })
}

fn random_search(results: &Results<'_>) -> Series {
    other(results, 0, "random search")
}

/// Difference of each solver's measure from the baseline's on the same targets, along the points.
fn differences(results: &Results<'_>, pool: &Pool<'_>) -> Option<Panel> {
    let baseline = pool.baseline?;
    let line = |solver: &&str| {
        let searches: Vec<&Search> = pool.of(solver).collect();
        let value = |search: &Search, step: usize| {
            let base = pool.base(&search.target)?;
            Some(pool.measure.of(search.stop(step))? - pool.measure.of(base.stop(step))?)
        };
        let curve = curve(&searches, false, |stop| stop.points, value)?;
        Some(Line { series: series(results, solver), curve, dashed: false })
    };
    let others = pool.solvers.iter().filter(|solver| **solver != baseline);
    let lines: Vec<Line> = others.filter_map(line).collect();
    // Solvers that choose the same points differ by rounding, which has no axis.
    let is_seen = |line: &Line| line.curve.middle.iter().any(|difference| difference.abs() > ROUNDING);
    if !lines.iter().any(is_seen) {
        return None;
    }
    let word = if pool.measure == Measure::Best { "largest value" } else { "chosen value" };
    let panel = Panel {
        x: Axis { label: "acquired points".to_owned(), log: false },
        y: Axis { label: format!("{word} less that of {baseline}"), log: false },
        lines,
        level: Some(0.0),
        ..Panel::default()
    };
    Some(panel)
}

/// The mean of a number after each step with its standard error, against the mean of what was spent; without places where a
/// search has no number, and where a logarithmic axis has no place for them.
pub(super) fn curve(
    searches: &[&Search],
    log: bool,
    at: impl Fn(&Stop) -> f64,
    value: impl Fn(&Search, usize) -> Option<f64>,
) -> Option<Curve> {
    let is_placed = |search: &&Search| at(search.end()).is_finite();
    let searches: Vec<&Search> = searches.iter().copied().filter(is_placed).collect();
    let length = searches.iter().map(|search| search.stops.len()).max()?;
    let mut curve = Curve::default();
    for step in 0..length {
        let places: Vec<f64> = searches.iter().map(|search| at(search.stop(step))).collect();
        let values: Option<Vec<f64>> = searches.iter().map(|search| value(search, step)).collect();
        let mean = |values: &[f64]| MeanWithError::of(values, searches.len());
        let Some((place, value)) = mean(&places).zip(values.and_then(|values| mean(&values))) else {
            continue;
        };
        if !log || place.mean > 0.0 {
            let error = value.stderr.unwrap_or(0.0);
            curve.push(place.mean, value.mean, (value.mean - error, value.mean + error));
        }
    }
    (curve.at.len() > 1).then_some(curve)
}

/// A sheet of panels in two columns; none where there are no panels.
fn sheet_of(
    results: &Results<'_>,
    kind: &str,
    what: &str,
    title: &str,
    panels: &[Panel],
    caption: &str,
) -> Drawn {
    if panels.is_empty() {
        return Ok(None);
    }
    let mut entries = solvers(results, |solver| panels.iter().any(|panel| panel.has_line_of(solver)));
    let random = random_search(results);
    if panels.iter().any(|panel| panel.has_line_of(&random.name)) {
        entries.push(Entry::Series(random));
    }
    let title = if what.is_empty() { title.to_owned() } else { format!("{title}: {what}") };
    let columns = panels.len().min(2);
    let height = 90 + ROW * panels.len().div_ceil(columns) as u32;
    let svg = results.form.panels(&title, &entries, panels, columns, height)?;
    Ok(Some(Figure::new(kind, what, title, caption, svg)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::GroupProblem;

    fn search(seed: u64, seconds: f64, values: &[f64]) -> Search {
        let problem = GroupProblem { dataset: "d".into(), kernel: "k".into(), estimator: None };
        let stop = |(i, best): (usize, &f64)| Stop {
            points: 10.0 * i as f64,
            parts: [0.0, seconds * i as f64, 0.0, 0.0],
            entries: 100.0 * i as f64,
            best: *best,
            chosen: None,
        };
        Search {
            target: Target { problem, seed },
            solver: "cg".to_owned(),
            stops: values.iter().enumerate().map(stop).collect(),
            random: Vec::new(),
        }
    }

    #[test]
    fn means_are_over_what_was_found_and_spent_after_each_step() {
        let (long, short) = (search(0, 1.0, &[1.0, 2.0, 5.0]), search(1, 3.0, &[1.0, 4.0]));
        let best = |search: &Search, step: usize| Some(search.stop(step).best);
        let curve = curve(&[&long, &short], false, Stop::seconds, best).unwrap();
        // The shorter search keeps its last value and its seconds.
        assert_eq!((curve.at, curve.middle), (vec![0.0, 2.0, 2.5], vec![1.0, 3.0, 4.5]));
        assert_eq!((curve.low, curve.high), (vec![1.0, 2.0, 4.0], vec![1.0, 4.0, 5.0]));
        // A logarithmic axis has no place for the design.
        let logarithmic = super::curve(&[&long], true, |stop| stop.entries, best).unwrap();
        assert_eq!(logarithmic.at, [100.0, 200.0]);
        assert!(super::curve(&[&long], false, Stop::seconds, |_, _| None).is_none());
    }

    #[test]
    fn times_have_units_that_people_read() {
        let units = [12.0, 299.0, 300.0, 7199.0, 7200.0].map(|seconds| unit_of(seconds).0);
        assert_eq!(units, ["seconds", "seconds", "minutes", "minutes", "hours"]);
    }
}
