//! Thompson sampling by the program itself, with the real plugins.

use crate::common;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::common::worker::{
    failure, fault, job, messages, solve_in_steps as run, timeless, verified, worker,
};
use gpbench_data::Split;
use gpbench_data::synthetic::{Design, DrawnObjective};
use gpbench_gp::thompson::candidates;
use gpbench_gp::thread_pool;
use gpbench_record::{
    Ascent, Candidates, Case, CaseStatus, Dataset, Exploit, Family, FaultCause, Frequencies, Inducing, Job,
    Kernel, Message, Objective, ObjectiveDraw, ParamValue, PathwiseTargets, PriorSource, Solved, Source,
    Step, StopReason, Task, Thompson, ThompsonOutput, WarmStart, names,
};
use gpbench_worker::rows::Rows;
use gpbench_worker::system::{System, SystemSpec};
use ndarray::{Array1, ArrayView2, Axis};
use serde_json::{Value, json};

/// An objective with `d` inputs, made of features.
fn objective(d: usize) -> Objective {
    let draw = ObjectiveDraw::Features { features: 512, frequencies: Frequencies::MultivariateT };
    let (signal_scale, noise_scale, length_scale) = (1.0, 0.1, 0.4);
    Objective { n: 100, d, kernel: Family::Matern32, signal_scale, noise_scale, length_scale, draw }
}

/// The search of an objective by steps of 6 points, with the kernel that it was drawn with.
fn search(plugin: &str, objective: Objective, steps: u64) -> Case {
    let mut case = common::by(plugin, common::case(30));
    case.kernel = Kernel {
        signal_scale: objective.signal_scale,
        noise_scale: objective.noise_scale,
        length_scale: vec![objective.length_scale],
        ..case.kernel
    };
    case.dataset = Dataset::new("objective", Source::Objective(objective));
    let prior = PriorSource::Features { features: 128, frequencies: Frequencies::MultivariateT };
    case.task = Task::Thompson(Box::new(Thompson {
        estimator: "pathwise".into(),
        targets: PathwiseTargets { probes: 6, prior },
        share_features: false,
        steps,
        candidates: Candidates {
            rounds: 2,
            points: 80,
            explore: 0.1,
            nearby: 0.5,
            exploit: Exploit::Shifted,
        },
        ascent: Ascent { steps: 20, learning_rate: 0.01 },
        warm_start: WarmStart::None,
        inducing: None,
        replay: Vec::new(),
    }));
    case
}

fn task(case: &mut Case) -> &mut Thompson {
    match &mut case.task {
        Task::Thompson(thompson) => thompson,
        other => panic!("{other:?}"),
    }
}

/// The case with a tolerance.
fn to(tolerance: f64, mut case: Case) -> Case {
    case.budget.tolerance = Some(tolerance);
    case
}

fn output(solved: &Solved) -> &ThompsonOutput {
    solved.output.thompson().unwrap()
}

/// The largest distance of two lists of numbers.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn metric(step: &Step, name: &str) -> f64 {
    step.metrics.get(name).unwrap_or_else(|| panic!("{name} is missing"))
}

#[test]
fn a_search_finds_larger_values_than_random_search_and_is_verified() {
    for draw in [objective(2).draw, ObjectiveDraw::Exact] {
        let (job, _folder) = job(search("cholesky", Objective { draw, ..objective(4) }, 4), 2);
        let (steps, solved) = run(&job);
        assert_eq!((steps.len(), solved.n, solved.d), (4, 100, 4));
        assert_eq!(output(&solved).points.len(), 4 * 6 * 4);
        assert!(output(&solved).points.iter().all(|value| (0.0..=1.0).contains(value)));
        assert_eq!(metric(&steps[3], names::ROWS_OF_STEP), 118.0);
        assert!(steps.iter().all(|step| metric(step, names::RESIDUAL_Y) < 1e-10));
        assert!(steps.is_sorted_by(|a, b| metric(a, names::BEST) <= metric(b, names::BEST)));
        // A step uses all entries once, and chooses among 160 candidates and 12 ascents of 20 steps.
        assert_eq!(metric(&steps[0], names::ENTRIES_ACQUIRE), (160.0 + 21.0 * 12.0) * 100.0);
        assert_eq!(solved.metrics.get(names::STEPS), Some(4.0));
        let entries: f64 = steps.iter().map(|step| metric(step, names::ENTRIES)).sum();
        assert_eq!(solved.metrics.get(names::ENTRIES), Some(entries));

        let found = verified(&job);
        let value = |name: &str| found.metrics.get(name).unwrap();
        assert_eq!(value(names::BEST), metric(&steps[3], names::BEST), "{draw:?}");
        assert_eq!(found.random_search.len(), 4);
        assert_eq!(value(names::BEST_RANDOM), found.random_search[3]);
        assert_eq!(value(names::GAIN), value(names::BEST) - value(names::BEST_RANDOM));
        assert!(value(names::GAIN) > 0.0, "{draw:?}: {}", value(names::GAIN));
        assert!(value(names::BEST_START) <= found.random_search[0]);
        assert!(value(names::RESIDUAL_MAX) < 1e-10);
        let area: f64 = steps.iter().map(|step| metric(step, names::BEST)).sum::<f64>() / 4.0;
        assert!((value(names::AREA) - area).abs() < 1e-12);
    }
}

#[test]
fn accurate_solvers_choose_the_same_points_from_wherever_they_start() {
    let points = |case: Case| output(&run(&job(case, 2).0).1).points.clone();
    let warm = |mut case: Case, start: WarmStart| {
        task(&mut case).warm_start = start;
        case
    };
    let exact = points(search("cholesky", objective(2), 3));
    let cg = || to(1e-12, search("cg", objective(2), 3));
    assert!(distance(&exact, &points(cg())) < 1e-6);
    assert!(distance(&exact, &points(warm(cg(), WarmStart::Mean))) < 1e-6);
    // Prior functions that are kept are others.
    assert!(distance(&exact, &points(warm(cg(), WarmStart::All))) > 1e-3);
}

#[test]
fn threads_change_no_bit() {
    let (one, _first) = job(to(1e-6, search("cg", objective(3), 2)), 1);
    let (three, _second) = job(to(1e-6, search("cg", objective(3), 2)), 3);
    let (steps, solved) = run(&one);
    let (others, same) = run(&three);
    assert_eq!(timeless(&steps), timeless(&others));
    assert_eq!(output(&solved), output(&same));
}

#[test]
fn a_search_that_was_interrupted_ends_as_one_that_was_not() {
    let starts = [WarmStart::None, WarmStart::Mean, WarmStart::All];
    for (start, draw) in
        starts.into_iter().zip([objective(1).draw, ObjectiveDraw::Exact, ObjectiveDraw::Exact])
    {
        let case = |steps| {
            let mut case = to(1e-4, search("cg", Objective { draw, ..objective(1) }, steps));
            task(&mut case).warm_start = start;
            case
        };
        let (whole, _folder) = job(case(4), 2);
        let (steps, solved) = run(&whole);
        for before in 1..=4 {
            let (mut first, folder) = job(case(before), 1);
            first.checkpoint_file = Some(folder.path().join("checkpoint.safetensors"));
            run(&first);
            let second = Job { case: case(4), ..first.clone() };
            let (resumed, ended) = run(&second);
            assert_eq!(timeless(&resumed), timeless(&steps), "{start:?} after {before} steps");
            assert_eq!((ended.entries, ended.iterations), (solved.entries, solved.iterations));
            assert_eq!(output(&ended), output(&solved));
            let read = |job: &Job| fs::read(&job.solution_file).unwrap();
            assert!(read(&second) == read(&whole), "{start:?} after {before} steps");
            fs::write(second.checkpoint_file.as_ref().unwrap(), "something else").unwrap();
            assert_eq!(fault("case", &second).cause, FaultCause::Checkpoint);
        }
    }
}

#[test]
fn replayed_points_are_acquired_and_chosen_ones_are_judged() {
    let (path, _folder) = job(search("cholesky", objective(2), 3), 2);
    let (steps, solved) = run(&path);
    let replaying = |plugin: &str, budget: Option<f64>| {
        let mut case = search(plugin, objective(2), 3);
        task(&mut case).replay = output(&solved).points.clone();
        case.budget.max_epochs = budget;
        job(case, 2)
    };
    // The same solver chooses the points that are replayed.
    let (same, _same_folder) = replaying("cholesky", None);
    let (again, of_same) = run(&same);
    assert_eq!(output(&of_same).points, output(&solved).points);
    for (first, second) in steps.iter().zip(&again) {
        for name in [names::BEST, names::BATCH_MEAN, names::OPTIMISM] {
            assert!((metric(first, name) - metric(second, name)).abs() < 1e-12, "{name}");
        }
    }
    let (other, _other_folder) = replaying("cg", Some(2.0));
    let (others, of_other) = run(&other);
    assert_eq!(output(&of_other).points, output(&solved).points);
    for (first, second) in steps.iter().zip(&others) {
        assert_eq!(metric(first, names::BEST), metric(second, names::BEST));
        assert_ne!(metric(first, names::BATCH_MEAN), metric(second, names::BATCH_MEAN));
    }
    let (first, second) = (verified(&path).metrics, verified(&other).metrics);
    assert_eq!(first.get(names::BEST), second.get(names::BEST));
}

#[test]
fn a_singular_kernel_matrix_is_a_divergence() {
    // Noise below rounding: rows of the same point make the matrix singular.
    let noiseless = |replay: Vec<f64>| {
        let mut case = search("cholesky", objective(2), 3);
        case.kernel.noise_scale = 1e-10;
        task(&mut case).replay = replay;
        case
    };
    // The first step acquires one point six times, so that the second step has no solution.
    let points: Vec<f64> = [[0.3, 0.7]; 18].concat();
    let (path, _folder) = job(noiseless(points), 2);
    let (steps, solved) = run(&path);
    assert_eq!((steps.len(), solved.reason), (1, StopReason::Diverged));
    let divergence = output(&solved).divergence.clone().unwrap();
    assert!(divergence.starts_with("step 1: "), "{divergence}");
    assert!(divergence.ends_with("; the result is that of step 0"), "{divergence}");
    let metrics = verified(&path).metrics;
    assert!(metrics.get(names::BEST).is_some_and(f64::is_finite), "{metrics:?}");

    // Without a solution of the first step there is no result.
    let mut case = noiseless(Vec::new());
    case.kernel.family = Family::Rbf.into();
    case.kernel.length_scale = vec![1e4];
    let (path, _folder) = job(case, 2);
    let (status, reason) = failure(&path);
    assert_eq!(status, CaseStatus::Diverged);
    assert!(reason.starts_with("step 0: "), "{reason}");
}

#[test]
fn inducing_points_take_part() {
    let mut case = search("sgd-rff", objective(2), 2);
    task(&mut case).inducing = Some(Inducing::Subset { points: 40 });
    case.budget.max_epochs = Some(20.0);
    case.solver.params.insert("batch_size".into(), ParamValue::Int(20));
    let (job, _folder) = job(case, 2);
    let (steps, _) = run(&job);
    assert!(steps.iter().all(|step| step.metrics.get(names::RESIDUAL_Y).is_none()));
    assert_eq!(metric(&steps[0], names::ENTRIES_ACQUIRE), (160.0 + 21.0 * 12.0) * 40.0);
    let metrics = verified(&job).metrics;
    assert_eq!(metrics.get(names::INDUCING_POINTS), Some(40.0));
    assert!(metrics.get(names::BEST).is_some());
}

#[test]
fn the_protocol_of_public_code_is_another_search() {
    let best = |change: fn(&mut Thompson)| {
        let mut case = search("cholesky", objective(2), 2);
        change(task(&mut case));
        let (job, _folder) = job(case, 2);
        let (_, solved) = run(&job);
        assert!(verified(&job).metrics.get(names::BEST).is_some());
        output(&solved).points.clone()
    };
    let ours = best(|_| ());
    assert_ne!(best(|thompson| thompson.share_features = true), ours);
    assert_ne!(best(|thompson| thompson.candidates.exploit = Exploit::Public2023), ours);
    assert_ne!(best(|thompson| thompson.ascent.steps = 0), ours);
}

#[test]
fn one_input_is_illustrated_and_fifty_are_not() {
    let illustration = |d| {
        let (job, _folder) = job(search("cholesky", objective(d), 2), 2);
        let (_, solved) = run(&job);
        assert!(verified(&job).metrics.get(names::BEST).is_some());
        output(&solved).illustration.clone()
    };
    assert_eq!(illustration(50), None);
    let drawn = illustration(1).unwrap();
    assert_eq!((drawn.x.len(), drawn.objective.len(), drawn.data.len()), (401, 401, 100));
    assert_eq!((drawn.candidates.len(), drawn.samples.len()), (80, 3));
    for sample in &drawn.samples {
        assert_eq!((sample.values.len(), sample.ascents.len()), (401, 2));
        assert!(sample.ascents.iter().all(|ascent| ascent.len() == 21));
        // Nothing on the grid is much larger than the point that the sample chose.
        let largest = sample.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!(sample.chosen[1] > largest - 1e-3, "{:?} {largest}", sample.chosen);
    }
}

#[test]
fn a_batch_may_be_larger_than_the_candidates() {
    let mut case = search("cholesky", objective(2), 2);
    task(&mut case).candidates.points = 3;
    let (job, _folder) = job(case, 2);
    run(&job);
    assert!(verified(&job).metrics.get(names::GAIN).is_some());
}

#[test]
fn a_time_budget_ends_the_search_after_a_step() {
    let mut case = to(1e-6, search("cg", objective(2), 5));
    case.budget.seconds = Some(1e-9);
    let (job, _folder) = job(case, 1);
    let (steps, solved) = run(&job);
    assert_eq!((steps.len(), solved.metrics.get(names::STEPS)), (1, Some(1.0)));
    // The weights are zero: the samples are prior draws.
    assert!(metric(&steps[0], names::RESIDUAL_Y) > 0.5);
    assert_eq!(verified(&job).random_search.len(), 1);
}

#[test]
fn what_a_search_reports_is_computed_again() {
    let (job, _folder) = job(search("cholesky", objective(1), 2), 1);
    run(&job);
    let good = fs::read(&job.solution_file).unwrap();
    let refuse = |from: &Job| match messages(&worker("verify", from)).pop() {
        Some(Message::Failed(failure)) => (failure.status, failure.reason),
        other => panic!("{other:?}"),
    };
    // Another objective has other values at these points.
    let mut other = job.clone();
    other.case.seed += 1;
    let (status, reason) = refuse(&other);
    assert_eq!(status, CaseStatus::Invalid);
    assert!(reason.starts_with("step 0 reports a best value of "), "{reason}");
    // Other candidates have a better one than the points that were chosen among fewer.
    let mut other = job.clone();
    let thompson = task(&mut other.case);
    thompson.candidates.points = 5000;
    thompson.candidates.explore = 1.0;
    let (status, reason) = refuse(&other);
    assert_eq!(status, CaseStatus::Invalid);
    assert!(reason.contains(" of step 1 is ") && reason.ends_with(" at a candidate"), "{reason}");
    fs::write(&job.solution_file, &good[..good.len() - 8]).unwrap();
    assert_eq!(fault("verify", &job).cause, FaultCause::Solution);
}

#[test]
fn an_exact_prior_cannot_be_followed() {
    let mut case = search("cholesky", objective(2), 2);
    task(&mut case).targets.prior = PriorSource::Exact;
    let (status, reason) = failure(&job(case, 1).0);
    assert_eq!(status, CaseStatus::Invalid);
    assert_eq!(reason, "samples can be followed only where prior functions are made of features");
}

/// A search of three steps of four points, small enough for a dense computation elsewhere.
fn small() -> Case {
    let draw = ObjectiveDraw::Features { features: 64, frequencies: Frequencies::MultivariateT };
    let mut case = search("cholesky", Objective { draw, ..objective(3) }, 3);
    let thompson = task(&mut case);
    thompson.targets = PathwiseTargets {
        probes: 4,
        prior: PriorSource::Features { features: 32, frequencies: Frequencies::MultivariateT },
    };
    thompson.candidates.points = 50;
    case
}

/// All random numbers of a search that has acquired `points`, as JSON.
fn drawn(case: &Case, points: &[f64]) -> Value {
    let (Source::Objective(of), Task::Thompson(task)) = (&case.dataset.source, &case.task) else {
        panic!("not a search")
    };
    let rows = |a: ArrayView2<f64>| a.rows().into_iter().map(|row| row.to_vec()).collect::<Vec<_>>();
    let mut objective = DrawnObjective::new(of, case.seed).unwrap();
    let noise_of =
        |observed: &Array1<f64>, values: &Array1<f64>| ((observed - values) / of.noise_scale).to_vec();
    let features = objective.features().unwrap();
    let objective_omega = rows(features.omega());
    let weights = objective.streams().normals("weights", features.count(), 1).column(0).to_vec();
    let Design { mut x, values, mut observed } = objective.design().unwrap();
    let (design, design_noise) = (rows(x.view()), noise_of(&observed, &values));
    let batch = task.targets.probes;
    let mut steps = Vec::new();
    for (step, points) in points.chunks(batch * of.d).enumerate() {
        let rows_so_far = Rows {
            split: Arc::new(Split::raw(x.clone(), observed.clone())),
            units: None,
            test_rows: None,
            dataset: case.dataset.clone(),
            seed: case.seed,
        };
        let system = System::build(SystemSpec {
            rows: &rows_so_far,
            kernel: &case.kernel,
            probes: case.task.probes().unwrap(),
            redraw: Some(step as u64),
            features: None,
            inducing: None,
            pool: &thread_pool(1).unwrap(),
        })
        .unwrap();
        let candidates: Vec<_> = (0..task.candidates.rounds)
            .map(|round| {
                let mut rng = system.streams.stream(&format!("candidates/{step}/{round}"));
                let lengths = vec![of.length_scale; of.d];
                rows(candidates(&task.candidates, &lengths, x.view(), observed.view(), &mut rng).view())
            })
            .collect();
        let points = ArrayView2::from_shape((batch, of.d), points).unwrap();
        let (values, new) = objective.ask(points).unwrap();
        steps.push(json!({
            "omega": rows(system.features.as_ref().unwrap().omega()),
            "weights": rows(system.prior_weights(batch).unwrap().view()),
            "noise": rows((&system.targets.noise / of.noise_scale).view()),
            "candidates": candidates,
            "noise_of_points": noise_of(&new, &values),
        }));
        x.append(Axis(0), points).unwrap();
        observed.append(Axis(0), new.view()).unwrap();
    }
    json!({
        "length_scale": of.length_scale, "signal_scale": of.signal_scale, "noise_scale": of.noise_scale,
        "ascent_steps": task.ascent.steps, "learning_rate": task.ascent.learning_rate,
        "objective_omega": objective_omega, "objective_weights": weights,
        "design": design, "design_noise": design_noise, "steps": steps,
    })
}

/// Compares all numbers of two JSON values.
fn assert_same(a: &Value, b: &Value, tolerance: f64) {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len());
            a.iter().zip(b).for_each(|(a, b)| assert_same(a, b, tolerance));
        }
        (Value::Object(a), Value::Object(b)) => {
            assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
            a.iter().for_each(|(key, a)| assert_same(a, &b[key], tolerance));
        }
        _ => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= tolerance, "{a} {b}");
        }
    }
}

/// `data/thompson_small.json` is made by `data/thompson_small.py` from the random numbers that this test writes into the
/// folder for temporary files.
#[test]
fn points_are_those_of_a_dense_computation_by_numpy() {
    let (job, _folder) = job(small(), 1);
    let (steps, solved) = run(&job);
    let points = &output(&solved).points;
    let drawn = drawn(&job.case, points);
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("thompson_drawn.json"), drawn.to_string()).unwrap();
    let oracle = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/thompson_small.json");
    let oracle: Value = serde_json::from_str(&fs::read_to_string(oracle).unwrap()).unwrap();
    assert_same(&drawn, &oracle["drawn"], 1e-8);
    let batches: Vec<Vec<&[f64]>> = points.chunks(12).map(|batch| batch.chunks(3).collect()).collect();
    assert_same(&json!(batches), &oracle["points"], 1e-9);
    for (name, key) in [(names::BEST, "best"), (names::OPTIMISM, "optimism")] {
        let found: Vec<f64> = steps.iter().map(|step| metric(step, name)).collect();
        assert_same(&json!(found), &oracle[key], 1e-9);
    }
}
