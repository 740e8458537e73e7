//! Descriptions of a task's right-hand sides and estimators.

use gpbench_record::{
    FeatureEstimator, GradientEstimator, InducingBound, PathwiseTargets, PointSelection, PriorSource,
    ProbeDistribution, Probes, Start, Task,
};

/// The method of a task's estimator, as a spec names it.
pub(crate) fn method(task: &Task) -> &'static str {
    match (task.features(), task.probes()) {
        (Some(FeatureEstimator::Rff { .. }), _) => "rff",
        (Some(FeatureEstimator::SsRff { .. }), _) => "ss-rff",
        (None, Some(Probes::Pathwise(_))) => "pathwise",
        (None, Some(Probes::Standard(_))) => "standard",
        (None, None) if bound(task).is_some() => "cglb",
        (None, None) => "exact",
    }
}

/// The bound whose gradient a training step takes, if it takes one's.
fn bound(task: &Task) -> Option<InducingBound> {
    task.training()?.gradient.bound()
}

/// Whether a task trains with exact gradients.
pub(crate) fn is_exact(task: &Task) -> bool {
    task.training().is_some_and(|training| training.gradient == GradientEstimator::Exact)
}

/// Start of the solves of a training step.
pub(crate) fn start(task: &Task) -> Option<Start> {
    task.training()?.gradient.start()
}

/// Number of solves that one estimate or step takes: two where y is solved for twice.
pub(crate) fn solves(task: &Task) -> f64 {
    if task.solves_twice() { 2.0 } else { 1.0 }
}

/// The pathwise targets that a task solves for, of its steps or of its prediction.
pub(crate) fn pathwise_targets(task: &Task) -> Vec<PathwiseTargets> {
    let own = match task.probes() {
        Some(Probes::Pathwise(targets)) => Some(targets),
        Some(Probes::Standard(_)) | None => None,
    };
    let prediction = task.training().map(|training| training.prediction.targets);
    own.into_iter().chain(prediction.filter(|targets| Some(*targets) != own)).collect()
}

/// Description of the right-hand sides of a task.
pub(crate) fn right_hand_sides(task: &Task) -> String {
    let mut parts = Vec::new();
    parts.extend(task.features().map(|features| match features {
        FeatureEstimator::Rff { features, .. } => format!("none: {features} random features"),
        FeatureEstimator::SsRff { features, step, .. } => {
            format!("none: {features} random features or more, in steps of {step}")
        }
    }));
    parts.extend(bound(task).map(|InducingBound { points, select, .. }| {
        let chosen = match select {
            PointSelection::Greedy => "greedily",
            PointSelection::Subset => "at random",
            PointSelection::Kmeans => "by k-means",
        };
        format!("y, and at most {points} inducing points, chosen {chosen}")
    }));
    if let Some(Probes::Standard(standard)) = task.probes() {
        let law = match standard.distribution {
            ProbeDistribution::Normal => "standard normal",
            ProbeDistribution::Rademacher => "Rademacher",
        };
        parts.push(format!("y and {} {law} probes", standard.probes));
    }
    let is_prediction = !matches!(task.probes(), Some(Probes::Pathwise(_)));
    parts.extend(pathwise_targets(task).into_iter().enumerate().map(
        |(i, PathwiseTargets { probes, prior })| {
            let of = if is_prediction || i > 0 { "for the prediction y" } else { "y" };
            let drawn = match prior {
                PriorSource::Exact => "exact draws of the prior".to_owned(),
                PriorSource::Features { features, .. } => format!("{features} features"),
            };
            format!("{of} and {probes} pathwise targets ({drawn})")
        },
    ));
    match parts.is_empty() {
        true => "none".to_owned(),
        false => parts.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use gpbench_record::{FinalPrediction, Frequencies, RateSchedule, Training, testing};

    use super::*;

    #[test]
    fn a_bound_is_described_with_its_points() {
        let mut case = testing::case("cg");
        let prior = PriorSource::Features { features: 64, frequencies: Frequencies::MultivariateT };
        let bound = InducingBound { points: 100, select: PointSelection::Greedy, reselect: 20, gap: 1.0 };
        case.task = Task::Train(Box::new(Training {
            estimator: "few".into(),
            gradient: GradientEstimator::Cglb { bound, start: Start::Warm },
            steps: 5,
            learning_rate: 0.1,
            schedule: RateSchedule::Constant,
            shared_length_scale: false,
            fixed: vec![],
            replay: vec![],
            subset: None,
            landscape: None,
            optimum: false,
            prediction: FinalPrediction {
                targets: PathwiseTargets { probes: 4, prior },
                params: Default::default(),
            },
        }));
        assert_eq!((method(&case.task), start(&case.task)), ("cglb", Some(Start::Warm)));
        assert!(!is_exact(&case.task) && solves(&case.task) == 1.0);
        let expected = "y, and at most 100 inducing points, chosen greedily; \
                        for the prediction y and 4 pathwise targets (64 features)";
        assert_eq!(right_hand_sides(&case.task), expected);
    }
}
