//! Training by the program itself, with the real plugins where they stand beside it.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used)]

mod common;

use common::worker::{exact, failure, job, library, messages, solve, verify, worker};
use gpbench_record::{
    Case, EstimatorMethod, Grid, Job, Landscape, Message, Metrics, Param, Scale, Schedule, Solved, Source,
    Status, Step, StopReason, Subset, Task, Training, names,
};

/// Training on a draw of 200 rows that begins with all scales 1.
fn training(plugin: &str, method: EstimatorMethod, warm_start: bool, steps: u64) -> Case {
    let mut case = common::case(200);
    case.task = Task::Train;
    case.solver = common::solver(plugin);
    case.kernel.signal_scale = 1.0;
    case.kernel.noise_scale = 1.0;
    case.kernel.length_scale = vec![1.0];
    case.estimator.method = method;
    case.estimator.warm_start = warm_start;
    case.estimator.probes = 16;
    case.budget.tolerance = Some(1e-3);
    let schedule = Schedule::Constant;
    case.train = Some(Training {
        steps,
        learning_rate: 0.1,
        schedule,
        shared_length_scale: false,
        replay: vec![],
        fixed: vec![],
        subset: None,
        landscape: None,
    });
    case
}

/// Trains, and takes the steps out of the messages.
fn train(job: &Job) -> (Vec<Step>, Solved) {
    let (messages, solved) = solve(job);
    let step = |message| match message {
        Message::Step(step) => step,
        other => panic!("{other:?}"),
    };
    (messages.into_iter().map(step).collect(), solved)
}

/// Steps without what a clock measured.
fn timeless(steps: &[Step]) -> Vec<Step> {
    let is_timeless = |name: &str| !name.starts_with("seconds");
    let keep = |metrics: &Metrics| -> Metrics {
        metrics.iter().filter(|(name, _)| is_timeless(name)).map(|(name, v)| (name.to_owned(), v)).collect()
    };
    steps.iter().map(|step| Step { metrics: keep(&step.metrics), ..step.clone() }).collect()
}

/// The verification of what training ended with, by its own case.
fn judged(job: &Job, solved: &Solved) -> Metrics {
    let case = job.case.prediction(&solved.trained.as_ref().unwrap().hyperparameters).unwrap();
    verify(&Job { case, ..job.clone() })
}

#[test]
fn exact_training_with_cholesky_is_exact_training() {
    let Some(plugin) = library("cholesky") else { return };
    let (mut job, folder) = job(training("cholesky", EstimatorMethod::Exact, false, 8), plugin, 2);
    let (steps, solved) = train(&job);
    let trained = solved.trained.clone().unwrap();
    assert_eq!((steps.len(), trained.steps, solved.n), (8, 8, 200));
    assert!((0..).zip(&steps).all(|(count, step)| step.step == count));
    // Adam's first step is the learning rate, here against a noise and towards a signal.
    let ratio = steps[1].hyperparameters["noise_scale"] / steps[0].hyperparameters["noise_scale"];
    assert!((0.9..0.95).contains(&ratio), "{ratio}");
    assert!(steps[0].hyperparameters.contains_key("length_scale_1"));
    let likelihood = |step: &Step| step.metrics.get(names::LOG_MARGINAL_LIKELIHOOD).unwrap();
    assert!(steps.is_sorted_by(|a, b| likelihood(a) < likelihood(b)), "ascent");

    // What the harness says of the first and of the last step agrees with an exact process of its own.
    let initial = exact(&mut job, &folder);
    let known = initial.get(names::LOG_MARGINAL_LIKELIHOOD).unwrap();
    assert!((likelihood(&steps[0]) - known).abs() < 1e-9 * known.abs());
    let case = job.case.prediction(&trained.hyperparameters).unwrap();
    let mut last = Job { case, ..job.clone() };
    let exact = exact(&mut last, &folder);
    let metrics = verify(&last);
    assert!(metrics.get(names::RESIDUAL_MAX).unwrap() < 1e-10);
    assert!(metrics.get(names::RMSE_TO_EXACT).unwrap() < 1e-10);
    let likelihood = exact.get(names::LOG_MARGINAL_LIKELIHOOD);
    assert_eq!(metrics.get(names::LOG_MARGINAL_LIKELIHOOD), likelihood);
    assert!(likelihood.unwrap() > known);
}

#[test]
fn the_landscape_has_its_summit_where_exact_training_ends() {
    let Some(plugin) = library("cholesky") else { return };
    let mut case = training("cholesky", EstimatorMethod::Exact, false, 60);
    let grid = Grid { length_scale: [0.05, 5.0], noise_scale: [0.01, 2.0], points: 15 };
    case.train =
        case.train.map(|train| Training { landscape: Some(grid), shared_length_scale: true, ..train });
    let (job, _folder) = job(case, plugin, 2);
    let (steps, solved) = train(&job);
    let trained = solved.trained.unwrap();
    let Landscape { length_scale, noise_scale, log_likelihood } = *trained.landscape.unwrap();
    assert_eq!((length_scale[0], *length_scale.last().unwrap(), length_scale.len()), (0.05, 5.0, 15));
    let places = (0..15).flat_map(|i| (0..15).map(move |j| (i, j)));
    let (i, j) = places
        .max_by(|a, b| log_likelihood[a.0][a.1].partial_cmp(&log_likelihood[b.0][b.1]).unwrap())
        .unwrap();
    let near = |at: f64, end: f64, ratio: f64| (at / end).ln().abs() < 0.75 * ratio.ln();
    assert!(near(noise_scale[i], trained.hyperparameters["noise_scale"], noise_scale[1] / noise_scale[0]));
    assert!(near(
        length_scale[j],
        trained.hyperparameters["length_scale"],
        length_scale[1] / length_scale[0]
    ));
    let last = steps.last().unwrap().metrics.get(names::LOG_MARGINAL_LIKELIHOOD).unwrap();
    assert!((last - log_likelihood[i][j].unwrap()).abs() < 0.05 * last.abs(), "{last}");
}

#[test]
fn fixed_scales_stay_and_the_others_move() {
    let Some(plugin) = library("cholesky") else { return };
    let mut case = training("cholesky", EstimatorMethod::Exact, false, 3);
    let fixed = vec![Scale::NoiseScale, Scale::SignalScale];
    case.train = case.train.map(|train| Training { fixed, ..train });
    let (job, _folder) = job(case, plugin, 2);
    let trained = train(&job).1.trained.unwrap().hyperparameters;
    for (name, scale) in trained {
        let moved = (scale - 1.0).abs();
        assert!(if name.starts_with("length") { moved > 0.01 } else { moved < 1e-12 }, "{name} {scale}");
    }
}

#[test]
fn a_constant_mean_is_trained_beside_the_scales() {
    for (name, method) in [
        ("cholesky", EstimatorMethod::Exact),
        ("cholesky", EstimatorMethod::Rff),
        ("cg", EstimatorMethod::Pathwise),
    ] {
        let Some(plugin) = library(name) else { return };
        let mut case = training(name, method, false, 12);
        case.kernel.mean = Some(0.5);
        case.budget.tolerance = Some(1e-9);
        let (job, folder) = job(case, plugin, 2);
        let (steps, solved) = train(&job);
        // Targets have mean 0: Adam's first step, of the learning rate, leads down, and others follow.
        let means: Vec<f64> = steps.iter().map(|step| step.hyperparameters["mean"]).collect();
        assert!((means[1] - 0.4).abs() < 1e-6, "{method:?} {means:?}");
        let trained = solved.trained.as_ref().unwrap();
        assert!(trained.hyperparameters["mean"] < 0.3, "{method:?} {means:?}");
        if method == EstimatorMethod::Exact {
            let likelihood = |step: &Step| step.metrics.get(names::LOG_MARGINAL_LIKELIHOOD).unwrap();
            assert!(steps.is_sorted_by(|a, b| likelihood(a) < likelihood(b)), "ascent");
        }
        // An exact process of its own counts targets from the same mean.
        let case = job.case.prediction(&trained.hyperparameters).unwrap();
        let mut last = Job { case, ..job.clone() };
        exact(&mut last, &folder);
        let metrics = verify(&last);
        assert!(metrics.get(names::RESIDUAL_MAX).unwrap() < 1e-8);
        assert!(metrics.get(names::RMSE_TO_EXACT).unwrap() < 1e-6);
    }
}

#[test]
fn the_distance_to_the_start_is_that_of_a_cold_solution() {
    let Some(plugin) = library("cholesky") else { return };
    let case = training("cholesky", EstimatorMethod::Pathwise, true, 3);
    let (job, _folder) = job(case, plugin, 2);
    let (steps, _) = train(&job);
    let distance = |step: &Step| step.metrics.get(names::INITIAL_DISTANCE).unwrap();
    // From zero, |x|_H^2 = b^T H^-1 b, which for a pathwise target has the mean n.
    assert!((distance(&steps[0]).powi(2) / 200.0 - 1.0).abs() < 0.1, "{}", distance(&steps[0]));
    assert!(steps[1..].iter().all(|step| distance(step) < 0.5 * distance(&steps[0])));
}

#[test]
fn warm_starts_reach_the_tolerance_in_fewer_epochs() {
    let Some(plugin) = library("ap") else { return };
    let epochs = |method, warm_start| {
        let mut case = training("ap", method, warm_start, 12);
        case.solver.params.insert("block_size".into(), Param::Int(50));
        case.budget.tolerance = Some(1e-2);
        let (job, _folder) = job(case, plugin.clone(), 2);
        let (steps, solved) = train(&job);
        for step in &steps {
            assert_eq!(step.reason, StopReason::Converged);
            assert!(step.metrics.get(names::RESIDUAL_Y).unwrap() < 1.01e-2);
            assert!(step.metrics.get(names::RESIDUAL_PROBES).unwrap() < 1.01e-2);
            let has_samples = method == EstimatorMethod::Pathwise;
            assert_eq!(step.metrics.get(names::TEST_NLL).is_some(), has_samples);
        }
        let used = |step: &Step| step.metrics.get(names::EPOCHS).unwrap();
        let sum: f64 = steps.iter().map(used).sum();
        assert!((sum - solved.entries.used / 4e4).abs() < 1e-9);
        let metrics = judged(&job, &solved);
        assert!(metrics.get(names::RESIDUAL_MAX).is_some_and(|residual| residual < 0.1));
        assert!(metrics.get(names::TEST_NLL).is_some());
        sum
    };
    for method in [EstimatorMethod::Standard, EstimatorMethod::Pathwise] {
        let (cold, warm) = (epochs(method, false), epochs(method, true));
        assert!(warm < 0.8 * cold, "{method:?}: {warm} against {cold}");
    }
}

#[test]
fn what_a_solver_keeps_serves_the_next_step_and_survives_an_interruption() {
    let Some(plugin) = library("cg") else { return };
    let case = |recycle, steps| {
        let mut case = training("cg", EstimatorMethod::Standard, false, steps);
        case.kernel.noise_scale = 0.1;
        case.solver.params.insert("recycle".into(), Param::Int(recycle));
        case
    };
    let (plain, _folder) = job(case(0, 5), plugin.clone(), 2);
    let (whole, _folder) = job(case(20, 5), plugin.clone(), 2);
    let ((all, _), (fewer, solved)) = (train(&plain), train(&whole));
    let iterations = |step: &Step| step.metrics.get(names::ITERATIONS).unwrap();
    assert_eq!(iterations(&all[0]), iterations(&fewer[0]));
    for (all, fewer) in all.iter().zip(&fewer).skip(1) {
        assert!(iterations(fewer) < 0.9 * iterations(all), "{} {}", iterations(fewer), iterations(all));
    }

    let (mut first, folder) = job(case(20, 3), plugin, 1);
    first.checkpoint_file = Some(folder.path().join("checkpoint.bin"));
    train(&first);
    let second = Job { case: case(20, 5), ..first };
    let (resumed, ended) = train(&second);
    assert_eq!(timeless(&resumed), timeless(&fewer));
    assert_eq!(ended.trained.unwrap().hyperparameters, solved.trained.unwrap().hyperparameters);
}

#[test]
fn training_that_was_interrupted_ends_as_one_that_was_not() {
    let Some(plugin) = library("sgd") else { return };
    for warm_start in [false, true] {
        let case = |steps| {
            let mut case = training("sgd", EstimatorMethod::Pathwise, warm_start, steps);
            case.solver.params.insert("batch_size".into(), Param::Int(50));
            case.solver.params.insert("learning_rate".into(), Param::Float(1.0));
            case.budget.max_epochs = Some(20.0);
            case
        };
        let (whole, _folder) = job(case(6), plugin.clone(), 2);
        let (steps, solved) = train(&whole);
        // Three steps of six leave the checkpoint that a kill during the fourth would.
        let (mut first, folder) = job(case(3), plugin.clone(), 1);
        first.checkpoint_file = Some(folder.path().join("checkpoint.bin"));
        train(&first);
        let second = Job { case: case(6), ..first.clone() };
        let (resumed, ended) = train(&second);
        assert_eq!(timeless(&resumed), timeless(&steps));
        assert_eq!((ended.entries, ended.iterations), (solved.entries, solved.iterations));
        let (trained, other) = (ended.trained.unwrap(), solved.trained.unwrap());
        assert_eq!(trained.hyperparameters, other.hyperparameters);
        let read = |job: &Job| std::fs::read(&job.solution_file).unwrap();
        assert!(read(&second) == read(&whole));
        // A checkpoint that cannot be read is as good as none.
        std::fs::write(second.checkpoint_file.as_ref().unwrap(), "something else").unwrap();
        assert_eq!(timeless(&train(&second).0), timeless(&steps));
    }
}

#[test]
fn one_length_scale_may_be_trained_for_all_inputs() {
    let Some(plugin) = library("cg") else { return };
    let mut case = training("cg", EstimatorMethod::Standard, false, 2);
    case.train.as_mut().unwrap().shared_length_scale = true;
    let (job, _folder) = job(case, plugin, 1);
    let (steps, solved) = train(&job);
    let names: Vec<&String> = steps[1].hyperparameters.keys().collect();
    assert_eq!(names, ["length_scale", "noise_scale", "signal_scale"]);
    assert!(judged(&job, &solved).get(names::TEST_RMSE).is_some());
}

#[test]
fn probes_are_drawn_afresh_unless_starts_are_warm() {
    let Some(plugin) = library("cholesky") else { return };
    // At a tiny learning rate the same probes give the same gradient, and Adam the same step again.
    let repeats_its_step = |warm_start| {
        let mut case = training("cholesky", EstimatorMethod::Standard, warm_start, 3);
        case.estimator.probes = 1;
        case.train.as_mut().unwrap().learning_rate = 1e-6;
        let (steps, _) = train(&job(case, plugin.clone(), 1).0);
        let scale = |step: usize| steps[step].hyperparameters["length_scale_0"];
        let (first, second) = (scale(1) - scale(0), scale(2) - scale(1));
        (second - first).abs() < 1e-4 * first.abs()
    };
    assert!(repeats_its_step(true) && !repeats_its_step(false));
}

#[test]
fn starts_on_the_line_of_the_last_two_solutions_are_nearer() {
    let Some(plugin) = library("cg") else { return };
    let iterations = |extrapolate| {
        let mut case = training("cg", EstimatorMethod::Pathwise, true, 12);
        case.train.as_mut().unwrap().learning_rate = 0.02;
        case.estimator.extrapolate = extrapolate;
        let (steps, solved) = train(&job(case, plugin.clone(), 2).0);
        for step in &steps {
            assert!(step.metrics.get(names::RESIDUAL_Y).unwrap() < 1.01e-3);
        }
        // The product that a start takes is an epoch, from the third step on.
        let products = if extrapolate { 10.0 } else { 0.0 };
        assert!(solved.entries.used >= (solved.iterations as f64 + products) * 4e4);
        solved.iterations
    };
    let (warm, extrapolated) = (iterations(false), iterations(true));
    assert!(extrapolated < warm, "{extrapolated} against {warm}");
}

#[test]
fn a_second_solve_of_y_changes_the_gradient_of_a_randomised_solver_alone() {
    let path = |plugin: &str, second_solve| {
        let file = library(&plugin.replace('-', "_"))?;
        let mut case = training(plugin, EstimatorMethod::Standard, false, 3);
        case.budget.tolerance = None;
        case.estimator.second_solve = second_solve;
        if plugin == "rr-cg" {
            case.solver.params.insert("min_iterations".into(), Param::Int(3));
        }
        let (steps, solved) = train(&job(case, file, 2).0);
        Some((steps[2].hyperparameters.clone(), solved.entries.used))
    };
    let both = |plugin: &str| Some((path(plugin, false)?, path(plugin, true)?));
    if let Some((once, twice)) = both("cholesky") {
        let same = once.0.iter().zip(&twice.0).all(|((_, a), (_, b))| (a - b).abs() < 1e-12);
        assert!(same, "{once:?} {twice:?}");
        assert!(twice.1 > 1.5 * once.1);
    }
    if let Some((once, twice)) = both("rr-cg") {
        assert_ne!(once.0, twice.0);
    }
}

#[test]
fn likelihoods_of_features_are_climbed_without_a_solver() {
    let Some(plugin) = library("cholesky") else { return };
    for (method, features) in [(EstimatorMethod::Rff, 60), (EstimatorMethod::SsRff, 100)] {
        let mut case = training("cholesky", method, false, 15);
        case.estimator.features = features;
        case.estimator.feature_step = if method == EstimatorMethod::SsRff { 50 } else { 0 };
        let (job, _folder) = job(case, plugin.clone(), 2);
        let (steps, solved) = train(&job);
        let likelihood = |step: &Step| step.metrics.get(names::LOG_MARGINAL_LIKELIHOOD).unwrap();
        assert!(likelihood(&steps[14]) > likelihood(&steps[0]) + 10.0, "{method:?}");
        assert!(steps.iter().all(|step| step.metrics.get(names::FEATURES).is_some()));
        assert_eq!((solved.entries.used, solved.iterations), (0.0, 0));
        assert!(judged(&job, &solved).get(names::TEST_NLL).is_some());
    }
}

#[test]
fn a_replayed_path_is_that_of_the_run_it_comes_from() {
    let Some(plugin) = library("cholesky") else { return };
    let (first, solved) = train(&job(training("cholesky", EstimatorMethod::Exact, false, 4), plugin, 2).0);
    let Some(plugin) = library("cg") else { return };
    let mut case = training("cg", EstimatorMethod::Pathwise, true, 4);
    let last = [solved.trained.unwrap().hyperparameters];
    case.train.as_mut().unwrap().replay =
        first.iter().map(|step| step.hyperparameters.clone()).chain(last.clone()).collect();
    let (second, ended) = train(&job(case.clone(), plugin.clone(), 2).0);
    let close = |a: &gpbench_record::Hyperparameters, b: &gpbench_record::Hyperparameters| {
        a.iter().zip(b).all(|((name, a), (other, b))| name == other && (a / b - 1.0).abs() < 1e-13)
    };
    assert!(first.iter().zip(&second).all(|(a, b)| close(&a.hyperparameters, &b.hyperparameters)));
    assert!(close(&ended.trained.unwrap().hyperparameters, &last[0]));
    case.train.as_mut().unwrap().replay.truncate(3);
    let (_, reason) = failure(&job(case, plugin, 1).0);
    assert!(reason.contains("no hyperparameters of step 3"), "{reason}");
}

#[test]
fn training_begins_at_the_average_of_fits_to_parts_of_the_data() {
    let Some(plugin) = library("cholesky") else { return };
    let mut case = training("cholesky", EstimatorMethod::Exact, false, 1);
    case.train.as_mut().unwrap().subset = Some(Subset { centroids: 3, size: 60, steps: 20 });
    let (steps, solved) = train(&job(case, plugin, 2).0);
    let begun = &steps[0];
    assert!((0.1..0.7).contains(&begun.hyperparameters["noise_scale"]), "{begun:?}");
    assert!(solved.trained.unwrap().seconds > begun.metrics.get(names::SECONDS_OUTER).unwrap());
}

#[test]
fn what_cannot_be_trained_is_said() {
    let Some(plugin) = library("cg") else { return };
    let mut case = training("cg", EstimatorMethod::Pathwise, false, 2);
    case.kernel.signal_scale = -1.0;
    let (status, reason) = failure(&job(case, plugin.clone(), 1).0);
    assert_eq!(status, Status::Invalid);
    assert!(reason.contains("signal_scale -1 is not positive"), "{reason}");
    let mut case = training("cg", EstimatorMethod::Pathwise, false, 2);
    case.train = None;
    assert_eq!(failure(&job(case, plugin, 1).0).1, "the case does not say how to train");
}

#[test]
fn a_time_budget_is_one_for_all_steps() {
    let Some(plugin) = library("cg") else { return };
    let mut case = training("cg", EstimatorMethod::Pathwise, false, 5);
    let Source::GpDraw(_) = case.dataset.source else { panic!("not a draw") };
    case.budget.seconds = Some(1e-9);
    let (job, _folder) = job(case, plugin, 1);
    let answer = messages(&worker("case", &job));
    let Some(Message::Solved(solved)) = answer.last() else { panic!("{answer:?}") };
    assert_eq!(solved.trained.as_ref().unwrap().steps, 1, "the first step finds that there is no time");
}
