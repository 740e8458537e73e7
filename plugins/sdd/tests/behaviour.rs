//! Learning rates, averages, budgets, warm starts, degenerate systems: what has to hold whatever the numbers.

use gpbench_plugin_sdd::{GradientPoint, Sdd, SddParams};
use gpbench_sdk::ndarray::Array2;
use gpbench_sdk::{ParamValue, Reason};
use gpbench_testing::{
    DenseProblem, Outcome, matern32, scattered, scattered_inputs, scattered_right_hand_sides,
};
use gpbench_testkit::{ClosedForm, assert_close};

const N: usize = 120;

fn a() -> Array2<f64> {
    matern32(&scattered_inputs(N), 1.0, 0.5, &[0.3, 0.3])
}

/// 120 rows and 3 right-hand sides.
fn well_posed() -> DenseProblem {
    DenseProblem::scattered(0.5, 0.3, 3).tolerance(1e-4)
}

/// Twelve steps an epoch, looked at every third.
fn small_steps() -> Vec<(&'static str, ParamValue)> {
    vec![("batch_size", 10.into()), ("learning_rate", 1.0.into())]
}

/// As `small_steps`, with one more parameter.
fn and(name: &'static str, value: impl Into<ParamValue>) -> Vec<(&'static str, ParamValue)> {
    [small_steps(), vec![(name, value.into())]].concat()
}

fn truth(outcome: &Outcome) -> Vec<f64> {
    well_posed().residuals(&outcome.x)
}

#[test]
fn converges_to_the_solution_and_claims_what_is_true() {
    for gradient in ["lookahead", "heavy_ball"] {
        let problem = well_posed().tolerance(1e-8);
        let outcome = problem.solve::<Sdd>(&and("gradient", gradient)).unwrap();
        assert_eq!(outcome.reason, Reason::Converged);
        assert!(problem_is_solved(&truth(&outcome), 1.0001e-8));
        for (claimed, truth) in outcome.claimed.iter().zip(truth(&outcome)) {
            assert!((claimed - truth).abs() < 1e-12, "{claimed} against {truth}");
        }
        assert_eq!(outcome.claimed, outcome.trace.last().unwrap().1);
        assert_eq!(outcome.iterations, outcome.trace.last().unwrap().0);
    }
}

/// The largest residual of the target and the mean one of the probes.
fn problem_is_solved(norms: &[f64], tolerance: f64) -> bool {
    norms[0] <= tolerance && (norms[1] + norms[2]) / 2.0 <= tolerance
}

#[test]
fn measurements_of_the_average_are_charged_and_rare() {
    // An average over very many steps lags far behind the iterates.
    let outcome = well_posed().solve::<Sdd>(&and("averaging", 0.002)).unwrap();
    assert_eq!(outcome.reason, Reason::Converged);
    assert!(problem_is_solved(&truth(&outcome), 1.0001e-4));
    let epochs = outcome.entries / (N * N) as f64;
    let measured = epochs - outcome.iterations as f64 / 12.0;
    assert!((measured - measured.round()).abs() < 1e-9 && measured > 1.5, "{measured}");
    // Four epochs of steps lie between two of them.
    assert!(measured <= 1.0 + (epochs - measured) / 4.0, "{measured} of {epochs}");
    // Between the first and the last the estimates had reached the tolerance, and the average had not.
    let regular = &outcome.trace[..outcome.trace.len() - 1];
    assert!(regular.iter().any(|(_, norms)| problem_is_solved(norms, 1e-4)));
}

#[test]
fn only_what_was_measured_is_claimed() {
    let outcome = well_posed().tolerance(0.0).solve::<Sdd>(&and("max_iterations", 24)).unwrap();
    assert_eq!((outcome.reason, outcome.iterations), (Reason::Iterations, 24));
    assert!(outcome.claimed.is_empty());
    assert!(well_posed().stop_at(9).solve::<Sdd>(&small_steps()).unwrap().claimed.is_empty());
    assert!(well_posed().max_epochs(1.0).solve::<Sdd>(&small_steps()).unwrap().claimed.is_empty());
    // What is shown are estimates, four times an epoch.
    let steps: Vec<i64> = outcome.trace.iter().map(|(step, _)| *step).collect();
    assert_eq!(steps, (0..=24).step_by(3).collect::<Vec<_>>());
    assert!(outcome.trace.iter().all(|(_, norms)| norms.len() == 3));
}

#[test]
fn the_iterate_shown_is_the_average() {
    // Batches of one stream: the averages of one run follow from the iterates of another. Three steps an
    // epoch, each looked at.
    let run = |averaging: f64| {
        let params = [
            ("batch_size", 40.into()),
            ("learning_rate", 1.0.into()),
            ("averaging", averaging.into()),
            ("max_iterations", 9.into()),
        ];
        DenseProblem::new(a(), scattered_right_hand_sides(N, 3)).iterates().solve::<Sdd>(&params).unwrap()
    };
    let (iterates, averages) = (run(1.0), run(0.3));
    assert_eq!(averages.trace.len(), 10);
    let mut expected = Array2::zeros((N, 3));
    for (iterate, average) in iterates.iterates.iter().zip(&averages.iterates).skip(1) {
        expected = 0.3 * iterate + 0.7 * &expected;
        assert_close(average, &expected, 1e-13);
    }
    assert_eq!(averages.iterates.last().unwrap(), averages.x);
}

#[test]
fn the_average_spans_a_hundredth_of_what_is_allowed() {
    let averaging = |problem: &DenseProblem, max_iterations: i64| {
        problem.solve::<Sdd>(&and("max_iterations", max_iterations)).unwrap().number("averaging")
    };
    // Twelve steps an epoch.
    let free = well_posed();
    assert_eq!(averaging(&free, 400), 0.25);
    assert_eq!(averaging(&free.clone().max_epochs(25.0), 0), 1.0 / 3.0);
    assert_eq!(averaging(&free.clone().max_epochs(25.0), 200), 0.5);
    assert_eq!(averaging(&free.clone().max_epochs(2.0), 200), 1.0);
    // A warm start has spent an epoch.
    let warm = free.clone().max_epochs(26.0).start(Array2::from_elem((N, 3), 1.0));
    assert_eq!(averaging(&warm, 0), 1.0 / 3.0);
    assert_eq!(averaging(&free, 0), 1.0 / 12.0);
}

#[test]
fn what_diverges_is_tried_again_with_a_smaller_rate() {
    let batches: [(&str, ParamValue); 1] = [("batch_size", 10.into())];
    let found = well_posed().iterates().solve::<Sdd>(&batches).unwrap();
    assert_eq!(found.reason, Reason::Converged);
    let (rate, failed) = (found.number("learning_rate"), found.number("failed_trials"));
    assert!(failed >= 1.0 && [100.0, 30.0, 10.0, 3.0, 1.0][failed as usize] == rate, "{failed}, {rate}");
    assert!(problem_is_solved(&truth(&found), 1.0001e-4));

    // All trials are charged: steps are counted through, and each has cost a batch.
    let measured = (found.entries - found.iterations as f64 * (10 * N) as f64) / (N * N) as f64;
    assert!((measured - measured.round()).abs() < 1e-9 && measured >= 1.0, "{measured}");
    assert!(found.trace.is_sorted_by_key(|(step, _)| *step));
    // Each begins at the start: once for every rate.
    let starts = found.iterates.iter().filter(|x| x.iter().all(|&x| x == 0.0)).count();
    assert_eq!(starts as f64, 1.0 + failed);

    // The last trial is a run with that rate, on later batches.
    let given = well_posed().solve::<Sdd>(&[("learning_rate", rate.into()), batches[0].clone()]).unwrap();
    assert_eq!((given.reason, given.number("failed_trials")), (Reason::Converged, 0.0));
    assert!(given.entries < found.entries);
}

#[test]
fn a_failed_trial_of_a_warm_start_costs_no_second_product() {
    let start = Array2::from_shape_fn((N, 3), |(i, j)| scattered(i, j + 9));
    let params: [(&str, ParamValue); 2] = [("batch_size", 10.into()), ("max_iterations", 2000.into())];
    let outcome = well_posed().tolerance(0.0).start(start.clone()).iterates().solve::<Sdd>(&params).unwrap();
    let failed = outcome.number("failed_trials");
    assert!(failed >= 1.0 && outcome.reason == Reason::Iterations);
    assert_eq!(outcome.iterates.iter().filter(|x| **x == start).count() as f64, 1.0 + failed);
    assert_eq!(outcome.entries, (N * N) as f64 + 2000.0 * (10 * N) as f64);
}

#[test]
fn a_given_rate_that_is_too_long_diverges_without_nan() {
    for rate in [500.0, 1e6] {
        let params = [("batch_size", 10.into()), ("learning_rate", rate.into())];
        let outcome = well_posed().solve::<Sdd>(&params).unwrap();
        assert_eq!((outcome.reason, outcome.number("failed_trials")), (Reason::Diverged, 0.0));
        assert!(outcome.x.iter().all(|x| x.is_finite()));
        assert!(outcome.claimed.is_empty());
    }
}

#[test]
fn if_every_rate_diverges_the_end_says_so() {
    // A hundred thousand times the scale: even the last rate is too large by far.
    let outcome = DenseProblem::new(a() * 1e5, scattered_right_hand_sides(N, 3))
        .tolerance(1e-4)
        .solve::<Sdd>(&[("batch_size", 10.into())])
        .unwrap();
    assert_eq!(outcome.reason, Reason::Diverged);
    assert_eq!((outcome.number("learning_rate"), outcome.number("failed_trials")), (0.01, 8.0));
    assert!(outcome.x.iter().all(|x| x.is_finite()));
}

#[test]
fn a_batch_of_all_rows_is_momentum_descent() {
    // Without momentum and average, x_k = (1 - (1 - A / 2)^k) A^-1 b for steps of 1/2.
    let entries: Vec<f64> = (0..8).map(|i| 0.2 + 0.2 * i as f64).collect();
    let known = ClosedForm::diagonal(&entries);
    let b = scattered_right_hand_sides(8, 2);
    for gradient in ["lookahead", "heavy_ball"] {
        let params = [
            ("batch_size", 500.into()),
            ("learning_rate", 4.0.into()),
            ("momentum", 0.0.into()),
            ("gradient", gradient.into()),
            ("max_iterations", 5.into()),
        ];
        let outcome = DenseProblem::new(known.matrix.clone(), b.clone()).solve::<Sdd>(&params).unwrap();
        let expected = Array2::from_shape_fn((8, 2), |(i, j)| {
            (1.0 - (1.0 - entries[i] / 2.0).powi(5)) / entries[i] * b[[i, j]]
        });
        assert_close(&outcome.x, &expected, 1e-14);
        assert_eq!(outcome.entries, 5.0 * 64.0);
        assert_eq!((outcome.trace.len(), outcome.number("averaging")), (6, 1.0));
    }
}

#[test]
fn a_product_that_is_not_a_number_never_reaches_the_solution() {
    let mut a = a();
    a[[3, 4]] = f64::NAN;
    for params in [small_steps(), vec![("batch_size", 10.into())]] {
        let outcome =
            DenseProblem::new(a.clone(), scattered_right_hand_sides(N, 2)).solve::<Sdd>(&params).unwrap();
        assert_eq!(outcome.reason, Reason::Diverged);
        assert!(outcome.x.iter().all(|x| x.is_finite()));
    }
}

#[test]
fn defaults_are_the_published_ones() {
    let defaults = SddParams::default();
    assert_eq!((defaults.batch_size, defaults.momentum), (512, 0.9));
    assert_eq!(defaults.gradient, GradientPoint::Lookahead);
}
