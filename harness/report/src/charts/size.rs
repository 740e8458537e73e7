//! Results and costs of learners against the batch size and the number of features.

use gpbench_record::metric::{self, Metric};
use gpbench_record::names;

use super::curve::{Curve, Mean, range};
use super::figure::{Drawn, Figure, method};
use super::legend::Entry;
use super::panel::{Line, Panel};
use super::scale::Axis;
use super::series::Series;
use crate::aggregate::Group;
use crate::cost::{Growth, Size, exponent, growths, methods};
use crate::problem::GroupProblem;
use crate::results::Results;

/// Height of a sheet with one row of panels.
const HEIGHT: u32 = 340;

/// Likelihood and errors against the batch size, a line a method.
pub(crate) fn quality_figure(results: &Results<'_>, problem: &GroupProblem, what: &str) -> Drawn {
    let mut own = growths(results, Size::Batch);
    own.retain(|growth| growth.groups.iter().all(|(_, group)| group.problem == *problem));
    let methods = methods(&own);
    let metrics = [names::NLML, names::TEST_RMSE, names::TEST_NLL].into_iter().filter_map(metric::find);
    let panels = metrics.map(|metric| panel(results, &own, Size::Batch, metric, Mean::Arithmetic));
    let panels: Vec<Panel> = panels.filter(|panel| !panel.lines.is_empty()).collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let entries: Vec<Entry> = methods.iter().map(|own| Entry::Series(method(results, own))).collect();
    let title = format!("Batch size: {what}");
    let svg = results.form.panels(&title, &entries, &panels, panels.len(), HEIGHT)?;
    let caption = "After learning, by the batch size: mean over seeds; the band spans the lowest to the highest seed. Where \
                   a parameter has a grid, the chosen value is drawn.";
    Ok(Some(Figure::new("batch-size", what, title, caption, svg)))
}

/// Seconds of a step against the batch size and the number of features, with the exponents of both.
pub(crate) fn cost_figure(results: &Results<'_>) -> Drawn {
    let Some(seconds) = metric::find(names::SECONDS_PER_STEP) else { return Ok(None) };
    let all = Size::ALL.map(|size| (size, growths(results, size)));
    let known: Vec<&str> = all.iter().flat_map(|(_, growths)| methods(growths)).collect();
    let methods = crate::results::once_each(known);
    let is_traced = |growth: &Growth<'_>| exponent(&growth.values(names::SECONDS_PER_STEP)).is_some();
    let mut panels = Vec::new();
    for (size, growths) in all {
        let own: Vec<Growth<'_>> = growths.into_iter().filter(is_traced).collect();
        let panel = panel(results, &own, size, seconds, Mean::Geometric);
        panels.extend((!panel.lines.is_empty()).then_some(panel));
    }
    if panels.is_empty() {
        return Ok(None);
    }
    let entries: Vec<Entry> = methods.iter().map(|own| Entry::Series(method(results, own))).collect();
    let title = "Cost of a step".to_owned();
    let svg = results.form.panels(&title, &entries, &panels, panels.len(), HEIGHT)?;
    let caption = "Wall-clock seconds of a step against the batch size and the number of features: geometric mean over seeds; \
                   the band spans the fastest to the slowest seed. Slopes are in the table above.";
    Ok(Some(Figure::new("step-cost", "", title, caption, svg)))
}

/// A metric against a size, a line for each growth.
fn panel(results: &Results<'_>, growths: &[Growth<'_>], size: Size, metric: &Metric, mean: Mean) -> Panel {
    let axes = [
        Axis { label: size.name().to_owned(), log: true },
        Axis { label: metric.axis.to_owned(), log: mean == Mean::Geometric },
    ];
    let curves = growths.iter().map(|growth| (method(results, growth.method), growth.groups.as_slice()));
    over_groups(results, axes, metric, mean, curves)
}

/// A metric against a quantity of groups, a line for each list of groups that has two values or more.
pub(super) fn over_groups<'a>(
    results: &Results<'_>,
    [x, y]: [Axis; 2],
    metric: &Metric,
    mean: Mean,
    curves: impl Iterator<Item = (Series, &'a [(f64, &'a Group)])>,
) -> Panel {
    let mut panel = Panel { x, y, ..Panel::default() };
    for (series, groups) in curves {
        let mut curve = Curve::default();
        for (at, group) in groups {
            let values = results.of_seeds(group, metric.name);
            if !values.is_empty() {
                curve.push(*at, mean.of(&values), range(&values));
            }
        }
        if curve.at.len() > 1 {
            panel.lines.push(Line { series, curve, dashed: false });
        }
    }
    let mut stops: Vec<f64> = panel.lines.iter().flat_map(|line| line.curve.at.iter().copied()).collect();
    stops.sort_by(f64::total_cmp);
    stops.dedup();
    panel.stops = stops;
    panel
}
