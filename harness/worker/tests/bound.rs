//! Training by the gradient of a bound, with the real plugins.

use gpbench_record::{
    Case, GradientEstimator, InducingBound, Job, ParamValue, PointSelection, Solved, Start, Step, StopReason,
    names,
};

use crate::common::training::{task, training};
use crate::common::worker::{exact, job, solve_in_steps as train, timeless};

/// A bound from so many greedy points, which each step chooses anew.
const GREEDY: InducingBound =
    InducingBound { points: 20, select: PointSelection::Greedy, reselect: 1, gap: 1.0 };

/// Training of so many steps on 200 rows, from scales of 1.
fn by(plugin: &str, bound: InducingBound, start: Start, steps: u64) -> Case {
    training(plugin, GradientEstimator::Cglb { bound, start }, steps)
}

fn of(step: &Step, name: &str) -> f64 {
    step.metrics.get(name).unwrap_or_else(|| panic!("{name}: {step:?}"))
}

fn sum(steps: &[Step], name: &str) -> f64 {
    steps.iter().map(|step| of(step, name)).sum()
}

/// The hyperparameters that training ended with.
fn trained(solved: &Solved) -> &gpbench_record::Hyperparameters {
    &solved.output.training().unwrap().hyperparameters
}

#[test]
fn the_bound_is_below_the_likelihood_and_its_gap_is_kept() {
    for select in PointSelection::ALL {
        let bound = InducingBound { select, reselect: 0, ..GREEDY };
        let (job, folder) = job(by("cg", bound, Start::Warm, 12), 2);
        let (steps, solved) = train(&job);
        for step in &steps {
            let value = -200.0 * of(step, names::BOUND);
            assert!(value <= of(step, names::LOG_MARGINAL_LIKELIHOOD), "{select}: {step:?}");
            assert!((0.0..=1.0).contains(&of(step, names::BOUND_GAP)), "{step:?}");
            assert!(of(step, names::RESIDUAL_Y) <= 1.01 * of(step, names::STEP_TOLERANCE), "{step:?}");
            assert!(of(step, names::TEST_NLL).is_finite() && of(step, names::TEST_RMSE) < 2.0);
            assert_eq!(step.metrics.get(names::RESIDUAL_PROBES), None);
        }
        assert!(of(&steps[11], names::BOUND) < of(&steps[0], names::BOUND), "{select}: ascent");
        // The bound at the end is below the likelihood there.
        let case = job.case.prediction(trained(&solved)).unwrap();
        let mut last = Job { case, ..job.clone() };
        let likelihood = exact(&mut last, &folder).get(names::LOG_MARGINAL_LIKELIHOOD).unwrap();
        let value = -200.0 * solved.metrics.get(names::BOUND).unwrap();
        assert!(value <= likelihood && value > likelihood - 200.0, "{select}: {value} {likelihood}");
        assert!(solved.metrics.get(names::BOUND_GAP).is_some_and(|gap| gap < 1.0));
    }
}

#[test]
fn with_all_rows_as_points_training_is_exact() {
    let bound = InducingBound { points: 1000, ..GREEDY };
    let (exact, _) = train(&job(training("cholesky", GradientEstimator::Exact, 6), 2).0);
    let (steps, solved) = train(&job(by("cholesky", bound, Start::Cold, 6), 2).0);
    for (step, exact) in steps.iter().zip(&exact) {
        let likelihood = of(exact, names::LOG_MARGINAL_LIKELIHOOD);
        assert!((-200.0 * of(step, names::BOUND) / likelihood - 1.0).abs() < 1e-3, "{step:?}");
        for (name, scale) in &exact.hyperparameters {
            assert!((step.hyperparameters[name] / scale - 1.0).abs() < 1e-3, "{name}: {step:?}");
        }
        assert!((of(step, names::TEST_RMSE) / of(exact, names::TEST_RMSE) - 1.0).abs() < 1e-3, "{step:?}");
    }
    assert!(solved.metrics.get(names::UNEXPLAINED_VARIANCE).unwrap() < 1e-3);
}

#[test]
fn a_wider_gap_and_a_warm_start_take_fewer_iterations() {
    let iterations = |gap: f64, start: Start| {
        let bound = InducingBound { gap, ..GREEDY };
        train(&job(by("cg", bound, start, 8), 2).0).1.iterations
    };
    let (wide, narrow) = (iterations(1.0, Start::Cold), iterations(1e-6, Start::Cold));
    assert!(wide < narrow, "{wide} {narrow}");
    let (warm, extrapolated) = (iterations(1e-6, Start::Warm), iterations(1e-6, Start::Extrapolated));
    assert!(warm < narrow && extrapolated < narrow, "{warm} {extrapolated} {narrow}");
}

#[test]
fn the_entries_of_the_bound_count_and_its_epochs_are_within_the_budget() {
    let (n, m) = (200.0, 20.0);
    let case = |reselect, max_epochs| {
        let bound = InducingBound { reselect, gap: 1e-12, ..GREEDY };
        let mut case = by("cg", bound, Start::Cold, 4);
        case.budget.max_epochs = max_epochs;
        case
    };
    let (steps, solved) = train(&job(case(2, None), 2).0);
    // A residual, the entries of K(X, Z) and K(Z, Z), and at the first and the third step those of the selection.
    let of_bound = 4.0 * (n * n + n * m + m * m) + 2.0 * n * m;
    // An iteration of `cg` uses n^2 entries.
    assert_eq!(solved.entries.used, sum(&steps, names::ITERATIONS) * n * n + of_bound);
    assert!((sum(&steps, names::EPOCHS) * n * n - solved.entries.used).abs() < 1e-6);

    let (steps, _) = train(&job(case(1, Some(8.0)), 2).0);
    for step in &steps {
        assert_eq!(step.reason, StopReason::Epochs);
        assert!((6.0..=8.0).contains(&of(step, names::EPOCHS)), "{step:?}");
        // The bound holds whatever the solution is.
        assert!(-n * of(step, names::BOUND) <= of(step, names::LOG_MARGINAL_LIKELIHOOD));
    }
}

#[test]
fn training_by_a_bound_that_was_interrupted_ends_as_one_that_was_not() {
    for (select, reselect) in [(PointSelection::Greedy, 2), (PointSelection::Kmeans, 0)] {
        let case = |steps| {
            let bound = InducingBound { select, reselect, ..GREEDY };
            let mut case = by("cg", bound, Start::Warm, steps);
            case.solver.params.insert("recycle".into(), ParamValue::Int(10));
            case
        };
        let (whole, _folder) = job(case(6), 2);
        let (steps, solved) = train(&whole);
        // The fourth step takes over the points of the third.
        let (mut first, folder) = job(case(3), 1);
        first.checkpoint_file = Some(folder.path().join("checkpoint.safetensors"));
        train(&first);
        let second = Job { case: case(6), ..first };
        let (resumed, ended) = train(&second);
        assert_eq!(timeless(&resumed), timeless(&steps), "{select}");
        assert_eq!((ended.entries, ended.iterations), (solved.entries, solved.iterations));
        assert_eq!(trained(&ended), trained(&solved));
        assert_eq!(ended.metrics.get(names::BOUND), solved.metrics.get(names::BOUND));
    }
}

#[test]
fn a_constant_mean_and_fixed_scales_are_trained_as_with_other_estimators() {
    let mut case = by("cholesky", GREEDY, Start::Cold, 6);
    case.kernel.mean = Some(0.5);
    task(&mut case).fixed = vec![gpbench_record::Scale::NoiseScale];
    let (steps, solved) = train(&job(case, 2).0);
    // Targets have mean 0: Adam's first step, of the learning rate, leads down.
    assert!((steps[1].hyperparameters["mean"] - 0.4).abs() < 1e-6, "{:?}", steps[1]);
    assert!((trained(&solved)["noise_scale"] - 1.0).abs() < 1e-12);
    assert!(steps.is_sorted_by(|a, b| of(a, names::BOUND) > of(b, names::BOUND)), "ascent");
}
