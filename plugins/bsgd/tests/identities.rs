//! The batch likelihood against central differences, and what it is not.

use gpbench_plugin_bsgd::BatchLikelihood;
use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::ndarray::{Array1, Array2, Axis, ShapeBuilder};
use gpbench_sdk::{Family, Workers, lapack, symmetric};
use gpbench_testing::scattered;

const NOISE_VARIANCE: f64 = 0.4;
const STEP: f64 = 1e-5;

fn matrix(rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| scattered(i, j))
}

fn targets(b: usize) -> Array1<f64> {
    Array1::from_shape_fn(b, |i| scattered(i, 50))
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} against {b}");
}

fn workers() -> Workers<'static> {
    Workers::new(1)
}

/// y^T H^-1 y + log|H| of a covariance without noise.
fn l(kernel: &Array2<f64>, targets: &Array1<f64>, noise_variance: f64) -> f64 {
    let factor = symmetric::shifted_factor(kernel, noise_variance).unwrap();
    let mut solved = targets.clone().insert_axis(Axis(1));
    lapack::cholesky_solve(&factor, &mut solved).unwrap();
    targets.dot(&solved.column(0)) + lapack::log_determinant(&factor)
}

fn difference(value: impl Fn(f64) -> f64) -> f64 {
    (value(STEP) - value(-STEP)) / (2.0 * STEP)
}

#[test]
fn the_gradient_by_features_is_that_of_central_differences() {
    for (b, dimension) in [(7, 3), (3, 7), (1, 2)] {
        let (phi, r) = (matrix(b, dimension), targets(b));
        let of = |phi: &Array2<f64>, r: &Array1<f64>, s: f64| l(&phi.dot(&phi.t()), r, s);
        let (at, by_features) = BatchLikelihood::of_features(&phi, &r, NOISE_VARIANCE).unwrap();
        let value = 2.0 * b as f64 * at.nlml - b as f64 * std::f64::consts::TAU.ln();
        close(value, of(&phi, &r, NOISE_VARIANCE), 1e-12);
        close(at.by_noise_variance, difference(|h| of(&phi, &r, NOISE_VARIANCE + h)), 1e-8);
        close(at.by_mean, difference(|h| of(&phi, &(&r - h), NOISE_VARIANCE)), 1e-8);
        for i in 0..b {
            for j in 0..dimension {
                let moved = |h: f64| {
                    let mut phi = phi.clone();
                    phi[[i, j]] += h;
                    of(&phi, &r, NOISE_VARIANCE)
                };
                close(by_features[[i, j]], difference(moved), 1e-8);
            }
        }
    }
}

#[test]
fn the_gradient_by_points_and_scales_is_that_of_central_differences() {
    let (points, r) = (matrix(6, 2), targets(6));
    let kernel = Kernel { family: Family::Rbf.into(), signal_scale: 1.3, length_scale: vec![0.7, 1.9] };
    let of = |kernel: &Kernel, points: &Array2<f64>| {
        l(&kernel.gram(points, points, workers()), &r, NOISE_VARIANCE)
    };
    let (at, by) = BatchLikelihood::of_points(&kernel, &points, &r, NOISE_VARIANCE, true, workers()).unwrap();
    close(12.0 * at.nlml - 6.0 * std::f64::consts::TAU.ln(), of(&kernel, &points), 1e-12);
    let signal = |h: f64| of(&Kernel { signal_scale: 1.3 + h, ..kernel.clone() }, &points);
    close(by.signal_scale, difference(signal), 1e-8);
    for k in 0..2 {
        let length = |h: f64| {
            let mut kernel = kernel.clone();
            kernel.length_scale[k] += h;
            of(&kernel, &points)
        };
        close(by.length_scale[k], difference(length), 1e-8);
        for i in 0..6 {
            let point = |h: f64| {
                let mut points = points.clone();
                points[[i, k]] += h;
                of(&kernel, &points)
            };
            close(by.rows[[i, k]], difference(point), 1e-8);
        }
    }
}

/// The mean over all minibatches of a size of the derivative of nlml by the noise variance, at 0.05.
fn mean_by_noise(kernel: &Array2<f64>, r: &Array1<f64>, size: usize) -> f64 {
    let n = r.len();
    let batches = (0_u32..1 << n).filter(|bits| bits.count_ones() as usize == size);
    let rows = |bits: u32| (0..n).filter(|row| bits >> row & 1 == 1).collect::<Vec<_>>();
    let by = |rows: Vec<usize>| {
        let part = kernel.select(Axis(0), &rows).select(Axis(1), &rows);
        let mut columns = Array2::zeros((size, size).f());
        columns.assign(&part);
        let batch = BatchLikelihood::new(columns, &r.select(Axis(0), &rows), 0.05).unwrap();
        batch.by_noise_variance / (2.0 * size as f64)
    };
    let all: Vec<f64> = batches.map(|bits| by(rows(bits))).collect();
    all.iter().sum::<f64>() / all.len() as f64
}

/// The minibatch gradient is unbiased for a diagonal K and for all rows only.
#[test]
fn minibatches_are_biased() {
    let (points, r) = (matrix(10, 1), targets(10));
    let rbf = Kernel { family: Family::Rbf.into(), signal_scale: 1.5, length_scale: vec![1.0] };
    let gram = rbf.gram(&points, &points, workers());
    let exact = mean_by_noise(&gram, &r, 10);
    let error = |size| (mean_by_noise(&gram, &r, size) / exact - 1.0).abs();
    let (quarter, most) = (error(4), error(9));
    println!("relative bias of the noise's derivative: {quarter:.2} at 4 of 10 rows, {most:.2} at 9");
    assert!(quarter > 0.1 && most > 0.01 && most < quarter, "{quarter}, {most}");
    let diagonal = Array2::from_diag(&Array1::from_shape_fn(10, |i| 1.0 + 0.1 * i as f64));
    close(mean_by_noise(&diagonal, &r, 4), mean_by_noise(&diagonal, &r, 10), 1e-13);
}

/// Section 4.2 of Shoham and Avron writes log|H_S| as log|sum over S of F_i| with F_i = phi_i phi_i^T + (s^2 / n) I. It
/// is so with s^2 / |S| in place of s^2 / n, and then less (D - |S|) log s^2.
#[test]
fn the_published_rewriting_is_another_function() {
    let (n, b, dimension) = (40.0, 6, 4);
    let phi = matrix(b, dimension);
    let determinant = |noise: f64| {
        let mut sum = Array2::zeros((dimension, dimension).f());
        symmetric::add_gram(1.0, &phi, 0.0, &mut sum).unwrap();
        lapack::log_determinant(&symmetric::shifted_factor(&sum, noise).unwrap())
    };
    let kernel = phi.dot(&phi.t());
    let exact = lapack::log_determinant(&symmetric::shifted_factor(&kernel, NOISE_VARIANCE).unwrap());
    let free = (b as f64 - dimension as f64) * NOISE_VARIANCE.ln();
    close(determinant(NOISE_VARIANCE) + free, exact, 1e-12);
    let printed = determinant(NOISE_VARIANCE * b as f64 / n) + free;
    assert!((printed - exact).abs() > 0.1, "{printed} and {exact}");
}
