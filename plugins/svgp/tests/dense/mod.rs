//! The bound and the optimal distribution in textbook form, by dense matrices and nothing of the plugin's.

use std::f64::consts::TAU;

use gpbench_sdk::ndarray::{Array1, Array2, ArrayView1, ArrayView2, ShapeBuilder, s};
use gpbench_testing::scattered;

/// exp(-|x - z|^2 / 2) times signal_scale^2, inputs divided by their length scales.
pub fn gram(
    x: ArrayView2<'_, f64>,
    z: ArrayView2<'_, f64>,
    signal_scale: f64,
    length_scale: &[f64],
) -> Array2<f64> {
    Array2::from_shape_fn((x.nrows(), z.nrows()).f(), |(i, j)| {
        let inputs = x.row(i).to_owned() - z.row(j);
        let squared: f64 = inputs.iter().zip(length_scale).map(|(r, l)| (r / l).powi(2)).sum();
        signal_scale.powi(2) * (-0.5 * squared).exp()
    })
}

/// Scattered inputs in [-1, 1]^d, and a smooth function of them with some noise.
pub fn data(n: usize, d: usize) -> (Array2<f64>, Array1<f64>) {
    let x = Array2::from_shape_fn((n, d), |(i, k)| 2.0 * scattered(i, k) - 1.0);
    let y = x.rows().into_iter().enumerate();
    let y = y.map(|(i, x)| (2.0 * x.sum()).sin() + 0.3 * (scattered(i, 77) - 0.5)).collect();
    (x, y)
}

/// The lower factor of a positive definite matrix, by the schoolbook's loops.
pub fn cholesky(a: &Array2<f64>) -> Array2<f64> {
    let n = a.nrows();
    let mut l: Array2<f64> = Array2::zeros((n, n).f());
    for j in 0..n {
        for i in j..n {
            let rest: f64 = a[[i, j]] - l.slice(s![i, ..j]).dot(&l.slice(s![j, ..j]));
            l[[i, j]] = if i == j { rest.sqrt() } else { rest / l[[j, j]] };
        }
    }
    l
}

/// L^-1 b.
pub fn forward(l: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    let mut x = b.clone();
    for i in 0..l.nrows() {
        let rest = x.row(i).to_owned() - l.slice(s![i, ..i]).dot(&x.slice(s![..i, ..]));
        x.row_mut(i).assign(&(rest / l[[i, i]]));
    }
    x
}

/// A^-1 for a positive definite A.
pub fn inverse(a: &Array2<f64>) -> Array2<f64> {
    let half = forward(&cholesky(a), &Array2::eye(a.nrows()));
    half.t().dot(&half)
}

/// log N(y; 0, covariance).
pub fn log_density(y: ArrayView1<'_, f64>, covariance: &Array2<f64>) -> f64 {
    let l = cholesky(covariance);
    let white = forward(&l, &y.to_owned().insert_axis(gpbench_sdk::ndarray::Axis(1)));
    let n = y.len() as f64;
    -0.5 * (white.iter().map(|w| w * w).sum::<f64>() + n * TAU.ln()) - l.diag().mapv(f64::ln).sum()
}

/// The optimal m and R for all rows: covariance (I + A A^T / s^2)^-1, mean that times A y / s^2.
pub fn optimum(a: &Array2<f64>, y: ArrayView1<'_, f64>, noise_scale: f64) -> (Array1<f64>, Array2<f64>) {
    let variance = noise_scale * noise_scale;
    let covariance = inverse(&(Array2::<f64>::eye(a.nrows()) + a.dot(&a.t()) / variance));
    let mean = covariance.dot(&a.dot(&y)) / variance;
    (mean, cholesky(&covariance))
}
