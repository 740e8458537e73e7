//! Distance of learned hyperparameters to the optimum of the likelihood, along training and learning.

use gpbench_record::{metric, names};

use super::curve::{Mean, Path, curve};
use super::figure::{Drawn, Figure, other, series};
use super::legend::Entry;
use super::panel::{Line, Panel};
use super::scale::Axis;
use super::series::Series;
use crate::above_optimum;
use crate::aggregate::Group;
use crate::frame::{CaseView, Cells};
use crate::results::Results;

/// Height of the sheet.
const HEIGHT: u32 = 340;

/// Smallest distance that is drawn: searches end at gains of this size, and a logarithmic axis has no place for 0.
const SMALLEST: f64 = 1e-6;

/// What a step costs, on a horizontal axis.
#[derive(Clone, Copy)]
struct Along {
    label: &'static str,
    log: bool,
    /// The cost of a step, or up to an evaluation; `None` where it is not known.
    cost: fn(&Cells<'_>) -> Option<f64>,
}

const SECONDS: &str = "seconds";
const EPOCHS: &str = "epochs (n² kernel entries)";

/// Costs of a step of training.
const OF_TRAINING: [Along; 3] = [
    Along { label: "outer steps", log: false, cost: |_| Some(1.0) },
    Along { label: EPOCHS, log: true, cost: |step| step.number(names::EPOCHS) },
    Along { label: SECONDS, log: true, cost: seconds_of_step },
];

/// Costs up to an evaluation of a learner.
const OF_LEARNING: [Along; 2] = [
    Along { label: "passes over the training rows", log: true, cost: |look| look.number(names::PASSES) },
    Along { label: SECONDS, log: true, cost: |look| look.solver_seconds() },
];

fn seconds_of_step(step: &Cells<'_>) -> Option<f64> {
    Some(step.solver_seconds()? + step.number(names::SECONDS_OUTER)?)
}

/// The figure of training by some groups, of one data set and kernel.
pub(crate) fn training_figure(results: &Results<'_>, groups: &[&Group], what: &str) -> Drawn {
    let own = |(i, group): (usize, &&Group)| other(results, i, &results.label(group));
    let series: Vec<Series> = groups.iter().enumerate().map(own).collect();
    let panels = OF_TRAINING.iter().filter_map(|along| panel(results, groups, &series, *along, of_training));
    sheet(results, groups, series.clone(), &panels.collect::<Vec<_>>(), what)
}

/// The figure of learners, of one data set and kernel.
pub(crate) fn learning_figure(results: &Results<'_>, groups: &[&Group], what: &str) -> Drawn {
    let all: Vec<Series> = groups.iter().map(|group| series(results, &group.solver)).collect();
    let panels = OF_LEARNING.iter().filter_map(|along| panel(results, groups, &all, *along, of_learning));
    sheet(results, groups, all.clone(), &panels.collect::<Vec<_>>(), what)
}

/// Distances along a cost, one curve a group; none where no group has two.
fn panel(
    results: &Results<'_>,
    groups: &[&Group],
    series: &[Series],
    along: Along,
    path: fn(&CaseView<'_>, Along) -> Path,
) -> Option<Panel> {
    let line = |(group, series): (&&Group, &Series)| {
        let paths: Vec<Path> = results.of(group).map(|case| path(&case, along)).collect();
        let curve = curve(&paths, along.log, Mean::Geometric)?;
        Some(Line { series: series.clone(), curve, dashed: false })
    };
    let lines: Vec<Line> = groups.iter().zip(series).filter_map(line).collect();
    let axis = metric::find(names::OPTIMUM_DISTANCE).map(|metric| metric.axis.to_owned());
    let panel = Panel {
        x: Axis { label: along.label.to_owned(), log: along.log },
        y: Axis { label: axis.unwrap_or_default(), log: true },
        lines,
        ..Panel::default()
    };
    (!panel.lines.is_empty()).then_some(panel)
}

/// Distances along the steps of training: each at the cost of the steps before it, and that of the result at the cost
/// of all.
fn of_training(case: &CaseView<'_>, along: Along) -> Path {
    if !case.is_answer() {
        return Path::new();
    }
    let (mut path, mut spent) = (Path::new(), 0.0);
    for step in case.steps() {
        path.extend(distance(step.number(names::OPTIMUM_DISTANCE)).map(|distance| (spent, distance)));
        let Some(cost) = (along.cost)(&step) else { return Path::new() };
        spent += cost;
    }
    path.extend(distance(case.metric(names::OPTIMUM_DISTANCE)).map(|distance| (spent, distance)));
    path
}

/// Distances along the evaluations of a learner.
fn of_learning(case: &CaseView<'_>, along: Along) -> Path {
    let looks = case.steps().filter(|_| case.is_answer());
    looks
        .filter_map(|look| Some(((along.cost)(&look)?, distance(look.number(names::OPTIMUM_DISTANCE))?)))
        .collect()
}

/// A distance as it is drawn.
fn distance(known: Option<f64>) -> Option<f64> {
    known.map(|known| known.max(SMALLEST))
}

fn sheet(
    results: &Results<'_>,
    groups: &[&Group],
    series: Vec<Series>,
    panels: &[Panel],
    what: &str,
) -> Drawn {
    let Some(of) = above_optimum::caption(results, groups).filter(|_| !panels.is_empty()) else {
        return Ok(None);
    };
    let entries: Vec<Entry> = series.into_iter().map(Entry::Series).collect();
    let title = format!("Distance to the optimum: {what}");
    let svg = results.form.panels(&title, &entries, panels, panels.len(), HEIGHT)?;
    let caption = format!(
        "{of} Geometric mean over seeds; the band spans the lowest to the highest seed. Distances below 1e-6 are drawn there. \
         Costs are those of the work up to a point, without the search for the optimum and without evaluations."
    );
    Ok(Some(Figure::new("optimum", what, title, caption, svg)))
}
