//! Training by the program itself, with the real plugins.

use gpbench_record::{
    CaseStatus, FeatureEstimator, Frequencies, GradientEstimator, Grid, Job, Landscape, Message, ParamValue,
    Probes, Scale, Start, Step, StopReason, Subset, names,
};

use crate::common;
use crate::common::training::{EXACT, solutions, task, trained, training, verified};
use crate::common::worker::{
    exact, failure, job, messages, solve_in_steps as train, timeless, verify, worker,
};

#[test]
fn exact_training_with_cholesky_is_exact_training() {
    let (mut job, folder) = job(training("cholesky", EXACT, 8), 2);
    let (steps, solved) = train(&job);
    let trained = trained(&solved);
    assert_eq!((steps.len(), solved.metrics.get(names::STEPS), solved.n), (8, Some(8.0), 200));
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
fn the_landscape_has_its_maximum_where_exact_training_ends() {
    let mut case = training("cholesky", EXACT, 60);
    let grid = Grid { length_scale: [0.05, 5.0], noise_scale: [0.01, 2.0], points: 15 };
    (task(&mut case).landscape, task(&mut case).shared_length_scale) = (Some(grid), true);
    let (job, _folder) = job(case, 2);
    let (steps, solved) = train(&job);
    let trained = trained(&solved);
    let Landscape { length_scale, noise_scale, log_likelihood } = *trained.landscape.clone().unwrap();
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
    let mut case = training("cholesky", EXACT, 3);
    task(&mut case).fixed = vec![Scale::NoiseScale, Scale::SignalScale];
    let (job, _folder) = job(case, 2);
    let (_, solved) = train(&job);
    for (name, scale) in &trained(&solved).hyperparameters {
        let moved = (scale - 1.0).abs();
        assert!(if name.starts_with("length") { moved > 0.01 } else { moved < 1e-12 }, "{name} {scale}");
    }
}

#[test]
fn a_constant_mean_is_trained_beside_the_scales() {
    let rff = FeatureEstimator::Rff { features: 200, frequencies: Frequencies::MultivariateT };
    for (name, gradient) in [
        ("cholesky", EXACT),
        ("cholesky", GradientEstimator::Features(rff)),
        ("cg", solutions(common::pathwise(16), Start::Cold)),
    ] {
        let mut case = training(name, gradient, 12);
        case.kernel.mean = Some(0.5);
        case.budget.tolerance = Some(1e-9);
        let (job, folder) = job(case, 2);
        let (steps, solved) = train(&job);
        // Targets have mean 0: Adam's first step, of the learning rate, leads down, and others follow.
        let means: Vec<f64> = steps.iter().map(|step| step.hyperparameters["mean"]).collect();
        assert!((means[1] - 0.4).abs() < 1e-6, "{gradient:?} {means:?}");
        let trained = trained(&solved);
        assert!(trained.hyperparameters["mean"] < 0.3, "{gradient:?} {means:?}");
        if gradient == EXACT {
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
    let case = training("cholesky", solutions(common::pathwise(16), Start::Warm), 3);
    let (job, _folder) = job(case, 2);
    let (steps, _) = train(&job);
    let distance = |step: &Step| step.metrics.get(names::INITIAL_DISTANCE).unwrap();
    // From zero, |x|_H^2 = b^T H^-1 b, which for a pathwise target has the mean n.
    assert!((distance(&steps[0]).powi(2) / 200.0 - 1.0).abs() < 0.1, "{}", distance(&steps[0]));
    assert!(steps[1..].iter().all(|step| distance(step) < 0.5 * distance(&steps[0])));
}

#[test]
fn warm_starts_reach_the_tolerance_in_fewer_epochs() {
    let epochs = |probes, start| {
        let mut case = training("ap", solutions(probes, start), 12);
        case.solver.params.insert("block_size".into(), ParamValue::Int(50));
        case.budget.tolerance = Some(1e-2);
        let (job, _folder) = job(case, 2);
        let (steps, solved) = train(&job);
        for step in &steps {
            assert_eq!(step.reason, StopReason::Converged);
            assert!(step.metrics.get(names::RESIDUAL_Y).unwrap() < 1.01e-2);
            assert!(step.metrics.get(names::RESIDUAL_PROBES).unwrap() < 1.01e-2);
            let has_samples = matches!(probes, Probes::Pathwise(_));
            assert_eq!(step.metrics.get(names::TEST_NLL).is_some(), has_samples);
        }
        let used = |step: &Step| step.metrics.get(names::EPOCHS).unwrap();
        let sum: f64 = steps.iter().map(used).sum();
        assert!((sum - solved.entries.used / 4e4).abs() < 1e-9);
        let metrics = verified(&job, &solved);
        assert!(metrics.get(names::RESIDUAL_MAX).is_some_and(|residual| residual < 0.1));
        assert!(metrics.get(names::TEST_NLL).is_some() && metrics.get(names::CRPS).is_some());
        sum
    };
    for probes in [common::standard(16), common::pathwise(16)] {
        let (cold, warm) = (epochs(probes, Start::Cold), epochs(probes, Start::Warm));
        assert!(warm < 0.8 * cold, "{probes:?}: {warm} against {cold}");
    }
}

/// The first product of a warm start is a residual in double precision; those in single precision that follow are the
/// ones that find entries in memory.
#[test]
fn corrections_of_warm_starts_find_entries_in_memory() {
    let trained = |memory_bytes| {
        let mut case = training("cg", solutions(common::pathwise(16), Start::Warm), 4);
        case.solver.params.insert("precision".into(), ParamValue::Text("mixed".into()));
        case.budget.memory_bytes = memory_bytes;
        let (job, _folder) = job(case, 2);
        let (steps, solved) = train(&job);
        (timeless(&steps), std::fs::read(&job.solution_file).unwrap(), solved)
    };
    let (steps, solution, without) = trained(None);
    let (same_steps, same_solution, with) = trained(Some(1 << 30));
    assert!(same_steps == steps && same_solution == solution, "the cache changes no bit");
    let (with, without) = (with.entries, without.entries);
    assert_eq!((without.found, with.used), (0.0, without.used));
    assert_eq!(with.evaluated + with.found, without.evaluated);
    // Each system evaluates its entries once in single precision, beside its residuals in double.
    assert!(with.found > 0.5 * without.evaluated, "{with:?}");
}

#[test]
fn one_length_scale_may_be_trained_for_all_inputs() {
    let mut case = training("cg", solutions(common::standard(16), Start::Cold), 2);
    task(&mut case).shared_length_scale = true;
    let (job, _folder) = job(case, 1);
    let (steps, solved) = train(&job);
    let names: Vec<&String> = steps[1].hyperparameters.keys().collect();
    assert_eq!(names, ["length_scale", "noise_scale", "signal_scale"]);
    assert!(verified(&job, &solved).get(names::TEST_RMSE).is_some());
}

#[test]
fn probes_are_drawn_afresh_unless_starts_are_warm() {
    // At a tiny learning rate the same probes give the same gradient, and Adam the same step again.
    let repeats_its_step = |start| {
        let mut case = training("cholesky", solutions(common::standard(1), start), 3);
        task(&mut case).learning_rate = 1e-6;
        let (steps, _) = train(&job(case, 1).0);
        let scale = |step: usize| steps[step].hyperparameters["length_scale_0"];
        let (first, second) = (scale(1) - scale(0), scale(2) - scale(1));
        (second - first).abs() < 1e-4 * first.abs()
    };
    assert!(repeats_its_step(Start::Warm) && !repeats_its_step(Start::Cold));
}

#[test]
fn starts_on_the_line_of_the_last_two_solutions_are_nearer() {
    let iterations = |start| {
        let mut case = training("cg", solutions(common::pathwise(16), start), 12);
        task(&mut case).learning_rate = 0.02;
        let (steps, solved) = train(&job(case, 2).0);
        for step in &steps {
            assert!(step.metrics.get(names::RESIDUAL_Y).unwrap() < 1.01e-3);
        }
        // The product that a start takes is an epoch, from the third step on.
        let products = if start == Start::Extrapolated { 10.0 } else { 0.0 };
        assert!(solved.entries.used >= (solved.iterations as f64 + products) * 4e4);
        solved.iterations
    };
    let (warm, extrapolated) = (iterations(Start::Warm), iterations(Start::Extrapolated));
    assert!(extrapolated < warm, "{extrapolated} against {warm}");
}

#[test]
fn a_second_solve_of_y_changes_the_gradient_of_a_randomised_solver_alone() {
    let path = |plugin: &str, second_solve| {
        let probes = common::standard(16);
        let gradient = GradientEstimator::Solutions { probes, second_solve, start: Start::Cold };
        let mut case = training(plugin, gradient, 3);
        case.budget.tolerance = None;
        if plugin == "rr-cg" {
            case.solver.params.insert("min_iterations".into(), ParamValue::Int(3));
        }
        let (steps, solved) = train(&job(case, 2).0);
        (steps[2].hyperparameters.clone(), solved.entries.used)
    };
    let (once, twice) = (path("cholesky", false), path("cholesky", true));
    let same = once.0.iter().zip(&twice.0).all(|((_, a), (_, b))| (a - b).abs() < 1e-12);
    assert!(same, "{once:?} {twice:?}");
    assert!(twice.1 > 1.5 * once.1);
    assert_ne!(path("rr-cg", false).0, path("rr-cg", true).0);
}

#[test]
fn likelihoods_of_features_are_maximised_without_a_solver() {
    let frequencies = Frequencies::MultivariateT;
    for estimator in [
        FeatureEstimator::Rff { features: 60, frequencies },
        FeatureEstimator::SsRff { features: 100, step: 50, frequencies },
    ] {
        let case = training("cholesky", GradientEstimator::Features(estimator), 15);
        let (job, _folder) = job(case, 2);
        let (steps, solved) = train(&job);
        let likelihood = |step: &Step| step.metrics.get(names::LOG_MARGINAL_LIKELIHOOD).unwrap();
        assert!(likelihood(&steps[14]) > likelihood(&steps[0]) + 10.0, "{estimator:?}");
        assert!(steps.iter().all(|step| step.metrics.get(names::FEATURES).is_some()));
        assert_eq!((solved.entries.used, solved.iterations), (0.0, 0));
        assert!(verified(&job, &solved).get(names::TEST_NLL).is_some());
    }
}

#[test]
fn a_replayed_path_is_that_of_the_run_it_comes_from() {
    let (first, solved) = train(&job(training("cholesky", EXACT, 4), 2).0);
    let mut case = training("cg", solutions(common::pathwise(16), Start::Warm), 4);
    let last = [trained(&solved).hyperparameters.clone()];
    task(&mut case).replay =
        first.iter().map(|step| step.hyperparameters.clone()).chain(last.clone()).collect();
    let (second, ended) = train(&job(case.clone(), 2).0);
    let close = |a: &gpbench_record::Hyperparameters, b: &gpbench_record::Hyperparameters| {
        a.iter().zip(b).all(|((name, a), (other, b))| name == other && (a / b - 1.0).abs() < 1e-13)
    };
    assert!(first.iter().zip(&second).all(|(a, b)| close(&a.hyperparameters, &b.hyperparameters)));
    assert!(close(&trained(&ended).hyperparameters, &last[0]));
    task(&mut case).replay.truncate(3);
    let (_, reason) = failure(&job(case, 1).0);
    assert!(reason.contains("no hyperparameters of step 3"), "{reason}");
}

#[test]
fn training_begins_at_the_average_of_fits_to_parts_of_the_data() {
    let mut case = training("cholesky", EXACT, 1);
    task(&mut case).subset =
        Some(Subset { centroids: 3, size: 60, steps: 20, learning_rate: 0.1, tolerance: 1e-3 });
    let (steps, solved) = train(&job(case, 2).0);
    let begun = &steps[0];
    assert_eq!(solved.metrics.get(names::UNCONVERGED_FITS), Some(3.0));
    assert!((0.1..0.7).contains(&begun.hyperparameters["noise_scale"]), "{begun:?}");
    assert!(
        solved.metrics.get(names::SECONDS_TRAIN).unwrap() > begun.metrics.get(names::SECONDS_OUTER).unwrap()
    );
}

#[test]
fn impossible_training_is_refused() {
    let mut case = training("cg", solutions(common::pathwise(16), Start::Cold), 2);
    case.kernel.signal_scale = -1.0;
    let (status, reason) = failure(&job(case, 1).0);
    assert_eq!(status, CaseStatus::Invalid);
    assert!(reason.contains("signal_scale -1 is not positive"), "{reason}");
    let (job, _folder) = job(training("cg", EXACT, 2), 1);
    assert!(messages(&worker("verify", &job)).iter().any(|message| matches!(message, Message::Failed(_))));
}

#[test]
fn a_time_budget_is_one_for_all_steps() {
    let mut case = training("cg", solutions(common::pathwise(16), Start::Cold), 5);
    case.budget.seconds = Some(1e-9);
    let (job, _folder) = job(case, 1);
    let answer = messages(&worker("case", &job));
    let Some(Message::Solved(solved)) = answer.last() else { panic!("{answer:?}") };
    assert_eq!(solved.metrics.get(names::STEPS), Some(1.0), "the first step finds that there is no time");
}
