//! The objective of a step against differences, elimination and all groups.

use gpbench_plugin_sggp::objective;
use gpbench_sdk::ndarray::{Array1, Array2};
use gpbench_sdk::optimise::{Hyperparameters, Transform};
use gpbench_sdk::{Family, Scales, Workers};
use gpbench_testing::scattered;

const FAMILIES: [Family; 4] = [Family::Rbf, Family::Matern12, Family::Matern32, Family::Matern52];

fn data(n: usize) -> (Array2<f64>, Array1<f64>) {
    let x = Array2::from_shape_fn((n, 2), |(i, j)| scattered(i, j));
    let y = Array1::from_shape_fn(n, |i| (3.0 * x[[i, 0]]).sin() + 0.3 * scattered(i, 8));
    (x, y)
}

fn start(signal_scale: f64) -> Hyperparameters {
    let start = Scales { signal_scale, noise_scale: 0.4, length_scale: vec![0.6, 1.5], mean: 0.1 };
    Hyperparameters::new(&start, Transform::Scale, false, true).unwrap()
}

/// Value and gradient of the likelihood of all rows.
fn exact(at: &Hyperparameters, family: Family, x: &Array2<f64>, y: &Array1<f64>) -> (f64, Vec<f64>) {
    let all = Array2::from_shape_fn((1, y.len()), |(_, i)| i);
    objective(at, family, (x, y, &all), false, Workers::new(1)).unwrap()
}

#[test]
fn gradients_agree_with_differences() {
    let (x, y) = data(40);
    let groups = Array2::from_shape_fn((9, 8), |(g, j)| (5 * g + j * j) % 40);
    for family in FAMILIES {
        let value = |at: &Hyperparameters| {
            objective(at, family, (&x, &y, &groups), false, Workers::new(1)).unwrap().0
        };
        let at = start(1.3);
        let (_, gradient) = objective(&at, family, (&x, &y, &groups), false, Workers::new(2)).unwrap();
        for (i, by) in gradient.into_iter().enumerate() {
            let moved = |h: f64| {
                let mut moved = at.clone();
                moved.free[i] += h;
                value(&moved)
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((by - difference).abs() < 1e-8, "{family:?}, {i}: {by} against {difference}");
        }
    }
}

#[test]
fn a_group_of_all_rows_has_the_exact_likelihood() {
    // nlml = (y^T H^-1 y + log|H| + n log 2 pi) / 2n, by elimination.
    let (x, y) = data(25);
    let at = start(1.3);
    let kernel = at.kernel(Family::Rbf);
    let mut h = kernel.gram(&x, &x, Workers::new(1));
    h.diag_mut().mapv_inplace(|entry| entry + at.noise_scale().powi(2));
    let (mut rest, mut sum) = (&y - at.mean(), 25.0 * std::f64::consts::TAU.ln());
    for i in 0..25 {
        sum += h[[i, i]].ln() + rest[i].powi(2) / h[[i, i]];
        for j in i + 1..25 {
            let ratio = h[[j, i]] / h[[i, i]];
            for k in i..25 {
                h[[j, k]] -= ratio * h[[i, k]];
            }
            rest[j] -= ratio * rest[i];
        }
    }
    let (nlml, _) = exact(&at, Family::Rbf, &x, &y);
    assert!((nlml - sum / 50.0).abs() < 1e-12, "{nlml} against {}", sum / 50.0);
}

#[test]
fn without_signal_uniform_groups_are_unbiased() {
    // The mean over all groups of three out of six rows.
    let (x, y) = data(6);
    let groups: Vec<[usize; 3]> = (0..6)
        .flat_map(|i| (0..6).flat_map(move |j| (0..6).map(move |k| [i, j, k])))
        .filter(|[i, j, k]| i != j && j < k && i != k)
        .collect();
    let groups = Array2::from_shape_fn((groups.len(), 3), |(g, j)| groups[g][j]);
    let at = start(1e-9);
    let (_, mean) = objective(&at, Family::Rbf, (&x, &y, &groups), false, Workers::new(1)).unwrap();
    let (_, exact_gradient) = exact(&at, Family::Rbf, &x, &y);
    for i in [1, 4] {
        assert!((mean[i] - exact_gradient[i]).abs() < 1e-12, "{mean:?} against {exact_gradient:?}");
    }
    // With a signal they are biased.
    let at = start(1.3);
    let (_, mean) = objective(&at, Family::Rbf, (&x, &y, &groups), false, Workers::new(1)).unwrap();
    let (_, exact_gradient) = exact(&at, Family::Rbf, &x, &y);
    assert!((mean[1] / exact_gradient[1] - 1.0).abs() > 0.01, "{mean:?} against {exact_gradient:?}");
}

#[test]
fn half_the_targets_and_scales_have_less_by_the_logarithm_of_two() {
    let (x, y) = data(30);
    let groups = Array2::from_shape_fn((10, 3), |(g, j)| 3 * g + j);
    let nlml = |share: f64| {
        let scales = Scales {
            signal_scale: share,
            noise_scale: 0.4 * share,
            length_scale: vec![0.6, 1.5],
            mean: 0.1 * share,
        };
        let at = Hyperparameters::new(&scales, Transform::Scale, false, true).unwrap();
        objective(&at, Family::Matern52, (&x, &(&y * share), &groups), true, Workers::new(1)).unwrap().0
    };
    assert!((nlml(1.0) - nlml(0.5) - std::f64::consts::LN_2).abs() < 1e-12);
}

#[test]
fn the_signal_factor_multiplies_one_derivative() {
    let (x, y) = data(30);
    let groups = Array2::from_shape_fn((10, 3), |(g, j)| 3 * g + j);
    let at = start(1.3);
    let gradient =
        |factor| objective(&at, Family::Rbf, (&x, &y, &groups), factor, Workers::new(1)).unwrap().1;
    let (with, without) = (gradient(true), gradient(false));
    assert!((with[0] / without[0] - 3.0 / 3_f64.ln()).abs() < 1e-12);
    assert_eq!(with[1..], without[1..]);
}

#[test]
fn repeated_rows_are_no_obstacle() {
    let (x, y) = (Array2::zeros((16, 2)), Array1::from_shape_fn(16, |i| scattered(i, 1)));
    let scales = Scales { noise_scale: 0.011, ..start(1.3).scales() };
    let at = Hyperparameters::new(&scales, Transform::Variance, false, true).unwrap();
    let (nlml, gradient) = exact(&at, Family::Rbf, &x, &y);
    assert!(nlml.is_finite() && gradient.iter().all(|by| by.is_finite()), "{nlml}, {gradient:?}");
}
