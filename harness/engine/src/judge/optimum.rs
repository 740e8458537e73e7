//! Warnings about training that ended, but perhaps in a bad optimum.

use gpbench_record::{Hyperparameters, Scale, Step, TargetScaling, Training, TrainingOutput, names};

use super::verdict::Answer;
use crate::text::shortest;

/// Steps over which the likelihood is compared at the end of training.
const LAST_STEPS: usize = 10;
/// Rise of the log likelihood per row over these steps above which training had not ended, in nats.
const LARGEST_RISE: f64 = 1e-3;
/// Log likelihood per row by which a start from the data may be better, on a sample of the rows, in nats.
const LARGEST_GAP: f64 = 0.05;
/// Share of the variance from which on the noise explains nearly all of it.
const NEARLY_ALL: f64 = 0.95;
/// Length scales of scaled inputs, and scales of standardised targets, that training reaches only on its way to a limit.
const LIMITS: [f64; 2] = [1e-3, 1e3];

/// What makes an optimum doubtful that training has found; `None` where nothing does. A replayed path was not found here.
pub(super) fn doubts(answer: &Answer<'_>) -> Option<String> {
    let training = answer.case.task.training().filter(|training| training.replay.is_empty())?;
    let output = answer.solved.output.training()?;
    let doubts = [
        rise(answer).or_else(|| estimated_rise(answer)),
        at_limit(answer, training, output),
        noise(answer, training, output),
        below_start(answer),
    ];
    let doubts: Vec<String> = doubts.into_iter().flatten().collect();
    let other = match answer.case.kernel.start {
        Some(_) => "",
        None => ", as initial = \"data\" finds them,",
    };
    (!doubts.is_empty()).then(|| {
        let doubts = doubts.join("; ");
        format!(
            "the optimum is doubtful: {doubts}; start from other hyperparameters{other} or take more steps"
        )
    })
}

/// A rise of the exact likelihood over the last steps, where it was computed.
fn rise(answer: &Answer<'_>) -> Option<String> {
    let of_step = |step: &&Step| step.metrics.get(names::LOG_MARGINAL_LIKELIHOOD);
    // That of a step is under the hyperparameters at its beginning, and the verified one under those at the end.
    let verified = answer.metrics.get(names::LOG_MARGINAL_LIKELIHOOD);
    let known: Option<Vec<f64>> = answer.steps.iter().map(of_step).collect();
    let known: Vec<f64> = known?.into_iter().chain(verified).collect();
    let earlier = known.len().checked_sub(LAST_STEPS + 1)?;
    let rise = (known.last()? - known[earlier]) / answer.solved.n as f64;
    (rise > LARGEST_RISE).then(|| {
        format!("the log likelihood per row rose by {} over the last {LAST_STEPS} steps", shortest(rise))
    })
}

/// A rise of the likelihood over the last steps by their gradients, where it was not computed.
fn estimated_rise(answer: &Answer<'_>) -> Option<String> {
    if answer.steps.iter().any(|step| step.metrics.get(names::LOG_MARGINAL_LIKELIHOOD).is_some()) {
        return None;
    }
    let gains: Vec<f64> =
        answer.steps.iter().filter_map(|step| step.metrics.get(names::LIKELIHOOD_GAIN)).collect();
    let last = &gains[gains.len().checked_sub(LAST_STEPS)?..];
    let rise = last.iter().sum::<f64>() / answer.solved.n as f64;
    (rise > LARGEST_RISE).then(|| {
        let rise = shortest(rise);
        format!("by its gradients the log likelihood per row rose by {rise} over the last {LAST_STEPS} steps")
    })
}

/// A start from the data that is better than what training ended with.
fn below_start(answer: &Answer<'_>) -> Option<String> {
    let gap = answer.metrics.get(names::BELOW_START).filter(|gap| *gap > LARGEST_GAP)?;
    let gap = shortest(gap);
    Some(format!("a start from the data has a log likelihood per row {gap} above, on a sample of the rows"))
}

/// A scale that moved away from its start and out of the limits. An input that does not matter has a length scale without
/// bound, so that long ones count only where all of them are.
fn at_limit(answer: &Answer<'_>, training: &Training, output: &TrainingOutput) -> Option<String> {
    let start = &answer.steps.first()?.hyperparameters;
    let dataset = &answer.case.dataset;
    let is_of = |name: &str, scale: Scale| name.starts_with(scale.as_str());
    // Targets in the units of a file have scales of any size.
    let has_limits = |name: &str| match dataset.targets {
        TargetScaling::Standardised => true,
        TargetScaling::Centred => is_of(name, Scale::LengthScale),
    };
    let is_trained = |name: &str| !training.fixed.iter().any(|fixed| is_of(name, *fixed));
    let [low, high] = LIMITS;
    let are_long = lengths(&output.hyperparameters).all(|length| length > high);
    let found = output.hyperparameters.iter().find(|(name, value)| {
        let counts =
            Scale::ALL.iter().any(|scale| is_of(name, *scale)) && has_limits(name) && is_trained(name);
        let first = start.get(*name).copied().unwrap_or(1.0);
        let is_long = **value > high && **value > first && (are_long || !is_of(name, Scale::LengthScale));
        counts && (is_long || **value < low && **value < first)
    });
    found.map(|(name, value)| format!("`{name}` ran to {}", shortest(*value)))
}

fn lengths(hyperparameters: &Hyperparameters) -> impl Iterator<Item = f64> + '_ {
    let is_length = |name: &str| name.starts_with(Scale::LengthScale.as_str());
    hyperparameters.iter().filter(move |(name, _)| is_length(name)).map(|(_, length)| *length)
}

/// Noise that explains nearly all of the variance: that of standardised targets, or else that of the prior and the noise.
fn noise(answer: &Answer<'_>, training: &Training, output: &TrainingOutput) -> Option<String> {
    let of = |scale: Scale| output.hyperparameters.get(scale.as_str()).map(|value| value * value);
    let (noise, signal) = (of(Scale::NoiseScale)?, of(Scale::SignalScale)?);
    let all = match answer.case.dataset.targets {
        TargetScaling::Standardised => 1.0,
        TargetScaling::Centred => noise + signal,
    };
    let is_trained = !training.fixed.contains(&Scale::NoiseScale);
    (is_trained && noise >= NEARLY_ALL * all).then(|| {
        format!("the noise explains {} % of the variance", shortest((100.0 * noise / all).min(100.0).round()))
    })
}
