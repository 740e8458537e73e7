//! The method's identities, against dense matrices and central differences.

use gpbench_plugin_scgd::{Average, LogDeterminant, Recent};
use gpbench_sdk::finite::Objective;
use gpbench_sdk::ndarray::{Array1, Array2, Axis, ShapeBuilder};
use gpbench_sdk::{Workers, lapack, symmetric};
use gpbench_testing::scattered;

const NOISE_VARIANCE: f64 = 0.4;

fn features(n: usize, dimension: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, dimension), |(i, j)| scattered(i, j))
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} against {b}");
}

/// F of some features, times a weight, and its factor.
fn matrix(weight: f64, features: &Array2<f64>, noise_variance: f64) -> Array2<f64> {
    let order = features.ncols();
    let mut matrix = Array2::zeros((order, order).f());
    symmetric::add_gram(weight, features, 0.0, &mut matrix).unwrap();
    symmetric::add_diagonal(noise_variance, &mut matrix);
    matrix
}

fn log_determinant(matrix: &Array2<f64>) -> f64 {
    lapack::log_determinant(&symmetric::shifted_factor(matrix, 0.0).unwrap())
}

/// The average after one step with all of its weight on the batch.
fn renewed(n: usize, batch: &Array2<f64>, noise_variance: f64) -> LogDeterminant {
    let mut average = Average::new(matrix(1.0, &features(9, batch.ncols()), 7.0));
    average.renew(1.0, n, batch, noise_variance).unwrap();
    average.log_determinant(n, batch, Workers::new(1)).unwrap()
}

/// With all rows and b_t = 1 the gradient is that of l(theta, w).
#[test]
fn the_exact_gradient_with_all_rows() {
    for (n, dimension) in [(20, 5), (4, 6)] {
        let phi = features(n, dimension);
        let targets = Array1::from_shape_fn(n, |i| scattered(i, 50));
        let weights = Array1::from_shape_fn(dimension, |j| scattered(j, 60));
        let l = |phi: &Array2<f64>, noise_variance: f64| {
            Objective::of_rows(n, phi, &targets, &weights, noise_variance).value
                + log_determinant(&matrix(1.0, phi, noise_variance))
        };
        let data = Objective::of_rows(n, &phi, &targets, &weights, NOISE_VARIANCE);
        let determinant = renewed(n, &phi, NOISE_VARIANCE);
        close(data.value + determinant.value, l(&phi, NOISE_VARIANCE), 1e-13);
        let step = 1e-5;
        let by_noise = (l(&phi, NOISE_VARIANCE + step) - l(&phi, NOISE_VARIANCE - step)) / (2.0 * step);
        close(data.by_noise_variance + determinant.by_noise_variance, by_noise, 1e-8);
        for i in 0..n {
            for j in 0..dimension {
                let moved = |h: f64| {
                    let mut phi = phi.clone();
                    phi[[i, j]] += h;
                    l(&phi, NOISE_VARIANCE)
                };
                let expected = (moved(step) - moved(-step)) / (2.0 * step);
                close(data.by_features[[i, j]] + determinant.by_features[[i, j]], expected, 1e-8);
            }
        }
    }
}

/// With b_t = 1 the derivatives are those of the batch's own log|H|, H = c Phi_S Phi_S^T + s^2 I: what BSGD has, with
/// the right scale.
#[test]
fn one_batch_is_the_batch_likelihood_with_the_right_scale() {
    let (n, b, dimension) = (36, 9, 5);
    let batch = features(b, dimension);
    let scale = n as f64 / b as f64;
    let determinant = renewed(n, &batch, NOISE_VARIANCE);
    let mut inverse = batch.dot(&batch.t()).reversed_axes() * scale;
    symmetric::add_diagonal(NOISE_VARIANCE, &mut inverse);
    let mut inverse = symmetric::shifted_factor(&inverse, 0.0).unwrap();
    lapack::cholesky_inverse(&mut inverse).unwrap();
    let expected = inverse.dot(&batch) * (2.0 * scale);
    assert!((&determinant.by_features - &expected).iter().all(|gap| gap.abs() < 1e-12));
    let by_noise = inverse.diag().sum() + (dimension as f64 - b as f64) / NOISE_VARIANCE;
    close(determinant.by_noise_variance, by_noise, 1e-12);
}

/// F~ is the mean of the batches' estimates with the weights of the recurrence, and unbiased for F.
#[test]
fn the_average_is_a_weighted_mean() {
    let (n, dimension) = (12, 4);
    let phi = features(n, dimension);
    let halves = phi.axis_chunks_iter(Axis(0), 6).map(|half| half.to_owned()).collect::<Vec<_>>();
    let start = matrix(1.0, &phi, NOISE_VARIANCE);
    let mut average = Average::new(start.clone());
    average.renew(0.5, n, &halves[0], NOISE_VARIANCE).unwrap();
    average.renew(0.5, n, &halves[1], NOISE_VARIANCE).unwrap();
    let of = |half: &Array2<f64>| matrix(2.0, half, NOISE_VARIANCE);
    let expected = start * 0.25 + of(&halves[0]) * 0.25 + of(&halves[1]) * 0.5;
    for j in 0..dimension {
        for i in j..dimension {
            close(average.matrix()[[i, j]], expected[[i, j]], 1e-13);
        }
    }
    let mean = (of(&halves[0]) + of(&halves[1])) * 0.5 - matrix(1.0, &phi, NOISE_VARIANCE);
    assert!(mean.iter().all(|gap| gap.abs() < 1e-13));
}

/// An average on which threads share the work.
#[test]
fn a_large_average_has_the_same_bits_on_any_number_of_threads() {
    let (n, order) = (900, 520);
    let (average, batch) = (Average::new(matrix(1.0, &features(700, order), 0.5)), features(40, order));
    let of = |threads| average.log_determinant(n, &batch, Workers::new(threads)).unwrap();
    let one = of(1);
    close(one.value, log_determinant(average.matrix()), 1e-12);
    for threads in [2, 3] {
        let other = of(threads);
        assert_eq!((one.value, one.by_noise_variance), (other.value, other.by_noise_variance));
        assert_eq!(one.by_features, other.by_features);
    }
}

/// Features of the batch of a step.
fn batch(step: usize, rows: usize, order: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, order), |(i, j)| scattered(i + rows * step, j))
}

/// Once all that the average began with is forgotten, recent batches give what its factor gives. Where they lack
/// room, the factor itself is used.
#[test]
fn recent_batches_give_what_the_whole_average_gives() {
    let (n, rows, order) = (60, 3, 60);
    let start = matrix(1.0, &features(n, order), NOISE_VARIANCE);
    for (most, is_enough) in [(45, true), (9, false)] {
        let recent = Recent::new(&start, NOISE_VARIANCE, most);
        let mut averages = [None, Some(recent)].map(|recent| Average::new(start.clone()).with_recent(recent));
        for step in 0..40 {
            let batch = batch(step, rows, order);
            let noise_variance = NOISE_VARIANCE * (1.0 + 0.5 * (step as f64).sin());
            let [whole, found] = averages.each_mut().map(|average| {
                average.renew(0.99, n, &batch, noise_variance).unwrap();
                average.log_determinant(n, &batch, Workers::new(1)).unwrap()
            });
            let recent = averages[1].recent().unwrap();
            assert!(recent.rows() <= most);
            assert_eq!(recent.is_complete(), is_enough && step >= 8, "{step}");
            if !recent.is_complete() {
                assert_eq!(found.by_features, whole.by_features);
            }
            close(found.value, whole.value, 1e-12);
            close(found.by_noise_variance, whole.by_noise_variance, 1e-12);
            assert!((found.by_features - whole.by_features).iter().all(|gap| gap.abs() < 1e-12));
        }
    }
}

/// Batches on which threads share the work.
#[test]
fn many_recent_batches_have_the_same_bits_on_any_number_of_threads() {
    let (n, rows, order) = (900, 64, 800);
    // F of no rows is complete from the first step on.
    let mut recent = Recent::new(&Array2::<f64>::eye(order), 1.0, 600);
    (0..9).for_each(|step| recent.renew(0.9, n, &batch(step, rows, order), 1.0));
    assert_eq!((recent.rows(), recent.is_complete()), (576, true));
    let of = |threads| recent.log_determinant(n, rows, Workers::new(threads)).unwrap();
    let one = of(1);
    for threads in [2, 3] {
        let other = of(threads);
        assert_eq!((one.value, one.by_noise_variance), (other.value, other.by_noise_variance));
        assert_eq!(one.by_features, other.by_features);
    }
}
