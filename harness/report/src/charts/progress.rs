//! How residuals and predictions get better along the way, one chart a problem.

use gpbench_record::{Row, names};

use super::curve::{Clock, Mean, Path, curve, geometric_mean, path, range};
use super::panel::{Dot, Line, Panel};
use super::scale::Axis;
use super::style::{Entry, Look, Sample, heading, legend, sheet};
use super::{Drawn, Figure, Sheet, file_name};
use crate::aggregate::Problem;
use crate::metric;
use crate::tables::in_group;

/// Size of a chart with one panel.
const SIZE: (u32, u32) = (760, 440);

/// Ratio between the longest and the shortest curve from which a clock is drawn logarithmic.
const WIDE: f64 = 15.0;

/// The relative residual of y against epochs, true and claimed.
pub(super) fn residual_figure(sheet: &Sheet<'_>, problem: &Problem, what: &str) -> Drawn {
    let mut chart = Chart::new(sheet, problem, Clock::Epochs, true);
    let traced = chart.add(names::RESIDUAL_Y, false);
    let claimed = chart.add(names::CLAIMED_Y, true);
    if !traced && !claimed {
        return Ok(None);
    }
    let tolerances: Vec<f64> = chart.rows().filter_map(|r| r.case.budget.tolerance).collect();
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
        file_name("residual-epochs", what),
        format!("Residual against epochs: {what}"),
        "Relative residual norm of y against epochs (n² kernel entries used); geometric mean over seeds, the band \
         from the lowest to the highest. Dashed: what the solver reports along the way. Hollow markers: recomputed \
         in double precision after the end. A marker that points down lies below the axis, at the value beside it.",
        &kinds,
    )
}

/// Distance of the predictions to the exact ones, or to the test targets, along a clock.
pub(super) fn quality_figure(sheet: &Sheet<'_>, problem: &Problem, what: &str, clock: Clock) -> Drawn {
    let traced = |metric: &str| {
        let rows = sheet.run.rows.iter().filter(|r| Problem::of(&r.labels) == *problem);
        rows.flat_map(|r| &r.trace).any(|p| p.metrics.get(metric).is_some())
    };
    let Some(name) = [names::RMSE_TO_EXACT, names::TEST_RMSE].into_iter().find(|m| traced(m)) else {
        return Ok(None);
    };
    let mut chart = Chart::new(sheet, problem, clock, clock == Clock::Seconds);
    if !chart.add(name, false) {
        return Ok(None);
    }
    chart.panel.y.label = metric::find(name).map_or(name, |m| m.axis).to_owned();
    let (kind, word) = match clock {
        Clock::Seconds => ("quality-seconds", "time"),
        Clock::Epochs => ("quality-epochs", "epochs"),
        Clock::Iterations => ("quality-iterations", "iterations"),
    };
    let subject = if name == names::TEST_RMSE { "Test RMSE" } else { "Distance to the exact prediction" };
    chart.figure(
        file_name(kind, what),
        format!("{subject} against {word}: {what}"),
        "Geometric mean over seeds, each seed's last value carried forward on a common grid; the band spans the \
         lowest to the highest seed. Single markers: methods that give one answer at the end; one that points down \
         lies below the axis, at the value beside it.",
        &[],
    )
}

/// A chart of one problem while it is put together.
struct Chart<'a> {
    sheet: &'a Sheet<'a>,
    problem: &'a Problem,
    clock: Clock,
    panel: Panel,
}

impl<'a> Chart<'a> {
    fn new(sheet: &'a Sheet<'a>, problem: &'a Problem, clock: Clock, may_be_log: bool) -> Chart<'a> {
        let x = Axis { label: clock.label().to_owned(), log: clock == Clock::Seconds };
        let y = Axis { label: "relative residual of y".to_owned(), log: true };
        let panel = Panel { x, y, ..Panel::default() };
        let mut chart = Chart { sheet, problem, clock, panel };
        if may_be_log || clock == Clock::Epochs {
            chart.panel.x.log |= chart.is_wide();
        }
        chart
    }

    fn rows(&self) -> impl Iterator<Item = &'a Row> {
        let problem = self.problem;
        self.sheet.run.rows.iter().filter(move |r| Problem::of(&r.labels) == *problem)
    }

    /// Whether the solvers' clocks end at very different places.
    fn is_wide(&self) -> bool {
        let traced = self.rows().filter(|r| r.trace.len() > 1);
        let ends: Vec<f64> =
            traced.filter_map(|r| r.metrics.get(names::EPOCHS)).filter(|e| *e > 0.0).collect();
        let (low, high) = range(&ends);
        high > WIDE * low
    }

    /// Adds a metric of every solver: a curve where there is a trace, a point where there is only an end.
    /// Returns whether it added a curve.
    fn add(&mut self, metric: &str, dashed: bool) -> bool {
        let before = self.panel.lines.len();
        for group in self.sheet.of(self.problem) {
            let look = self.sheet.look(&group.solver);
            let rows = self.sheet.run.rows.iter().filter(|r| in_group(r, group));
            let paths: Vec<Path> =
                rows.map(|r| path(r, metric, self.clock)).filter(|p| !p.is_empty()).collect();
            match curve(&paths, self.panel.x.log, Mean::Geometric) {
                Some(curve) => self.panel.lines.push(Line { look, curve, dashed }),
                None if !dashed => self.panel.dots.extend(dot(look, &paths, metric == names::RESIDUAL_Y)),
                None => {}
            }
        }
        self.panel.lines.len() > before
    }

    fn figure(self, file: String, title: String, caption: &str, kinds: &[Entry]) -> Drawn {
        let looks: Vec<Look> =
            self.panel.lines.iter().map(|l| l.look).chain(self.panel.dots.iter().map(|d| d.look)).collect();
        let mut entries = self.sheet.legend(|s| looks.contains(&self.sheet.look(s)));
        entries.extend_from_slice(kinds);
        let svg = sheet(SIZE, |root| {
            heading(root, &title)?;
            let top = legend(root, &entries)?;
            self.panel.draw(root, &root.margin(top, 4, 8, 4))
        })?;
        Ok(Some(Figure { file, title, caption: caption.to_owned(), svg }))
    }
}

/// Where the cases of a solver ended.
fn dot(look: Look, paths: &[Path], hollow: bool) -> Option<Dot> {
    let ends: Vec<(f64, f64)> = paths.iter().filter_map(|p| p.last().copied()).collect();
    let (at, values): (Vec<f64>, Vec<f64>) = ends.into_iter().unzip();
    (!at.is_empty()).then(|| Dot {
        look,
        at: (geometric_mean(&at), geometric_mean(&values)),
        x_range: range(&at),
        y_range: range(&values),
        hollow,
    })
}
