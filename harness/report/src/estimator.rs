//! Descriptions of a task's right-hand sides and estimators.

use gpbench_record::{
    FeatureEstimator, GradientEstimator, PathwiseTargets, PriorSource, ProbeDistribution, Probes, Start, Task,
};

/// The method of a task's estimator, as a spec names it.
pub(crate) fn method(task: &Task) -> &'static str {
    match (task.features(), task.probes()) {
        (Some(FeatureEstimator::Rff { .. }), _) => "rff",
        (Some(FeatureEstimator::SsRff { .. }), _) => "ss-rff",
        (None, Some(Probes::Pathwise(_))) => "pathwise",
        (None, Some(Probes::Standard(_))) => "standard",
        (None, None) => "exact",
    }
}

/// Whether a task trains with exact gradients.
pub(crate) fn is_exact(task: &Task) -> bool {
    task.training().is_some_and(|training| training.gradient == GradientEstimator::Exact)
}

/// Start of the solves of a training step.
pub(crate) fn start(task: &Task) -> Option<Start> {
    match task.training()?.gradient {
        GradientEstimator::Solutions { start, .. } => Some(start),
        GradientEstimator::Exact | GradientEstimator::Features(_) => None,
    }
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
