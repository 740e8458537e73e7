//! Task `learn` by the program itself, with a learner that keeps every rule.

use crate::common;
use crate::common::worker::{
    failure, fault, job_of, library_of, messages, solve, timeless, verified, verify, worker,
};
use gpbench_record::{
    Case, CaseStatus, FaultCause, Job, Kernel, Learning, LearningOutput, Message, ModelKind, ModelSelection,
    ParamValue, Solved, Step, StopReason, Task, TracePoint, names,
};
use tempfile::TempDir;

/// Learning on a draw of 200 rows, in 20 passes with a look after every second one.
fn case() -> Case {
    let mut case = common::by("scale-descent", common::case(200));
    case.kernel = Kernel { signal_scale: 2.0, noise_scale: 1.0, ..case.kernel };
    let learning = r#"{"passes":20,"looks":[2,4,6,8,10,12,14,16,18,20],"select":"nlml"}"#;
    case.task = Task::Learn(Box::new(serde_json::from_str(learning).unwrap()));
    case
}

fn task(case: &mut Case) -> &mut Learning {
    match &mut case.task {
        Task::Learn(learning) => learning,
        other => panic!("{other:?}"),
    }
}

fn job(case: Case, threads: usize) -> (Job, TempDir) {
    job_of(case, library_of("gpbench-learners"), threads)
}

/// What a case ended with, its looks and its trace.
struct Learned {
    looks: Vec<Step>,
    trace: Vec<TracePoint>,
    solved: Solved,
}

impl Learned {
    fn output(&self) -> &LearningOutput {
        self.solved.output.learning().unwrap()
    }

    fn values(&self, name: &str) -> Vec<f64> {
        self.looks.iter().map(|look| look.metrics.get(name).unwrap()).collect()
    }
}

fn learn(job: &Job) -> Learned {
    let (messages, solved) = solve(job);
    let (mut looks, mut trace) = (Vec::new(), Vec::new());
    for message in messages {
        match message {
            Message::Step(look) => looks.push(look),
            Message::Trace(point) => trace.push(point),
            other => panic!("{other:?}"),
        }
    }
    Learned { looks, trace, solved }
}

#[test]
fn a_learner_is_looked_at_and_verified() {
    let (job, _folder) = job(case(), 1);
    let learned = learn(&job);
    assert_eq!(learned.values(names::PASSES), (1..=10).map(|look| 2.0 * f64::from(look)).collect::<Vec<_>>());
    assert_eq!(learned.values(names::ITERATIONS).last(), Some(&80.0));
    let nlml = learned.values(names::NLML);
    assert!(nlml.last() < nlml.first(), "{nlml:?}");
    assert!(learned.looks.iter().all(|look| look.metrics.get(names::TEST_RMSE).is_some()));
    assert!(learned.looks[..9].iter().all(|look| look.reason == StopReason::Epochs));
    let Solved { reason, iterations, n, entries, .. } = learned.solved;
    assert_eq!((reason, iterations, n), (StopReason::Epochs, 80, 200));
    assert_eq!((entries.used, entries.self_reported, entries.setup), (80.0 * 2500.0, 80.0 * 2500.0, 0.0));
    assert_eq!(learned.solved.metrics.get(names::PASSES), Some(20.0));
    assert_eq!(learned.solved.metrics.get(names::ROWS), Some(4000.0));
    assert_eq!(learned.output().model, Some(ModelKind::Gp));
    let best = nlml.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).unwrap();
    assert_eq!(learned.output().selected, Some(best.0 as u64));
    assert_eq!(learned.output().hyperparameters, learned.looks[best.0].hyperparameters);
    let own = names::of_solver("gradient_norm");
    assert!(learned.trace.iter().any(|point| point.metrics.get(&own).is_some()));
    let objectives = learned.trace.iter().filter(|p| p.metrics.get(names::CLAIMED_OBJECTIVE).is_some());
    assert_eq!(objectives.count(), 80);

    let verified = verify(&job);
    assert_eq!(verified.get(names::NLML), Some(*best.1));
    assert!(verified.get(names::CRPS).is_some() && verified.get(names::COVERAGE_95).is_some());
    assert!(learned.looks.iter().all(|look| look.metrics.get(names::CRPS).is_none()));
    assert!(verified.get(names::PREDICTION_GAP).unwrap() < 1e-9, "{verified:?}");
    let claimed = verified.get(names::CLAIMED_TEST_RMSE).unwrap();
    let last = learned.values(names::TEST_RMSE)[9];
    assert!((claimed - last).abs() < 1e-9, "{claimed}, {last}");
}

#[test]
fn the_last_evaluation_has_an_exact_likelihood_of_as_many_rows_as_it_may() {
    let verified = |exact_rows: usize| {
        let (mut job, _folder) = job(case(), 1);
        let learning = task(&mut job.case);
        (learning.select, learning.nlml_rows, learning.exact_rows) = (ModelSelection::Last, 100, exact_rows);
        learn(&job);
        verify(&job)
    };
    let (few, all) = (verified(199), verified(200));
    assert_eq!(
        (few.get(names::NLML), few.get(names::PREDICTION_GAP).map(|gap| gap < 1e-3)),
        (None, Some(true))
    );
    assert!(all.get(names::NLML).is_some() && all.get(names::PREDICTION_GAP).unwrap() < 1e-9, "{all:?}");
}

#[test]
fn variances_of_low_rank_change_nothing_but_what_depends_on_them() {
    let verified = |rank: Option<usize>| {
        let (mut job, _folder) = job(case(), 1);
        let learning = task(&mut job.case);
        (learning.select, learning.variance_rank) = (ModelSelection::Last, rank);
        learn(&job);
        verify(&job)
    };
    let (exact, low) = (verified(None), verified(Some(2)));
    assert_eq!(low.get(names::NLML), exact.get(names::NLML));
    let gap = |name: &str| low.get(name).unwrap() - exact.get(name).unwrap();
    assert!(gap(names::TEST_RMSE).abs() < 1e-9 && gap(names::TEST_NLL) > 0.01, "{low:?}, {exact:?}");
    assert!(gap(names::COVERAGE_95) >= 0.0, "{low:?}, {exact:?}");
    // The learner's own predictions are compared with those of the factor.
    assert!(low.get(names::PREDICTION_GAP).unwrap() < 1e-9, "{low:?}");
}

#[test]
fn a_case_that_was_interrupted_ends_as_one_that_was_not() {
    let (whole, _folder) = job(case(), 1);
    let uninterrupted = learn(&whole);
    // The checkpoint after any look, as a kill would leave it.
    for looks in [1, 4, 9] {
        let (mut part, folder) = job(case(), 2);
        task(&mut part.case).passes = 20;
        part.checkpoint_file = Some(folder.path().join("checkpoint.safetensors"));
        let mut stopping = part.clone();
        task(&mut stopping.case).looks.truncate(looks);
        // Without further looks the fit goes on to its end, and the last checkpoint is that of the last look.
        learn(&stopping);
        let resumed = learn(&part);
        assert_eq!(timeless(&resumed.looks), timeless(&uninterrupted.looks), "{looks} looks");
        let bits = |learned: &Learned| -> Vec<_> {
            let untimed = |point: &TracePoint| (point.iteration, point.epochs, point.metrics.clone());
            learned.trace.iter().map(untimed).collect()
        };
        assert_eq!(bits(&resumed), bits(&uninterrupted));
        assert_eq!(resumed.output(), uninterrupted.output());
        let solutions = [&part, &whole].map(|job| std::fs::read(&job.solution_file).unwrap());
        assert!(solutions[0] == solutions[1], "{looks} looks");
    }
}

#[test]
fn a_damaged_checkpoint_is_a_fault() {
    let (mut job, folder) = job(case(), 1);
    let file = folder.path().join("checkpoint.safetensors");
    job.checkpoint_file = Some(file.clone());
    learn(&job);
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    assert_eq!(fault("case", &job).cause, FaultCause::Checkpoint);
}

#[test]
fn patience_and_the_learner_s_own_limit_end_a_case() {
    let mut impatient = case();
    *task(&mut impatient) =
        Learning { patience: 2, select: ModelSelection::Objective, ..task(&mut impatient).clone() };
    impatient.solver.params = [("learning_rate".to_owned(), ParamValue::Float(0.0))].into();
    let (impatient, _folder) = job(impatient, 1);
    let learned = learn(&impatient);
    assert_eq!(learned.solved.reason, StopReason::Stagnated);
    let selected = learned.output().selected.unwrap() as usize;
    assert_eq!(learned.looks.len(), selected + 3);
    assert_eq!(learned.looks.last().unwrap().reason, StopReason::Stagnated);

    let mut limited = case();
    limited.solver.params = [("limit".to_owned(), ParamValue::Int(11))].into();
    let (limited, _folder) = job(limited, 1);
    let learned = learn(&limited);
    assert_eq!((learned.solved.reason, learned.solved.iterations), (StopReason::Iterations, 11));
    assert_eq!(learned.values(names::ITERATIONS), [8.0, 11.0]);
    assert!(verify(&limited).get(names::PREDICTION_GAP).unwrap() < 1e-9);
}

#[test]
fn a_learner_that_diverges_says_so() {
    let mut case = case();
    case.solver.params = [("learning_rate".to_owned(), ParamValue::Float(1e6))].into();
    let (job, _folder) = job(case, 1);
    let learned = learn(&job);
    assert_eq!(learned.solved.reason, StopReason::Diverged);
    assert_eq!(learned.looks.last().unwrap().reason, StopReason::Diverged);
    assert!(verify(&job).get(names::PREDICTION_GAP).is_none());
}

#[test]
fn kernels_that_a_learner_does_not_take_are_named() {
    let mut case = case();
    case.kernel.length_scale = vec![1.0; 5];
    let (five, _folder) = job(case.clone(), 1);
    let expected = "kernel `matern32`: 5 length scales for 2 inputs";
    assert_eq!(failure(&five), (CaseStatus::Invalid, expected.to_owned()));
    case.kernel.length_scale = vec![1.0];
    case.kernel.network = Some(serde_json::from_str(r#"{"widths":[3],"activation":"relu"}"#).unwrap());
    let (network, _folder) = job(case, 1);
    assert_eq!(
        failure(&network),
        (CaseStatus::Invalid, "learner `scale-descent` does not take a network".to_owned())
    );
}

#[test]
fn a_damaged_result_is_a_fault() {
    let (job, _folder) = job(case(), 1);
    learn(&job);
    let bytes = std::fs::read(&job.solution_file).unwrap();
    std::fs::write(&job.solution_file, &bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(fault("verify", &job).cause, FaultCause::Solution);
    std::fs::remove_file(&job.solution_file).unwrap();
    assert_eq!(fault("verify", &job).cause, FaultCause::Solution);
    let _ = messages(&worker("verify", &job));
}

/// Learning by the misbehaving learner.
fn hostile(act: &str) -> (Job, TempDir) {
    let mut case = common::by("hostile-learner", case());
    task(&mut case).select = ModelSelection::Last;
    case.solver.params = [("act".to_owned(), ParamValue::Text(act.into()))].into();
    job_of(case, library_of("gpbench-hostile"), 1)
}

#[test]
fn variances_that_are_not_finite_have_no_likelihood_and_no_gap() {
    for act in ["nan_variances", "infinite_variance"] {
        let (job, _folder) = hostile(act);
        learn(&job);
        let metrics = verify(&job);
        for name in [names::TEST_RMSE, names::TEST_NLL, names::CLAIMED_TEST_RMSE] {
            assert!(metrics.get(name).is_some(), "{act}: {name}");
        }
        for name in [names::CLAIMED_TEST_NLL, names::PREDICTION_GAP] {
            assert!(metrics.get(name).is_none(), "{act}: {name}");
        }
        assert!(metrics.get(names::CRPS).is_some(), "{act}: those of the model are good");
    }
}

#[test]
fn predictions_without_a_model_have_a_calibration() {
    let (job, _folder) = hostile("no_model");
    learn(&job);
    let found = verified(&job);
    assert_eq!(found.metrics.get(names::TEST_NLL), found.metrics.get(names::CLAIMED_TEST_NLL));
    assert!(found.metrics.get(names::CRPS).is_some() && found.metrics.get(names::CRPS_EXACT).is_none());
    let shares = found.calibration.unwrap();
    assert!(shares.own.is_complete() && shares.exact.is_none());
}

#[test]
fn a_learner_with_a_model_may_decline_to_predict() {
    let (job, _folder) = hostile("no_predictions");
    let solved = learn(&job).solved;
    let declined = solved.output.learning().and_then(|learning| learning.declined.as_deref());
    assert_eq!(declined, Some("predict failed: no predictions"));
    assert_eq!(solved.metrics.get(names::SECONDS_PREDICT), None);
    let metrics = verify(&job);
    let (well, _folder) = hostile("fit_well");
    learn(&well);
    let expected = verify(&well);
    for name in [names::TEST_RMSE, names::TEST_NLL, names::CRPS] {
        assert!(metrics.get(name).is_some(), "{name}");
        assert_eq!(metrics.get(name), expected.get(name), "{name}: that of the model");
    }
    for name in [names::CLAIMED_TEST_RMSE, names::CLAIMED_TEST_NLL, names::PREDICTION_GAP] {
        assert_eq!(metrics.get(name), None, "{name}");
    }
}

#[test]
fn work_of_a_learner_beside_its_steps_counts() {
    for (act, has_checkpoint) in
        [("work_in_model", false), ("work_in_save", true), ("work_in_predict", false)]
    {
        let (mut job, folder) = hostile(act);
        // Each look works once.
        task(&mut job.case).looks = vec![10, 20];
        job.checkpoint_file = has_checkpoint.then(|| folder.path().join("checkpoint.safetensors"));
        let solved = learn(&job).solved;
        // The act works for 1.5 s; 0.05 s and a twentieth of the counted time are free.
        let (counted, free) =
            (solved.prepare.wall + solved.solve.wall, solved.metrics.get(names::SECONDS_ITERATES).unwrap());
        assert!(counted > 1.3, "{act}: {counted} s of {free} s");
        assert!(free <= 0.05 + 0.05 * counted + 1e-9, "{act}: {free} s");
        assert!(solved.metrics.get(names::SECONDS_PREDICT).is_some());
    }
    // Before there is data, it is shown apart.
    let (job, _folder) = hostile("work_in_create");
    let import = learn(&job).solved.metrics.get(names::SECONDS_IMPORT).unwrap();
    assert!(import > 1.3, "{import} s");
}
