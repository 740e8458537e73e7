//! Results and cost of training against the number of probes (Lin et al. 2024, Figure 4).

use std::collections::BTreeMap;

use gpbench_record::metric::{self, Metric, Shown};
use gpbench_record::{GradientEstimator, Task, TaskKind};

use super::curve::{Curve, Mean, range};
use super::figure::{Drawn, Figure, other, series};
use super::legend::Entry;
use super::panel::{Line, Panel};
use super::scale::Axis;
use super::series::Series;
use crate::aggregate::Group;
use crate::results::{Model, Results};

/// Height of the sheet.
const HEIGHT: u32 = 340;

/// The groups of one solver whose estimators differ only in their number of probes.
struct Family<'a> {
    solver: &'a str,
    /// What they share, without the name of the estimator and the number of probes.
    task: Task,
    /// By number of probes.
    groups: BTreeMap<usize, &'a Group>,
}

/// The figure of a model for which the number of probes varies.
pub(crate) fn figure(results: &Results<'_>, model: Model<'_>) -> Drawn {
    let families = families(results, model);
    let several = families.iter().any(|family| family.task != families[0].task);
    let own = |(i, family): (usize, &Family<'_>)| match several {
        true => other(results, i, &format!("{} · {}", family.solver, family.name())),
        false => series(results, family.solver),
    };
    let all: Vec<Series> = families.iter().enumerate().map(own).collect();
    let panel = |metric: &'static Metric| {
        let mean = Mean::of_metric(metric);
        let line = |(family, series): (&Family<'_>, &Series)| {
            let curve = family.curve(results, metric.name, mean)?;
            Some(Line { series: series.clone(), curve, dashed: false })
        };
        let lines: Vec<Line> = families.iter().zip(&all).filter_map(line).collect();
        let panel = Panel {
            stops: stops(&lines),
            lines,
            x: Axis { label: "probes".to_owned(), log: true },
            y: Axis::of(metric),
            ..Panel::default()
        };
        (!panel.lines.is_empty()).then_some(panel)
    };
    let panels: Vec<Panel> = metric::shown(TaskKind::Train, Shown::Trained).filter_map(panel).collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let entries: Vec<Entry> = all.into_iter().map(Entry::Series).collect();
    let what = results.model_title(model);
    let title = format!("Number of probes: {what}");
    let svg = results.form.panels(&title, &entries, &panels, panels.len(), HEIGHT)?;
    let caption = "After training, by the number of right-hand sides beside y, which are also the samples of the \
                   prediction: geometric mean over seeds (arithmetic for the NLL); the band spans the lowest to the \
                   highest seed. Seconds are those of all outer steps.";
    Ok(Some(Figure::new("probes", &what, title, caption, svg)))
}

/// The families of a model that have more than one number of probes.
fn families<'a>(results: &'a Results<'_>, model: Model<'_>) -> Vec<Family<'a>> {
    let mut all: Vec<Family<'_>> = Vec::new();
    for group in results.of_model(model) {
        let Some((task, probes)) = without_probes(&results.case(group).task) else { continue };
        match all.iter_mut().find(|family| family.solver == group.solver && family.task == task) {
            Some(family) => drop(family.groups.entry(probes).or_insert(group)),
            None => {
                all.push(Family { solver: &group.solver, task, groups: BTreeMap::from([(probes, group)]) })
            }
        }
    }
    all.retain(|family| family.groups.len() > 1);
    all
}

/// A training task without the name of its estimator and the number of its probes, and that number.
fn without_probes(task: &Task) -> Option<(Task, usize)> {
    let Task::Train(training) = task else { return None };
    let mut training = training.clone();
    training.estimator.clear();
    training.prediction.targets.probes = 0;
    let GradientEstimator::Solutions { probes, .. } = &mut training.gradient else { return None };
    let count = probes.count();
    *probes = probes.with_count(0);
    Some((Task::Train(training), count))
}

impl Family<'_> {
    /// What the names of its estimators have in common.
    fn name(&self) -> &str {
        common(self.groups.values().map(|group| group.estimator()))
    }

    /// A metric over the number of probes, as far as it was measured.
    fn curve(&self, results: &Results<'_>, metric: &str, mean: Mean) -> Option<Curve> {
        let mut curve = Curve::default();
        for (probes, group) in &self.groups {
            let values = results.of_seeds(group, metric);
            if !values.is_empty() {
                curve.push(*probes as f64, mean.of(&values), range(&values));
            }
        }
        (curve.at.len() > 1).then_some(curve)
    }
}

/// The beginning that some names share, without trailing digits, which may be incomplete; else the first name.
fn common<'a>(mut names: impl Iterator<Item = &'a str>) -> &'a str {
    let first = names.next().unwrap_or_default();
    let start = names.fold(first, |start, name| {
        let same = start.char_indices().zip(name.chars()).take_while(|((_, a), b)| a == b);
        &start[..same.map(|((i, a), _)| i + a.len_utf8()).last().unwrap_or_default()]
    });
    let word = start.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '_' | ' '));
    if word.is_empty() { first } else { word }
}

/// All numbers of probes of some lines.
fn stops(lines: &[Line]) -> Vec<f64> {
    let mut stops: Vec<f64> = lines.iter().flat_map(|line| line.curve.at.iter().copied()).collect();
    stops.sort_by(f64::total_cmp);
    stops.dedup();
    stops
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_share_their_words_and_no_digits() {
        assert_eq!(common(["pathwise-16", "pathwise-128"].into_iter()), "pathwise");
        assert_eq!(common(["warm", "warm-256"].into_iter()), "warm");
        assert_eq!(common(["few", "many"].into_iter()), "few");
    }
}
