//! Costs and results against a parameter that a list in the spec varies.

use std::collections::BTreeMap;

use gpbench_record::metric::{self, Metric};
use gpbench_record::{GridPoint, ParamValue, names};

use super::curve::Mean;
use super::figure::{Drawn, Figure, series};
use super::legend::Entry;
use super::panel::Panel;
use super::scale::Axis;
use super::series::Series;
use super::size::over_groups;
use crate::aggregate::Group;
use crate::problem::GroupProblem;
use crate::results::{Results, once_each};

/// Metrics that are drawn, where they are measured.
const METRICS: [&str; 4] = [names::SECONDS, names::EPOCHS, names::RESIDUAL_Y, names::TEST_RMSE];

/// Height of a row of panels, and of what is above them.
const ROW: u32 = 250;
const HEAD: u32 = 90;

/// One curve: the points of an entry whose other parameters are the same.
struct Sweep<'a> {
    /// The entry, with the values of its other grids.
    series: Series,
    /// Value of the parameter, and the group there; in increasing order.
    groups: Vec<(f64, &'a Group)>,
}

/// The figures of a problem: one for each parameter of positive numbers with a list of values.
pub(crate) fn figures(results: &Results<'_>, problem: &GroupProblem, what: &str) -> Vec<Drawn> {
    let points = results.of_problem(problem).filter_map(|group| Some((group, results.case(group).grid()?)));
    let points: Vec<(&Group, &GridPoint)> = points.collect();
    let params = once_each(points.iter().flat_map(|(_, point)| point.params.keys()));
    params.into_iter().map(|param| figure(results, &points, param, what)).collect()
}

fn figure(results: &Results<'_>, points: &[(&Group, &GridPoint)], param: &str, what: &str) -> Drawn {
    let sweeps = sweeps(results, points, param);
    let metrics = METRICS.iter().filter_map(|name| metric::find(name));
    let panels = metrics.map(|metric| panel(results, &sweeps, param, metric));
    let panels: Vec<Panel> = panels.filter(|panel| !panel.lines.is_empty()).collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let drawn = sweeps.iter().filter(|sweep| sweep.groups.len() > 1);
    let entries: Vec<Entry> = drawn.map(|sweep| Entry::Series(sweep.series.clone())).collect();
    let columns = panels.len().min(2);
    let height = HEAD + ROW * panels.len().div_ceil(columns) as u32;
    let label = param.replace('_', " ");
    let title = format!("By {label}: {what}");
    let svg = results.form.panels(&title, &entries, &panels, columns, height)?;
    let caption = format!(
        "Each value of `{param}`: mean over the seeds that have an answer; the band spans the lowest to the highest seed."
    );
    Ok(Some(Figure::new("sweep", &format!("{param} {what}"), title, caption, svg)))
}

/// The curves along a parameter, in the order of the spec.
fn sweeps<'a>(results: &Results<'_>, points: &[(&'a Group, &GridPoint)], param: &str) -> Vec<Sweep<'a>> {
    let mut sweeps: Vec<Sweep<'a>> = Vec::new();
    for (group, point) in points {
        let value = point.params.get(param).and_then(ParamValue::number).filter(|value| *value > 0.0);
        let Some(value) = value else { continue };
        let others: BTreeMap<_, _> = point
            .params
            .iter()
            .filter(|(name, _)| *name != param)
            .map(|(n, v)| (n.clone(), v.clone()))
            .collect();
        let name = match others.is_empty() {
            true => point.entry.clone(),
            false => GridPoint { entry: point.entry.clone(), params: others }.name(),
        };
        match sweeps.iter_mut().find(|sweep| sweep.series.name == name) {
            Some(sweep) => sweep.groups.push((value, group)),
            // The colour of the first of its points in the other charts.
            None => sweeps.push(Sweep {
                series: Series { name, ..series(results, &group.solver) },
                groups: vec![(value, group)],
            }),
        }
    }
    for sweep in &mut sweeps {
        sweep.groups.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    sweeps
}

fn panel(results: &Results<'_>, sweeps: &[Sweep<'_>], param: &str, metric: &Metric) -> Panel {
    let axes = [Axis { label: param.replace('_', " "), log: true }, Axis::of(metric)];
    let curves = sweeps.iter().map(|sweep| (sweep.series.clone(), sweep.groups.as_slice()));
    over_groups(results, axes, metric, Mean::of_metric(metric), curves)
}
