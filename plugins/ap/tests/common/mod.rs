//! Systems with a Matern-3/2 kernel.

use gpbench_sdk::ndarray::Array2;

/// s^2 (1 + a) exp(-a) + noise on the diagonal, a = sqrt(3) r, by direct differences.
pub(crate) fn matern32(
    x: &Array2<f64>,
    signal_scale: f64,
    noise_scale: f64,
    length_scale: &[f64],
) -> Array2<f64> {
    Array2::from_shape_fn((x.nrows(), x.nrows()), |(i, j)| {
        let squares =
            x.row(i).into_iter().zip(x.row(j)).zip(length_scale).map(|((a, b), l)| ((a - b) / l).powi(2));
        let a = (3.0 * squares.sum::<f64>()).sqrt();
        let noise = if i == j { noise_scale.powi(2) } else { 0.0 };
        signal_scale.powi(2) * (1.0 + a) * (-a).exp() + noise
    })
}
