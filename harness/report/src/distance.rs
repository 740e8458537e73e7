//! Distance of training to exact training (Lin et al. 2024, Figures 5 and 8).

use std::collections::BTreeMap;

use gpbench_record::{
    FinalPrediction, GradientEstimator, Hyperparameters, PathwiseTargets, PriorSource, Row, Scale, Training,
};

use crate::aggregate::Group;
use crate::estimator::is_exact;
use crate::frame::CaseView;
use crate::results::Results;

/// Median of absolute values, their 95th percentile, and the largest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) most: f64,
    pub(crate) largest: f64,
}

impl Spread {
    /// The spread of some values; `None` where there are none.
    pub(crate) fn of(values: &[f64]) -> Option<Spread> {
        let mut sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let last = sizes.len().checked_sub(1)?;
        let rank = |share: f64| sizes[(share * last as f64).round() as usize];
        Some(Spread { median: rank(0.5), most: rank(0.95), largest: sizes[last] })
    }
}

/// (theta - theta_exact) / theta_exact of each hyperparameter after each step, over all seeds; empty where there
/// is no exact training to compare with, and for exact training itself.
pub(crate) fn differences(results: &Results<'_>, group: &Group) -> Vec<f64> {
    let own = results.of(group).filter(|case| case.is_answer() && !is_exact(&case.case().task));
    own.filter_map(|case| Some((case.row(), exact(results, &case)?)))
        .flat_map(|(own, exact)| between(own, exact))
        .collect()
}

/// The exact training to compare a case with: of the same rows, in as many steps of the same kind.
fn exact<'f>(results: &Results<'f>, case: &CaseView<'_>) -> Option<&'f Row> {
    let training =
        case.case().task.training().filter(|training| training.replay.is_empty()).map(steps_alone)?;
    let labels = &case.row().labels;
    results.cases.rows().find(|other| {
        is_exact(&other.case.task)
            && other.status.is_answer()
            && (&other.labels.dataset, &other.labels.kernel, other.labels.seed)
                == (&labels.dataset, &labels.kernel, labels.seed)
            && other.case.task.training().map(steps_alone).as_ref() == Some(&training)
    })
}

/// The settings that decide the path of exact training: without those of the estimator and of what follows the last step.
fn steps_alone(training: &Training) -> Training {
    let targets = PathwiseTargets { probes: 0, prior: PriorSource::Exact };
    Training {
        estimator: String::new(),
        gradient: GradientEstimator::Exact,
        landscape: None,
        optimum: false,
        prediction: FinalPrediction { targets, params: BTreeMap::new() },
        ..training.clone()
    }
}

/// The differences of the scales that were trained.
fn between(row: &Row, exact: &Row) -> Vec<f64> {
    let fixed = row.case.task.training().map_or(&[][..], |training| &training.fixed);
    // A mean may be 0, and nothing is relative to 0.
    let is_trained = |name: &str| {
        Scale::ALL.iter().any(|scale| name.starts_with(scale.as_str()) && !fixed.contains(scale))
    };
    let exact = path(exact);
    let mut differences = Vec::new();
    for (step, own) in path(row) {
        let Some((_, exact)) = exact.iter().find(|(other, _)| *other == step) else { continue };
        let of_name = |(name, value): (&String, &f64)| Some(value / exact.get(name)? - 1.0);
        let trained = own.iter().filter(|(name, _)| is_trained(name));
        differences.extend(trained.filter_map(of_name).filter(|difference| difference.is_finite()));
    }
    differences
}

/// Hyperparameters after each step, by the number of steps taken. Those of the first step are given, not found.
fn path(row: &Row) -> Vec<(u64, &Hyperparameters)> {
    let Some(output) = row.output.training() else { return Vec::new() };
    let later =
        output.steps.iter().filter(|step| step.step > 0).map(|step| (step.step, &step.hyperparameters));
    let last = output.steps.last().map(|step| (step.step + 1, &output.hyperparameters));
    later.chain(last).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_of_absolute_values() {
        let values: Vec<f64> = (-100..=100).map(f64::from).collect();
        let Spread { median, most, largest } = Spread::of(&values).unwrap();
        assert_eq!((median, most, largest), (50.0, 95.0, 100.0));
        assert_eq!(Spread::of(&[]), None);
    }
}
