//! Residuals and predictions along a solve, one chart a problem.

use gpbench_record::metric::{self, Metric};
use gpbench_record::names;

use super::curve::{Mean, Path, curve, drawn_mean, path, range};
use super::figure::{Drawn, Figure, series, solvers};
use super::legend::{Entry, Sample};
use super::panel::{Dot, Line, Panel};
use super::scale::Axis;
use super::series::Series;
use crate::clock::Clock;
use crate::frame::CaseView;
use crate::problem::GroupProblem;
use crate::results::Results;
use crate::target::Limits;

/// Height of a chart.
const HEIGHT: u32 = 440;

/// Ratio between the longest and the shortest curve from which a clock is drawn logarithmic.
const WIDE: f64 = 15.0;

/// Metrics of the chart of residuals: the true residual of y, and the one that the solver claims.
pub(super) const RESIDUALS: [&str; 2] = [names::RESIDUAL_Y, names::CLAIMED_Y];

/// The relative residual of y against epochs, true and claimed.
pub(crate) fn residual_figure(results: &Results<'_>, problem: &GroupProblem, what: &str) -> Drawn {
    let [truth, claim] = RESIDUALS.map(|name| metric::find(name).expect("residuals are metrics"));
    let mut chart = Chart::new(results, problem, Clock::Epochs, truth);
    let traced = chart.add(truth.name, false);
    let claimed = chart.add(claim.name, true);
    if !traced && !claimed {
        return Ok(None);
    }
    let tolerances: Vec<f64> = chart.cases().filter_map(|case| case.case().budget.tolerance).collect();
    chart.panel.level = tolerances.first().copied().filter(|t| tolerances.iter().all(|o| o == t));
    let mut kinds = Vec::new();
    if claimed {
        kinds.push(Entry::new("reported by the solver", Sample::Line { dashed: true }));
    }
    if traced {
        kinds.push(Entry::new("recomputed", Sample::Line { dashed: false }));
    }
    if !chart.panel.dots.is_empty() {
        kinds.push(Entry::new("recomputed", Sample::Hollow));
    }
    if let Some(tolerance) = chart.panel.level {
        kinds.push(Entry::new(format!("tolerance {tolerance}"), Sample::Dotted));
    }
    chart.figure(
        "residual-epochs",
        what,
        format!("Residual against epochs: {what}"),
        "Relative residual norm of y against epochs (n² kernel entries used): geometric mean over seeds; the band \
         spans the lowest to the highest seed. Dashed: reported by the solver. Hollow markers: recomputed in double \
         precision after the end. A marker that points down lies below the axis, at the value beside it.",
        &kinds,
    )
}

/// Distance of the predictions to the exact ones, or else to the test targets, along a clock.
pub(crate) fn quality_figure(
    results: &Results<'_>,
    problem: &GroupProblem,
    what: &str,
    clock: Clock,
) -> Drawn {
    let traced = |metric: &str| results.cases_of(problem).any(|case| case.is_traced(metric));
    let target = results.cases.options().target.as_ref();
    // The metric of the target, or else the solver's own error.
    let mut qualities = [names::RMSE_TO_EXACT, names::TEST_RMSE];
    qualities.sort_by_key(|name| target.is_none_or(|target| target.metric != *name));
    let Some(name) = qualities.into_iter().find(|metric| traced(metric)) else {
        return Ok(None);
    };
    let quality = metric::find(name).expect("qualities are metrics");
    let mut chart = Chart::new(results, problem, clock, quality);
    if !chart.add(name, false) {
        return Ok(None);
    }
    let mut kinds = Vec::new();
    if let Some(target) = target.filter(|target| target.metric == name) {
        let limits = Limits::new(results.cases.rows(), target);
        let limits: Vec<f64> =
            chart.cases().filter_map(|case| limits.of(case.row())).filter(|limit| *limit > 0.0).collect();
        if !limits.is_empty() {
            chart.panel.level = Some(drawn_mean(&limits));
            kinds.push(Entry::new("target", Sample::Dotted));
        }
    }
    let (kind, word) = match clock {
        Clock::Seconds => ("quality-seconds", "time"),
        Clock::Epochs => ("quality-epochs", "epochs"),
        Clock::Iterations => ("quality-iterations", "iterations"),
    };
    let subject = if name == names::TEST_RMSE { "Test RMSE" } else { "Distance to the exact prediction" };
    let mut caption = "Geometric mean over seeds. Each seed's last value is carried forward on a common grid; the band spans \
                       the lowest to the highest seed. Single markers: methods with one answer, at the end. A marker that \
                       points down lies below the axis, at the value beside it."
        .to_owned();
    if chart.panel.level.is_some() {
        caption += " The dotted line is the target, its mean over seeds.";
    }
    chart.figure(kind, what, format!("{subject} against {word}: {what}"), &caption, &kinds)
}

/// A chart of one problem while it is put together.
struct Chart<'a> {
    results: &'a Results<'a>,
    problem: &'a GroupProblem,
    clock: Clock,
    panel: Panel,
}

impl<'a> Chart<'a> {
    fn new(results: &'a Results<'a>, problem: &'a GroupProblem, clock: Clock, metric: &Metric) -> Chart<'a> {
        let x = Axis { label: clock.metric().axis.to_owned(), log: clock == Clock::Seconds };
        let panel = Panel { x, y: Axis::of(metric), ..Panel::default() };
        let mut chart = Chart { results, problem, clock, panel };
        chart.panel.x.log |= chart.is_wide();
        chart
    }

    fn cases(&self) -> impl Iterator<Item = CaseView<'a>> {
        self.results.cases_of(self.problem)
    }

    /// Whether the solvers end at very different numbers of epochs.
    fn is_wide(&self) -> bool {
        let traced = self.cases().filter(|case| case.trace().len() > 1);
        let ends: Vec<f64> =
            traced.filter_map(|case| case.metric(names::EPOCHS)).filter(|e| *e > 0.0).collect();
        let (low, high) = range(&ends);
        high > WIDE * low
    }

    /// Adds a metric of every solver: a curve where there is a trace, a point where there is only an end.
    /// Returns whether it added a curve.
    fn add(&mut self, metric: &str, dashed: bool) -> bool {
        let before = self.panel.lines.len();
        for group in self.results.of_problem(self.problem) {
            let series = series(self.results, &group.solver);
            let paths = self.results.of(group).map(|case| path(&case, metric, self.clock));
            let paths: Vec<Path> = paths.filter(|path| !path.is_empty()).collect();
            match curve(&paths, self.panel.x.log, Mean::Geometric) {
                Some(curve) => self.panel.lines.push(Line { series, curve, dashed }),
                None if !dashed => self.panel.dots.extend(dot(series, &paths, metric == names::RESIDUAL_Y)),
                None => {}
            }
        }
        self.panel.lines.len() > before
    }

    fn figure(self, kind: &str, what: &str, title: String, caption: &str, kinds: &[Entry]) -> Drawn {
        let mut entries = solvers(self.results, |solver| self.panel.has(solver));
        entries.extend_from_slice(kinds);
        let svg = self.results.form.panels(&title, &entries, &[self.panel], 1, HEIGHT)?;
        Ok(Some(Figure::new(kind, what, title, caption, svg)))
    }
}

/// The ends of a solver's cases as one point.
fn dot(series: Series, paths: &[Path], hollow: bool) -> Option<Dot> {
    let ends: Vec<(f64, f64)> = paths.iter().filter_map(|p| p.last().copied()).collect();
    let (at, values): (Vec<f64>, Vec<f64>) = ends.into_iter().unzip();
    (!at.is_empty()).then(|| Dot {
        series,
        at: (drawn_mean(&at), drawn_mean(&values)),
        x_range: range(&at),
        y_range: range(&values),
        hollow,
    })
}
