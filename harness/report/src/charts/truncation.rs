//! Results of training on truncated solves, beside exact training (Potapczynski et al. 2021, Figures 6 and S1).

use gpbench_record::metric::{self, Metric, Shown, Unit};
use gpbench_record::{Task, TaskKind, names};

use super::curve::{Curve, Mean, range};
use super::figure::{Drawn, Figure, method, other};
use super::legend::Entry;
use super::panel::{Dot, Line, Panel};
use super::scale::Axis;
use super::series::Series;
use crate::aggregate::Group;
use crate::estimator;
use crate::results::{Model, Results};

/// Height of a row of panels.
const ROW: u32 = 290;

/// Training by one solver of a plugin with one estimator: its groups by their mean number of iterations.
struct Way<'a> {
    plugin: &'a str,
    estimator: &'a str,
    groups: Vec<(f64, &'a Group)>,
}

/// The figure of a model with exact training and with solves that a number of iterations ends.
pub(crate) fn figure(results: &Results<'_>, model: Model<'_>) -> Drawn {
    let (ways, exact) = (ways(results, model), exact(results, model));
    let (Some(exact), false) = (exact, ways.is_empty()) else { return Ok(None) };
    let quality =
        metric::shown(TaskKind::Train, Shown::Trained).filter(|metric| metric.unit != Unit::Seconds);
    let several = ways.iter().any(|way| way.estimator != ways[0].estimator);
    let own = |(i, way): (usize, &Way<'_>)| match several {
        true => other(results, i, &format!("{} · {}", way.plugin, way.estimator)),
        false => method(results, way.plugin),
    };
    let all: Vec<Series> = ways.iter().enumerate().map(own).collect();
    let panels: Vec<Panel> = quality.map(|metric| panel(results, &ways, &all, exact, metric)).collect();
    let entries: Vec<Entry> = all.into_iter().map(Entry::Series).collect();
    let what = results.model_title(model);
    let title = format!("Training on truncated solves: {what}");
    let svg = results.form.panels(&title, &entries, &panels, panels.len(), 90 + ROW)?;
    let caption = "After training, by the mean number of iterations of a solve: geometric mean over seeds (arithmetic \
                   for the NLL), from the lowest to the highest seed. Dotted: exact training.";
    Ok(Some(Figure::new("truncation", &what, title, caption, svg)))
}

fn panel(
    results: &Results<'_>,
    ways: &[Way<'_>],
    all: &[Series],
    exact: &Group,
    metric: &'static Metric,
) -> Panel {
    let mean = Mean::of_metric(metric);
    let mut panel = Panel {
        x: Axis { label: "iterations of a solve".to_owned(), log: false },
        y: Axis::of(metric),
        level: Some(mean.of(&results.of_seeds(exact, metric.name))).filter(|level| level.is_finite()),
        ..Panel::default()
    };
    for (way, series) in ways.iter().zip(all) {
        let mut curve = Curve::default();
        for (at, group) in &way.groups {
            let values = results.of_seeds(group, metric.name);
            if values.is_empty() {
                continue;
            }
            let (x, y, ends) = (*at, mean.of(&values), range(&values));
            let series = series.clone();
            panel.dots.push(Dot { series, at: (x, y), x_range: (x, x), y_range: ends, hollow: false });
            curve.push(x, y, ends);
        }
        if curve.at.len() > 1 {
            panel.lines.push(Line { series: series.clone(), curve, dashed: false });
        }
    }
    panel
}

fn exact<'a>(results: &'a Results<'_>, model: Model<'_>) -> Option<&'a Group> {
    results.of_model(model).into_iter().find(|group| estimator::is_exact(&results.case(group).task))
}

/// Training on solves that a number of iterations ends, not a tolerance.
fn ways<'a>(results: &'a Results<'_>, model: Model<'_>) -> Vec<Way<'a>> {
    let mut all: Vec<Way<'_>> = Vec::new();
    for group in results.of_model(model) {
        let case = results.case(group);
        let Some(iterations) = iterations_of_a_solve(group, &case.task) else { continue };
        if case.task.probes().is_none() || case.budget.tolerance.is_some() {
            continue;
        }
        let (plugin, estimator) = (case.solver.plugin.as_str(), group.estimator());
        match all.iter_mut().find(|way| way.plugin == plugin && way.estimator == estimator) {
            Some(way) => way.groups.push((iterations, group)),
            None => all.push(Way { plugin, estimator, groups: vec![(iterations, group)] }),
        }
    }
    for way in &mut all {
        way.groups.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    all
}

/// Iterations of a solve, on average over the steps.
fn iterations_of_a_solve(group: &Group, task: &Task) -> Option<f64> {
    Some(group.mean(names::ITERATIONS)? / group.mean(names::STEPS)? / estimator::solves(task))
}
