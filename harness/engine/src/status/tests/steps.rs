//! Tasks of several steps: training, searches, and looks at learners.

use gpbench_record::{
    Ascent, Candidates, Exploit, FinalPrediction, GradientEstimator, Learning, LearningOutput, ModelKind,
    ModelSelection, RateSchedule, Thompson, Training, TrainingOutput, WarmStart,
};

use super::*;

/// Steps with these true residuals of y, each claimed to be half the tolerance of 0.01.
fn steps(residuals: &[f64]) -> Vec<Message> {
    let step = |(step, &residual): (u64, &f64)| {
        let metrics = [(names::RESIDUAL_Y, residual), (names::CLAIMED_Y, 0.005)];
        Message::Step(Step {
            step,
            hyperparameters: BTreeMap::new(),
            reason: StopReason::Epochs,
            metrics: metrics.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        })
    };
    (0..).zip(residuals).map(step).collect()
}

/// Training of so many steps.
pub(super) fn training(steps: u64) -> Training {
    Training {
        estimator: "exact".into(),
        gradient: GradientEstimator::Exact,
        steps,
        learning_rate: 0.1,
        schedule: RateSchedule::Constant,
        shared_length_scale: false,
        replay: vec![],
        fixed: vec![],
        subset: None,
        landscape: None,
        optimum: false,
        prediction: FinalPrediction { targets: targets(1), params: BTreeMap::new() },
    }
}

/// Status of a training case of three steps, whose prediction is as good as asked for.
fn trained(tolerance: Option<f64>, residuals: &[f64]) -> Verdict {
    ended(tolerance, steps(residuals), None)
}

/// Status of a training case with these steps, whose prediction is as good as asked for, and which may have diverged.
fn ended(tolerance: Option<f64>, steps: Vec<Message>, divergence: Option<&str>) -> Verdict {
    let mut case = case(tolerance, 1, None);
    case.task = Task::Train(Box::new(training(3)));
    let Message::Solved(mut report) = solved(StopReason::Converged, &[0.005, 0.005]) else {
        unreachable!("as made above")
    };
    let divergence = divergence.map(str::to_owned);
    report.output = TaskOutput::Train(Box::new(TrainingOutput { divergence, ..TrainingOutput::default() }));
    let mut solving = outcome(Some(Message::Solved(report)), End::Exited(0));
    solving.messages.splice(0..0, steps);
    let truth = verified(&[(names::RESIDUAL_Y, 0.005), (names::RESIDUAL_PROBES, 0.005)]);
    let verifying = outcome(Some(truth), End::Exited(0));
    judged(&case, &solving, Some(&verifying)).unwrap()
}

#[test]
fn training_that_ends_at_a_singular_matrix_has_diverged() {
    let why = "step 2: the kernel matrix with noise is singular; the result is that of step 1";
    let found = ended(Some(0.01), steps(&[0.005, 0.005]), Some(why));
    let reason = format!("{why}; lower `learning_rate` of [train], now 0.1");
    assert_eq!((found.status, found.reason), (CaseStatus::Diverged, reason));
}

#[test]
fn a_step_is_not_blamed_for_a_residual_that_rounding_leaves() {
    let mut messages = steps(&[0.005, 0.02, 0.03]);
    let Message::Step(step) = &mut messages[2] else { unreachable!("steps") };
    let small = Kernel { noise_scale: 1e-7, ..testing::case("cg").kernel };
    step.hyperparameters = small.hyperparameters();
    let found = ended(Some(0.01), messages, None);
    assert_eq!(found.status, CaseStatus::NotConverged);
    let expected =
        "2 of 3 steps fell short of the tolerance 0.01; worst true residual 0.03; rounding in double";
    assert!(found.reason.starts_with(expected), "{}", found.reason);
}

#[test]
fn steps_of_training_are_compared_with_the_tolerance() {
    let classified = |tolerance, residuals: &[f64]| {
        let Verdict { status, reason, .. } = trained(tolerance, residuals);
        (status, reason)
    };
    let all = [0.005, 0.01, 0.0101];
    assert_eq!(classified(Some(0.01), &all), (CaseStatus::Ok, String::new()));
    let short = "2 of 3 steps fell short of the tolerance 0.01; worst true residual 0.015".to_owned();
    assert_eq!(classified(Some(0.01), &[0.012, 0.015, 0.005]), (CaseStatus::NotConverged, short));
    let wrong = "step 1 claims the tolerance 0.01; true residual 0.03".to_owned();
    assert_eq!(classified(Some(0.01), &[0.005, 0.03, 0.005]), (CaseStatus::Invalid, wrong));
    let lost = "step 2: true residual 2000; lower `learning_rate` of [train], now 0.1".to_owned();
    assert_eq!(classified(None, &[0.5, 0.5, 2000.0]), (CaseStatus::Diverged, lost));
    let early = "the time budget was spent after 2 of 3 steps".to_owned();
    assert_eq!(classified(None, &[0.5, 0.5]), (CaseStatus::NotConverged, early));
}

#[test]
fn steps_are_compared_with_the_tolerance_that_their_estimator_sets() {
    let classified = |own: [f64; 3], residuals: &[f64]| {
        let mut messages = steps(residuals);
        for (message, own) in messages.iter_mut().zip(own) {
            let Message::Step(step) = message else { unreachable!("steps") };
            step.metrics.insert(names::STEP_TOLERANCE, own);
        }
        let Verdict { status, reason, .. } = ended(Some(0.01), messages, None);
        (status, reason)
    };
    // The budget's tolerance is that of the prediction.
    assert_eq!(classified([0.05, 0.04, 0.03], &[0.05, 0.04, 0.03]), (CaseStatus::Ok, String::new()));
    let short = "1 of 3 steps fell short of the tolerance of their estimator, 0.004 at step 1; \
                 worst true residual 0.02";
    let found = classified([0.05, 0.004, 0.03], &[0.02, 0.006, 0.01]);
    assert_eq!(found, (CaseStatus::NotConverged, short.to_owned()));
    let wrong = "step 2 claims the tolerance 0.006; true residual 0.02".to_owned();
    assert_eq!(classified([0.05, 0.05, 0.006], &[0.02, 0.02, 0.02]), (CaseStatus::Invalid, wrong));
}

/// Status of a search of three steps whose last systems have these verified metrics.
fn searched(tolerance: Option<f64>, residuals: &[f64], found: &[(&str, f64)], inducing: bool) -> Verdict {
    let mut case = case(tolerance, 1, None);
    case.task = Task::Thompson(Box::new(Thompson {
        estimator: "pathwise".into(),
        targets: targets(1),
        share_features: false,
        steps: 3,
        candidates: Candidates {
            rounds: 1,
            points: 10,
            explore: 0.1,
            nearby: 0.5,
            exploit: Exploit::Shifted,
        },
        ascent: Ascent { steps: 1, learning_rate: 1e-3 },
        warm_start: WarmStart::None,
        inducing: inducing.then_some(Inducing::Subset { points: 5 }),
        replay: Vec::new(),
    }));
    let mut solving = outcome(Some(solved(StopReason::Epochs, &[])), End::Exited(0));
    solving.messages.splice(0..0, steps(residuals));
    judged(&case, &solving, Some(&outcome(Some(verified(found)), End::Exited(0)))).unwrap()
}

#[test]
fn steps_of_a_search_are_compared_with_the_tolerance() {
    let last = [(names::RESIDUAL_Y, 0.005), (names::RESIDUAL_PROBES, 0.005), (names::BEST, 3.0)];
    assert_eq!(searched(Some(0.01), &[0.01, 0.01, 0.005], &last, false), Verdict::ok());
    let short = searched(Some(0.01), &[0.012, 0.005, 0.005], &last, false);
    assert_eq!(short.status, CaseStatus::NotConverged);
    assert_eq!(short.reason, "1 of 3 steps fell short of the tolerance 0.01; worst true residual 0.012");
    // Without a tolerance the search counts, whatever the residuals are, up to divergence.
    let poor = [(names::RESIDUAL_Y, 1.0), (names::RESIDUAL_PROBES, 1.0), (names::BEST, 3.0)];
    assert_eq!(searched(None, &[1.0, 1.0, 1.0], &poor, false), Verdict::ok());
    assert_eq!(searched(None, &[1.0, 2000.0, 1.0], &poor, false).status, CaseStatus::Diverged);
    let early = searched(None, &[1.0], &poor, false);
    assert_eq!(early.reason, "the time budget was spent after 1 of 3 steps");
    // Weights of inducing points have no residual; without a best value something was not finite.
    assert_eq!(searched(None, &[0.0; 3], &last[2..], true), Verdict::ok());
    assert_eq!(searched(None, &[0.0; 3], &[], true).status, CaseStatus::Diverged);
    // A residual that is absent was not finite.
    assert_eq!(searched(Some(0.01), &[0.005; 3], &last[2..], false).status, CaseStatus::Diverged);
}

/// Status of a learner that stopped for a reason, by what verification found.
fn learned(reason: StopReason, model: Option<ModelKind>, found: &[(&str, f64)]) -> Verdict {
    learned_of(100, reason, model, found)
}

/// The same of `n` training rows.
fn learned_of(n: usize, reason: StopReason, model: Option<ModelKind>, found: &[(&str, f64)]) -> Verdict {
    learned_with(n, reason, LearningOutput { model, ..LearningOutput::default() }, found)
}

/// The same with this output.
fn learned_with(n: usize, reason: StopReason, output: LearningOutput, found: &[(&str, f64)]) -> Verdict {
    let mut case = testing::case("svgp");
    case.task = Task::Learn(Box::new(Learning {
        passes: 100,
        looks: vec![50, 100],
        select: ModelSelection::Nlml,
        patience: 5,
        inducing: None,
        shared_length_scale: false,
        nlml_rows: 100,
        exact_rows: Learning::EXACT_ROWS,
        variance_rank: None,
        optimum: false,
        grid: None,
    }));
    let Message::Solved(mut report) = solved(reason, &[]) else { unreachable!("as made above") };
    report.n = n;
    report.output = TaskOutput::Learn(Box::new(output));
    let metrics = [(names::PASSES, 50.0), (names::ITERATIONS, 40.0)];
    let metrics = metrics.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
    let look = Step { step: 0, hyperparameters: BTreeMap::new(), reason: StopReason::Epochs, metrics };
    let messages = vec![Message::Step(look), Message::Solved(report)];
    let solving = Outcome { messages, ..outcome(None, End::Exited(0)) };
    judged(&case, &solving, Some(&outcome(Some(verified(found)), End::Exited(0)))).unwrap()
}

#[test]
fn a_learner_is_held_to_its_model() {
    let right = [
        (names::TEST_RMSE, 0.1),
        (names::TEST_NLL, -1.0),
        (names::CLAIMED_TEST_RMSE, 0.1),
        (names::CLAIMED_TEST_NLL, -1.0),
        (names::PREDICTION_GAP, 1e-9),
    ];
    let (gp, none) = (Some(ModelKind::Gp), None);
    for reason in [StopReason::Epochs, StopReason::Converged, StopReason::Stagnated, StopReason::Iterations] {
        assert_eq!(learned(reason, gp, &right), Verdict::ok(), "{reason:?}");
        assert_eq!(learned(reason, none, &right[..4]), Verdict::ok(), "without a model, {reason:?}");
    }
    let late = learned(StopReason::Time, gp, &right);
    assert_eq!((late.status, late.reproducible), (CaseStatus::NotConverged, false));
    assert_eq!(late.reason, "the time budget was spent after 50 of 100 passes");
    let of = |reason, model, found: &[(&str, f64)]| {
        let Verdict { status, reason, .. } = learned(reason, model, found);
        (status, reason)
    };
    let diverged = |reason: &str| (CaseStatus::Diverged, reason.to_owned());
    let epochs = StopReason::Epochs;
    let told = "after 40 steps (50 passes): the learner reports divergence";
    assert_eq!(of(StopReason::Diverged, gp, &right), diverged(told));
    assert_eq!(of(epochs, gp, &[]), diverged("the model is not finite"));
    assert_eq!(of(epochs, gp, &right[..1]), diverged("the model is not finite"));
    assert_eq!(of(epochs, gp, &right[..2]), diverged("the predictions are not finite"));
    let variances = diverged("the predictive variances are not finite and positive");
    assert_eq!(of(epochs, gp, &right[..3]), variances, "variances that are NaN or infinite");
    assert_eq!(of(epochs, none, &[right[0], right[2]]), variances, "the same without a model");
    assert_eq!(of(epochs, none, &[]), diverged("the predictions are not finite"));
    let no_gap = diverged("the distance of the predictions to those of the model is not finite");
    assert_eq!(of(epochs, gp, &right[..4]), no_gap);
    let other = [right[0], right[1], (names::PREDICTION_GAP, 2e-5)];
    let reason = "predicts otherwise than its model: a gap of 2e-5, at most 1e-5".to_owned();
    assert_eq!(of(epochs, gp, &other), (CaseStatus::Invalid, reason));
    let with_gap = |gap: f64| of(epochs, gp, &[&right[..], &[(names::BELOW_START, gap)]].concat());
    assert_eq!(with_gap(0.1), (CaseStatus::Ok, String::new()));
    let (status, reason) = with_gap(0.5);
    assert_eq!(status, CaseStatus::Ok);
    assert!(reason.contains("a start from the data has a log likelihood per row 0.5 above"), "{reason}");
}

#[test]
fn a_learner_that_declines_to_predict_is_held_to_its_model_alone() {
    let of = |model, found: &[(&str, f64)]| {
        let declined = Some("20001 rows to predict from".to_owned());
        let output = LearningOutput { model, declined, ..LearningOutput::default() };
        learned_with(20_001, StopReason::Epochs, output, found)
    };
    let found = [(names::TEST_RMSE, 0.1), (names::TEST_NLL, -1.0)];
    assert_eq!(of(Some(ModelKind::Gp), &found), Verdict::ok());
    let of_model = of(Some(ModelKind::Gp), &found[..1]);
    assert_eq!(
        (of_model.status, of_model.reason.as_str()),
        (CaseStatus::Diverged, "the model is not finite")
    );
    assert_eq!(of(None, &found).status, CaseStatus::Diverged, "nothing shows how good it is");
}

#[test]
fn a_learner_of_many_rows_is_held_to_its_model_too() {
    let found = |gap: Option<f64>| {
        let mut found = vec![
            (names::TEST_RMSE, 0.1),
            (names::TEST_NLL, -1.0),
            (names::CLAIMED_TEST_RMSE, 0.1),
            (names::CLAIMED_TEST_NLL, -1.0),
        ];
        found.extend(gap.map(|gap| (names::PREDICTION_GAP, gap)));
        found
    };
    let of = |model, gap| learned_of(20_001, StopReason::Epochs, Some(model), &found(gap));
    // The harness and the learner both compute an exact process of so many rows by iterations.
    assert_eq!(of(ModelKind::Gp, Some(2e-3)), Verdict::ok());
    let other = of(ModelKind::Gp, Some(0.02));
    assert_eq!(
        (other.status, other.reason.as_str()),
        (CaseStatus::Invalid, "predicts otherwise than its model: a gap of 0.02, at most 0.01")
    );
    assert_eq!(
        of(ModelKind::Gp, None).status,
        CaseStatus::Diverged,
        "a gap that is absent shows no agreement"
    );
    assert_eq!(of(ModelKind::Inducing, Some(2e-3)).status, CaseStatus::Invalid);
}
