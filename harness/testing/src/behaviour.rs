//! Tests that some solvers or learners share, since not all methods have these properties. Each is a function with a
//! method, its parameters, and systems or hosts as arguments.

use gpbench_sdk::{Learner, Scales, Solver};
use gpbench_terms::{Activation, NetworkShape, ParamValue, Reason};
use ndarray::{Array2, s};

use crate::{DenseModel, DenseProblem, FitHost, FitRun, scattered};

type Params<'p> = &'p [(&'p str, ParamValue)];

/// Asserts that right-hand sides of zeros are solved without a kernel entry, from any start.
///
/// # Panics
/// If they are not, or if a call fails.
pub fn zeros_cost_nothing<S: Solver>(problem: &DenseProblem, params: Params<'_>) {
    let zeros = Array2::zeros(problem.system.rhs.dim());
    let start = Array2::from_elem(zeros.dim(), 1.0);
    let outcome =
        problem.clone().right_hand_sides(&zeros).start(start).solve::<S>(params).expect("a solution");
    assert_eq!(outcome.entries, 0.0);
}

/// Asserts that a solution depends neither on the other right-hand sides nor, except for rounding, on their scale.
/// `params` must limit the iterations. `error` is relative to the largest entry.
///
/// # Panics
/// If it does, or if a call fails.
pub fn columns_are_independent<S: Solver>(problem: &DenseProblem, params: Params<'_>, error: f64) {
    let b = problem.system.rhs.clone();
    let solve = |b: &Array2<f64>| {
        problem.clone().right_hand_sides(b).tolerance(0.0).solve::<S>(params).expect("a solution").x
    };
    let close = |x: &Array2<f64>, expected: &Array2<f64>| {
        let largest = expected.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        assert!((x - expected).iter().all(|difference| difference.abs() <= error * largest));
    };
    let all = solve(&b);
    let first = s![.., ..1];
    close(&solve(&b.slice(first).to_owned()), &all.slice(first).to_owned());
    close(&solve(&(&b * 1e6)), &(&all * 1e6));
}

/// Asserts that the learner's predictions agree with dense arithmetic on its model.
///
/// # Panics
/// If they do not, or if a call fails.
pub fn predicts_as_its_model<L: Learner>(hosts: &[FitHost], params: Params<'_>) {
    let x = Array2::from_shape_fn((9, 2), |(i, j)| scattered(i + 300, j));
    for host in hosts {
        let run = fitted::<L>(host, params);
        let (mean, variance) = run.predict(&x).expect("predictions");
        let model = run.model().expect("a model");
        let (dense_mean, dense_variance) = DenseModel::new(host, model).predict(&x);
        assert!((mean - dense_mean).iter().all(|gap| gap.abs() < 1e-8));
        assert!((variance / dense_variance).iter().all(|ratio| (ratio - 1.0).abs() < 1e-8));
    }
}

/// Asserts that the objective decreases by log 2 if targets, signal scale and noise scale are divided by 2. `params`
/// must make each step use `n` rows.
///
/// # Panics
/// If it does not, or if a call fails.
pub fn falls_by_log_two_in_half_the_units<L: Learner>(n: usize, params: Params<'_>) {
    let objective = |unit: f64| {
        let given = FitHost::wave(n);
        let scales = Scales {
            signal_scale: 1.3 / unit,
            noise_scale: 0.4 / unit,
            length_scale: vec![0.8; 2],
            mean: 0.0,
        };
        let host = FitHost::new(given.x(), &(given.y() / unit)).scales(scales);
        fitted::<L>(&host, params).trace()[0].1
    };
    assert!((objective(1.0) - objective(2.0) - 2_f64.ln()).abs() < 1e-12);
}

/// Asserts that a fit with a much too large learning rate ends as diverged, with finite objectives before.
///
/// # Panics
/// If it does not, or if a call fails.
pub fn diverges_at_a_large_rate<L: Learner>(host: &FitHost) {
    let params = [("learning_rate", 1e6.into())];
    let mut run = host.begin::<L>(&params).expect("a fit that begins");
    assert_eq!(run.fit().expect("an end").reason, Reason::Diverged);
    assert!(run.trace().iter().all(|(_, objective)| objective.is_finite()));
}

/// Asserts that a fit starts at the noise floor of 0.5, which `params` set, and does not fall below it.
///
/// # Panics
/// If it does, or if a call fails.
pub fn stays_above_a_noise_floor_of_half<L: Learner>(host: &FitHost, params: Params<'_>) {
    let noise = |run: &FitRun<'_>| {
        run.model().expect("a model").array("noise_scale").expect("the noise")[[0, 0]].powi(2)
    };
    let mut run = host.begin::<L>(params).expect("a fit that begins");
    assert!((noise(&run) - 0.5).abs() < 1e-12);
    run.fit().expect("an end");
    assert!(noise(&run) >= 0.5 - 1e-12);
}

/// A small network, with random features of its outputs if `random` is not 0.
pub fn small_network(random: usize) -> NetworkShape {
    let random = Some(random).filter(|&count| count > 0);
    NetworkShape { activation: Activation::Relu, widths: vec![12, 10], random }
}

fn fitted<'h, L: Learner>(host: &'h FitHost, params: Params<'_>) -> FitRun<'h> {
    let mut run = host.begin::<L>(params).expect("a fit that begins");
    run.fit().expect("an end");
    run
}
