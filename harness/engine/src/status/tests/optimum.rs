//! Warnings about training that ended in a doubtful optimum.

use gpbench_record::{DataStart, Hyperparameters, Scale, TargetScaling, Training, TrainingOutput};

use super::steps::training;
use super::*;

/// Noise, signal and length scale.
type Scales = [f64; 3];

fn named([noise, signal, length]: Scales) -> Hyperparameters {
    let named = [("noise_scale", noise), ("signal_scale", signal), ("length_scale", length)];
    named.map(|(name, value)| (name.to_owned(), value)).into()
}

/// The reason of a training case that is `ok`, of ten rows. Its steps begin with all scales 1 and have these likelihoods; it
/// ends with these scales.
fn warning_of(of: Training, targets: TargetScaling, likelihoods: &[f64], last: Scales) -> String {
    let mut case = case(None, 1, None);
    case.dataset.targets = targets;
    case.task = Task::Train(Box::new(Training { steps: likelihoods.len() as u64, ..of }));
    let step = |(step, &likelihood): (u64, &f64)| {
        let metrics = [(names::RESIDUAL_Y, 0.1), (names::LOG_MARGINAL_LIKELIHOOD, likelihood)];
        let metrics = metrics.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let hyperparameters = named([1.0; 3]);
        Message::Step(Step { step, hyperparameters, reason: StopReason::Converged, metrics })
    };
    let Message::Solved(report) = solved(StopReason::Converged, &[]) else { unreachable!("as made above") };
    let output = TrainingOutput { hyperparameters: named(last), ..TrainingOutput::default() };
    let report = Solved { output: TaskOutput::Train(Box::new(output)), ..report };
    let messages = (0..).zip(likelihoods).map(step).chain([Message::Solved(report)]).collect();
    let solving = Outcome { messages, ..outcome(None, End::Exited(0)) };
    let truth = verified(&[(names::RESIDUAL_Y, 0.1), (names::RESIDUAL_PROBES, 0.1)]);
    let verdict = judged(&case, &solving, Some(&outcome(Some(truth), End::Exited(0)))).unwrap();
    assert_eq!(verdict.status, CaseStatus::Ok);
    verdict.reason
}

fn warning(likelihoods: &[f64], last: Scales) -> String {
    warning_of(training(1), TargetScaling::Standardised, likelihoods, last)
}

/// A likelihood that rises by `rise` over the last ten steps.
fn rising(rise: f64) -> Vec<f64> {
    let mut likelihoods = vec![-90.0; 5];
    likelihoods.extend((0..11).map(|step| -50.0 + rise * f64::from(step) / 10.0));
    likelihoods
}

const GOOD: Scales = [0.1, 1.5, 0.4];

#[test]
fn a_likelihood_that_still_rises_is_a_warning() {
    assert_eq!(warning(&rising(0.005), GOOD), "", "5e-4 for each of ten rows");
    assert_eq!(
        warning(&rising(0.5), GOOD),
        "the optimum is doubtful: the log likelihood per row rose by 0.05 over the last 10 steps; start from other \
         hyperparameters, as initial = \"data\" finds them, or take more steps"
    );
    // Fewer steps than are compared, and likelihoods that were not computed.
    assert_eq!(warning(&rising(5.0)[..10], GOOD), "");
    assert_eq!(warning(&[f64::NAN; 20], GOOD), "");
}

#[test]
fn a_scale_that_runs_to_its_limit_is_a_warning() {
    let flat = vec![-50.0; 12];
    for (last, expected) in [
        ([1e-4, 1.5, 0.4], "`noise_scale` ran to 1e-4"),
        ([0.1, 2e3, 0.4], "`signal_scale` ran to 2000"),
        ([0.1, 1.5, 1e-5], "`length_scale` ran to 1e-5"),
        ([0.1, 1.5, 1e4], "`length_scale` ran to 10000"),
    ] {
        let warning = warning(&flat, last);
        assert!(warning.contains(expected), "{expected}: {warning}");
    }
    let fixed = Training { fixed: vec![Scale::NoiseScale], ..training(1) };
    assert_eq!(warning_of(fixed, TargetScaling::Standardised, &flat, [1e-4, 1.5, 0.4]), "");
    // In the units of the file, scales of targets have no limits.
    assert_eq!(warning_of(training(1), TargetScaling::Centred, &flat, [50.0, 2e4, 0.4]), "");
    // A replayed path was not found by this training.
    let replayed = Training { replay: vec![named([1.0; 3])], ..training(1) };
    assert_eq!(warning_of(replayed, TargetScaling::Standardised, &flat, [1e-4, 1.5, 0.4]), "");
}

#[test]
fn noise_that_explains_nearly_all_of_the_variance_is_a_warning() {
    let flat = vec![-50.0; 12];
    let warning = warning(&flat, [0.99, 0.3, 2.0]);
    assert!(warning.contains("the noise explains 98 % of the variance"), "{warning}");
    let centred = |noise| warning_of(training(1), TargetScaling::Centred, &flat, [noise, 10.0, 2.0]);
    assert!(centred(90.0).contains("the noise explains 99 % of the variance"), "{}", centred(90.0));
    assert_eq!(centred(9.0), "");
}

/// The reason of a training case of twelve steps with these metrics each, of ten rows, whose verification found this
/// gap to a start from the data.
fn warning_by(of_step: &[(&str, f64)], below_start: f64, start: Option<DataStart>) -> String {
    let mut case = case(None, 1, None);
    case.kernel.start = start;
    case.task = Task::Train(Box::new(training(12)));
    let step = |step: u64| {
        let metrics = std::iter::once(&(names::RESIDUAL_Y, 0.1)).chain(of_step);
        let metrics = metrics.map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let hyperparameters = named([1.0; 3]);
        Message::Step(Step { step, hyperparameters, reason: StopReason::Converged, metrics })
    };
    let Message::Solved(report) = solved(StopReason::Converged, &[]) else { unreachable!("as made above") };
    let output = TrainingOutput { hyperparameters: named(GOOD), ..TrainingOutput::default() };
    let report = Solved { output: TaskOutput::Train(Box::new(output)), ..report };
    let messages = (0..12).map(step).chain([Message::Solved(report)]).collect();
    let solving = Outcome { messages, ..outcome(None, End::Exited(0)) };
    let truth = [(names::RESIDUAL_Y, 0.1), (names::RESIDUAL_PROBES, 0.1), (names::BELOW_START, below_start)];
    judged(&case, &solving, Some(&outcome(Some(verified(&truth)), End::Exited(0)))).unwrap().reason
}

#[test]
fn a_likelihood_that_rises_by_its_gradients_is_a_warning() {
    let by = |gain: f64| warning_by(&[(names::LIKELIHOOD_GAIN, gain)], 0.0, None);
    assert_eq!(by(0.0005), "", "5e-4 for each of ten rows");
    let expected = "by its gradients the log likelihood per row rose by 0.5 over the last 10 steps";
    assert!(by(0.5).contains(expected), "{}", by(0.5));
    // The exact likelihood is known better.
    let both = [(names::LIKELIHOOD_GAIN, 0.5), (names::LOG_MARGINAL_LIKELIHOOD, -50.0)];
    assert_eq!(warning_by(&both, 0.0, None), "");
}

#[test]
fn a_better_start_from_the_data_is_a_warning() {
    assert_eq!(warning_by(&[], 0.01, None), "");
    assert_eq!(
        warning_by(&[], 0.8, None),
        "the optimum is doubtful: a start from the data has a log likelihood per row 0.8 above, on a sample of the \
         rows; start from other hyperparameters, as initial = \"data\" finds them, or take more steps"
    );
    let began_there = Some(DataStart { restarts: 5, keep: Vec::new() });
    let warning = warning_by(&[], 0.8, began_there);
    assert!(warning.ends_with("; start from other hyperparameters or take more steps"), "{warning}");
}
