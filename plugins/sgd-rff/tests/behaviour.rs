//! Trajectories, budgets, warm starts, degenerate systems: what has to hold whatever the numbers.

use crate::line::{Line, N, NOISE};
use gpbench_plugin_sgd_rff::SgdRff;
use gpbench_sdk::abi::Status;
use gpbench_sdk::ndarray::{Array2, ShapeBuilder, s};
use gpbench_sdk::{ParamValue, Reason, Solver};
use gpbench_testing::{DenseProblem, relative_residuals};
use gpbench_testkit::assert_close;

type Params = Vec<(&'static str, ParamValue)>;

/// Six steps an epoch, without clipping.
fn steps(count: i64) -> Params {
    vec![
        ("batch_size", 10.into()),
        ("features", 20.into()),
        ("clip", 0.0.into()),
        ("learning_rate", 0.02.into()),
        ("learning_rate_samples", 0.02.into()),
        ("averaging", "polyak".into()),
        ("max_iterations", count.into()),
    ]
}

/// The same parameters but for these.
fn with<const M: usize>(mut params: Params, others: [(&'static str, ParamValue); M]) -> Params {
    params.retain(|(name, _)| others.iter().all(|(other, _)| name != other));
    params.extend(others);
    params
}

/// All rows and an exact regulariser: plain descent, in large steps.
fn plain(count: i64) -> Params {
    let others = [
        ("batch_size", 500.into()),
        ("features", (N as i64).into()),
        ("learning_rate", 10.0.into()),
        ("learning_rate_samples", 5.0.into()),
    ];
    with(steps(count), others)
}

/// A system that plain descent solves soon.
fn rough() -> (Line, DenseProblem) {
    let line = Line::rough();
    let problem = line.problem().fixed_features(line.root());
    (line, problem)
}

#[test]
fn comes_close_to_the_solution() {
    let line = Line::smooth();
    let outcome = line.problem().solve::<SgdRff>(&steps(5_000)).unwrap();
    assert_eq!((outcome.reason, outcome.iterations), (Reason::Iterations, 5_000));
    assert_eq!(outcome.entries, (5_000 * 10 * N) as f64);
    // Predictions K v, compared with those of zero.
    let exact = line.solution();
    let (far, near) = (line.k.dot(&exact), line.k.dot(&(&outcome.x - &exact)));
    for (far, near) in far.columns().into_iter().zip(near.columns()) {
        let relative = near.dot(&near).sqrt() / far.dot(&far).sqrt();
        assert!(relative < 0.1, "{relative}");
    }
}

/// The iterates that descent with momentum, clipping and averaging has to have, written down from its
/// definition: with all rows and an exact regulariser the gradient of half the mean squared error is
/// K (A v - b) / n.
fn expected(line: &Line, clip: f64, all: bool, weight: impl Fn(usize) -> f64) -> Vec<Array2<f64>> {
    let (mut v, mut trace) = (Array2::<f64>::zeros((N, 3)), Array2::<f64>::zeros((N, 3)));
    let mut averages = vec![v.clone()];
    for step in 1..=8 {
        let mut gradient = line.k.dot(&(line.a().dot(&v) - &line.b)) / N as f64;
        let norms: Vec<f64> = gradient.columns().into_iter().map(|g| g.dot(&g).sqrt()).collect();
        let together = norms.iter().map(|norm| norm * norm).sum::<f64>().sqrt();
        for (j, norm) in norms.iter().enumerate() {
            let norm = if all { together } else { *norm };
            if norm > clip {
                gradient.column_mut(j).mapv_inplace(|g| g * clip / norm);
            }
        }
        trace = &gradient + &(trace * 0.9);
        let mut update = gradient + &trace * 0.9;
        update.column_mut(0).mapv_inplace(|u| u * 10.0);
        update.slice_mut(s![.., 1..]).mapv_inplace(|u| u * 5.0);
        v = v - update;
        let weight = weight(step);
        averages.push(averages[step - 1].clone() * (1.0 - weight) + v.clone() * weight);
    }
    averages
}

#[test]
fn momentum_clipping_and_averaging_are_as_defined() {
    let (line, problem) = rough();
    let problem = problem.iterates();
    let never = f64::INFINITY;
    let geometric = || 0.3.into();
    let cases: [(Params, Vec<Array2<f64>>); 5] = [
        (vec![("averaging", "none".into())], expected(&line, never, false, |_| 1.0)),
        (vec![], expected(&line, never, false, |step| 1.0 / step as f64)),
        (
            vec![("averaging", "geometric".into()), ("averaging_weight", geometric())],
            expected(&line, never, false, |_| 0.3),
        ),
        // Gradients begin above this and fall below.
        (vec![("clip", 0.05.into())], expected(&line, 0.05, false, |step| 1.0 / step as f64)),
        (
            vec![("clip", 0.05.into()), ("clip_scope", "all".into())],
            expected(&line, 0.05, true, |step| 1.0 / step as f64),
        ),
    ];
    for (others, expected) in cases {
        let mut params = plain(8);
        for other in others {
            params = with(params, [other]);
        }
        let outcome = problem.solve::<SgdRff>(&params).unwrap();
        assert_eq!(outcome.iterates.len(), 9);
        for (iterate, expected) in outcome.iterates.iter().zip(&expected).skip(1) {
            assert_close(iterate, expected, 1e-12);
        }
    }
}

#[test]
fn both_objectives_of_samples_have_the_same_expected_gradient() {
    let (_, problem) = rough();
    let loss = |name: &'static str| {
        let params = with(plain(8), [("objective", name.into())]);
        problem.solve::<SgdRff>(&params).unwrap().x
    };
    assert_close(&loss("loss1"), &loss("loss2"), 1e-12);
    // But not the same gradients from a batch.
    let line = Line::rough();
    let loss = |name: &'static str| {
        let params = with(steps(8), [("objective", name.into())]);
        line.problem().solve::<SgdRff>(&params).unwrap().x
    };
    let (one, two) = (loss("loss1"), loss("loss2"));
    assert_eq!(one.column(0), two.column(0));
    assert_ne!(one.column(1), two.column(1));
}

#[test]
fn the_solution_is_a_fixed_point() {
    let (line, problem) = rough();
    let exact = line.solution();
    for objective in ["loss1", "loss2"] {
        let params = with(plain(20), [("objective", objective.into()), ("averaging", "none".into())]);
        let outcome = problem.clone().start(exact.clone()).solve::<SgdRff>(&params).unwrap();
        assert_close(&outcome.x, &exact, 1e-12);
    }
}

#[test]
fn scales_are_learning_rates_without_clipping_only() {
    let (_, problem) = rough();
    let solve = |scale: &'static str, rate: f64, clip: f64| {
        let others = [
            ("scale", scale.into()),
            ("clip", clip.into()),
            ("learning_rate", rate.into()),
            ("learning_rate_samples", rate.into()),
        ];
        problem.solve::<SgdRff>(&with(plain(8), others)).unwrap().x
    };
    let mean = solve("mean", 5.0, 0.0);
    let (n, noise_variance) = (N as f64, NOISE * NOISE);
    assert_close(&solve("noise", 5.0 / (2.0 * n), 0.0), &mean, 1e-12);
    assert_close(&solve("printed", 5.0 * noise_variance / (2.0 * n), 0.0), &mean, 1e-12);
    // Clipped always, printed and noise are the same.
    assert_close(&solve("noise", 0.1, 1e-3), &solve("printed", 0.1, 1e-3), 1e-10);
}

#[test]
fn the_seed_alone_decides() {
    let solve = |seed, threads| {
        Line::smooth().problem().seed(seed).threads(threads).solve::<SgdRff>(&steps(50)).unwrap().x
    };
    assert_eq!(solve(3, 1), solve(3, 1));
    assert_eq!(solve(3, 1), solve(3, 7));
    assert_ne!(solve(3, 1), solve(4, 1));
}

#[test]
fn a_right_hand_side_does_not_depend_on_the_others() {
    let line = Line::smooth();
    // Clipped, and each by itself.
    let params = with(steps(50), [("clip", 0.02.into())]);
    let all = line.problem().solve::<SgdRff>(&params).unwrap();
    let one = line.with_rhs(line.b.slice(s![.., ..1]).to_owned()).solve::<SgdRff>(&params).unwrap();
    assert_close(&one.x.column(0), &all.x.column(0), 1e-12);
}

#[test]
fn the_host_looks_a_few_times_an_epoch() {
    let outcome = Line::smooth().problem().iterates().solve::<SgdRff>(&steps(5)).unwrap();
    let looks: Vec<i64> = outcome.trace.iter().map(|(step, _)| *step).collect();
    assert_eq!(looks, (0..=5).collect::<Vec<_>>());
    // No residual is known, and none is claimed.
    assert!(outcome.trace.iter().all(|(_, norms)| norms.is_empty()) && outcome.claimed.is_empty());
    assert_eq!(outcome.iterates.last().unwrap(), outcome.x);
}

#[test]
fn a_tolerance_is_checked_by_a_product_every_ten_epochs() {
    let (line, problem) = rough();
    let problem = problem.tolerance(1e-3);
    let outcome = problem.solve::<SgdRff>(&with(plain(0), [("averaging", "none".into())])).unwrap();
    assert_eq!(outcome.reason, Reason::Converged);
    assert!(outcome.iterations > 0 && outcome.iterations % 10 == 0);
    let checks = outcome.iterations / 10;
    assert_eq!(outcome.entries, ((outcome.iterations + checks) as usize * N * N) as f64);
    let truth = relative_residuals(&line.a(), &outcome.x, &line.b);
    for (claimed, truth) in outcome.claimed.iter().zip(&truth) {
        assert!((claimed - truth).abs() < 1e-12 && *truth < 3e-3, "{claimed} against {truth}");
    }
    assert_eq!(outcome.trace.iter().filter(|(_, norms)| !norms.is_empty()).count() as i64, checks + 1);
}

#[test]
fn a_zero_right_hand_side_has_a_zero_solution() {
    let line = Line::smooth();
    let ones = Array2::from_elem((N, 3), 1.0);
    let nothing =
        line.with_rhs(Array2::zeros((N, 3))).start(ones.clone()).solve::<SgdRff>(&steps(9)).unwrap();
    assert_eq!((nothing.reason, nothing.iterations, nothing.entries), (Reason::Converged, 0, 0.0));
    assert!(nothing.x.iter().all(|&x| x == 0.0));

    // A sample's parts that cancel, and a target.
    for zero in [0, 2] {
        let (mut b, mut f) = (line.b.clone(), line.f.clone());
        b.column_mut(zero).fill(0.0);
        if zero > 0 {
            f.column_mut(zero - 1).assign(&-&line.noise.column(zero - 1));
        }
        let problem = line.with_rhs(b).pathwise(&f, &line.noise).start(ones.clone());
        let outcome = problem.solve::<SgdRff>(&steps(50)).unwrap();
        assert!(outcome.x.column(zero).iter().all(|&x| x == 0.0));
        assert!(outcome.x.column(1).iter().all(|&x| x != 0.0 && x.is_finite()));
    }
}

#[test]
fn a_spent_budget_leaves_the_average() {
    let problem = Line::smooth().problem();
    let spent = problem.clone().max_epochs(10.0).solve::<SgdRff>(&steps(0)).unwrap();
    assert_eq!((spent.reason, spent.iterations), (Reason::Stopped, 60));
    assert_eq!(spent.x, problem.solve::<SgdRff>(&steps(60)).unwrap().x);
    let stopped = problem.clone().stop_at(9).solve::<SgdRff>(&steps(0)).unwrap();
    assert_eq!((stopped.reason, stopped.iterations), (Reason::Stopped, 9));
    assert_eq!(stopped.x, problem.solve::<SgdRff>(&steps(9)).unwrap().x);
    // Not even for the first look at a warm start's residual.
    let start = Array2::from_elem((N, 3), 1.0);
    let none_left = problem.tolerance(1e-3).start(start.clone()).max_epochs(0.0);
    let outcome = none_left.solve::<SgdRff>(&steps(0)).unwrap();
    assert_eq!((outcome.reason, outcome.x), (Reason::Stopped, start));
}

#[test]
fn steps_that_are_too_long_diverge_without_nan() {
    for rate in [200.0, 1e6] {
        let params = with(steps(0), [("learning_rate", rate.into())]);
        let outcome = Line::smooth().problem().solve::<SgdRff>(&params).unwrap();
        assert_eq!(outcome.reason, Reason::Diverged);
        assert!(outcome.x.iter().all(|x| x.is_finite()));
    }
}

#[test]
fn a_gradient_from_one_row_is_less_noisy_with_the_noise_in_the_regulariser() {
    let line = Line::smooth();
    let variance = |objective: &'static str, rows: i64| {
        let others = [("objective", objective.into()), ("gradient_variance", rows.into())];
        let outcome = line.problem().solve::<SgdRff>(&with(steps(2), others)).unwrap();
        let rows = (rows as usize).min(N);
        assert_eq!(outcome.entries, (2 * 10 * N + 3 * rows * N) as f64);
        let notes: Vec<(i64, &str)> =
            outcome.notes.iter().map(|(step, name, _)| (*step, name.as_str())).collect();
        assert_eq!(notes, [(0, "gradient_variance"), (1, "gradient_variance"), (2, "gradient_variance")]);
        outcome.notes[0].2
    };
    // From all rows at v = 0 it is the sample variance of -n K_i b_i, without estimate.
    let exact = |b: Array2<f64>| {
        let mut sum = 0.0;
        for b in b.columns() {
            let gradients = Array2::from_shape_fn((N, N), |(i, j)| -(N as f64) * line.k[[i, j]] * b[i]);
            sum += gradients.columns().into_iter().map(|entry| entry.var(1.0)).sum::<f64>();
        }
        sum / (2 * N) as f64
    };
    let (one, two) = (exact(&line.f + &line.noise), exact(line.f.clone()));
    assert!((variance("loss1", 500) / one - 1.0).abs() < 1e-12);
    assert!((variance("loss2", 500) / two - 1.0).abs() < 1e-12);
    assert!(two < 0.9 * one, "{two} against {one}");
    // And from some of them an estimate of that.
    assert!((variance("loss1", 30) / one - 1.0).abs() < 0.5);
}

#[test]
fn what_it_cannot_do_is_refused() {
    let failure = Line::smooth().problem().solve::<SgdRff>(&[("features", 101.into())]).unwrap_err();
    assert_eq!(failure.status(), Some(Status::INVALID_ARGUMENT));
    assert!(failure.to_string().contains("features"), "{failure}");
    let line = Line { noise_scale: 0.0, ..Line::smooth() };
    let failure = line.problem().solve::<SgdRff>(&steps(1)).unwrap_err();
    assert_eq!(failure.status(), Some(Status::UNSUPPORTED));
    assert!(failure.to_string().contains("noise_scale"), "{failure}");
    let plain_system = DenseProblem::new(Array2::eye(4), Array2::ones((4, 1).f()));
    assert_eq!(plain_system.solve::<SgdRff>(&[]).unwrap_err().status(), Some(Status::UNSUPPORTED));
}

#[test]
fn defaults_are_the_published_ones() {
    let defaults = <SgdRff as Solver>::Params::default();
    assert_eq!((defaults.batch_size, defaults.features, defaults.max_iterations), (512, 100, 100_000));
    assert_eq!((defaults.learning_rate, defaults.learning_rate_samples), (0.5, 0.1));
    assert_eq!((defaults.momentum, defaults.clip), (0.9, 0.1));
}

/// Descent in large steps on a system that it solves in a few epochs.
mod large_steps {
    use gpbench_testing::behaviour::{columns_are_independent, zeros_cost_nothing};

    use super::*;

    fn settings(count: i64) -> Params {
        with(plain(count), [("averaging", "none".into())])
    }

    fn problem() -> DenseProblem {
        let line = Line::rough();
        line.tell(DenseProblem::new(line.a(), line.b.clone())).fixed_features(line.root())
    }

    /// Solves and asserts that the claims are true.
    fn solved(problem: &DenseProblem) -> gpbench_testing::Outcome {
        let outcome = problem.clone().tolerance(1e-3).solve::<SgdRff>(&settings(0)).unwrap();
        assert_eq!(outcome.reason, Reason::Converged);
        for (claimed, truth) in outcome.claimed.iter().zip(problem.residuals(&outcome.x)) {
            assert!((claimed - truth).abs() <= 1e-12 && truth <= 1.01e-3, "{claimed} against {truth}");
        }
        outcome
    }

    #[test]
    fn the_claims_are_true_from_any_start() {
        let (line, problem) = (Line::rough(), problem());
        let whole = solved(&problem);
        solved(&problem.clone().start(Array2::from_elem(line.b.dim(), 3.0)));
        solved(&problem.clone().right_hand_sides(&line.b.slice(s![.., ..1]).to_owned()));
        let again = solved(&problem.clone().start(whole.x.clone()));
        assert_eq!((again.iterations, again.x), (0, whole.x));
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let solve = |threads| solved(&problem().threads(threads)).x;
        assert_eq!(solve(1), solve(2));
        assert_eq!(solve(1), solve(7));
    }

    #[test]
    fn zeros_are_solved_without_a_kernel_entry() {
        zeros_cost_nothing::<SgdRff>(&problem(), &settings(0));
    }

    #[test]
    fn a_right_hand_side_does_not_depend_on_the_others() {
        columns_are_independent::<SgdRff>(&problem(), &settings(50), 1e-12);
    }
}

mod rules {
    use gpbench_testing::rules::Tested;

    use super::*;

    gpbench_testing::solver_rules! { Tested::solver::<SgdRff>().ends_with(Reason::Stopped) }
}
