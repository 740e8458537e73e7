//! Cases of training.

use std::collections::BTreeMap;

use gpbench_record::{
    Case, FinalPrediction, GradientEstimator, Job, Kernel, Metrics, PathwiseTargets, Probes, RateSchedule,
    Solved, Start, Task, Training, TrainingOutput,
};

use super::worker::verify;

/// Gradients of the exact likelihood.
pub(crate) const EXACT: GradientEstimator = GradientEstimator::Exact;

/// Gradients from solutions for so many right-hand sides beside y.
pub(crate) fn solutions(probes: Probes, start: Start) -> GradientEstimator {
    GradientEstimator::Solutions { probes, second_solve: false, start }
}

/// Training on a draw of 200 rows that begins with all scales 1.
pub(crate) fn training(plugin: &str, gradient: GradientEstimator, steps: u64) -> Case {
    let mut case = super::by(plugin, super::case(200));
    case.kernel = Kernel { signal_scale: 1.0, noise_scale: 1.0, length_scale: vec![1.0], ..case.kernel };
    case.budget.tolerance = Some(1e-3);
    let targets = PathwiseTargets { probes: 16, prior: super::FEATURES };
    case.task = Task::Train(Box::new(Training {
        estimator: "estimator".into(),
        gradient,
        steps,
        learning_rate: 0.1,
        schedule: RateSchedule::Constant,
        shared_length_scale: false,
        replay: vec![],
        fixed: vec![],
        subset: None,
        landscape: None,
        optimum: false,
        prediction: FinalPrediction { targets, params: BTreeMap::new() },
    }));
    case
}

/// What the task of a case says of training.
pub(crate) fn task(case: &mut Case) -> &mut Training {
    match &mut case.task {
        Task::Train(training) => training,
        other => panic!("{other:?}"),
    }
}

/// What training ended with.
pub(crate) fn trained(solved: &Solved) -> &TrainingOutput {
    solved.output.training().unwrap()
}

/// The verification of what training ended with, by its own case.
pub(crate) fn verified(job: &Job, solved: &Solved) -> Metrics {
    let case = job.case.prediction(&trained(solved).hyperparameters).unwrap();
    verify(&Job { case, ..job.clone() })
}
