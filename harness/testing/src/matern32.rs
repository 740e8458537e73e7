//! Systems with the matrix of a Matern-3/2 kernel.

use gpbench_terms::Family;
use ndarray::Array2;

use crate::{DenseProblem, scattered_inputs, scattered_right_hand_sides};

/// The n x n matrix A = K + noise_scale^2 I over the rows of `x` (n x d), with
/// K_ij = signal_scale^2 (1 + a) exp(-a), a = sqrt(3) r, and r^2 = sum_k ((x_ik - x_jk) / l_k)^2.
pub fn matern32(x: &Array2<f64>, signal_scale: f64, noise_scale: f64, length_scale: &[f64]) -> Array2<f64> {
    Array2::from_shape_fn((x.nrows(), x.nrows()), |(i, j)| {
        let squares =
            x.row(i).into_iter().zip(x.row(j)).zip(length_scale).map(|((a, b), l)| ((a - b) / l).powi(2));
        let a = (3.0 * squares.sum::<f64>()).sqrt();
        let noise = if i == j { noise_scale.powi(2) } else { 0.0 };
        signal_scale.powi(2) * (1.0 + a) * (-a).exp() + noise
    })
}

impl DenseProblem {
    /// The system A X = `rhs` with the A of [`matern32`]; the solver may ask for its inputs.
    pub fn matern32(
        x: &Array2<f64>,
        signal_scale: f64,
        noise_scale: f64,
        length_scale: &[f64],
        rhs: &Array2<f64>,
    ) -> DenseProblem {
        let a = matern32(x, signal_scale, noise_scale, length_scale);
        let lengths = length_scale.to_vec();
        DenseProblem::new(a, rhs.clone()).kernel(
            Family::Matern32,
            x.clone(),
            signal_scale,
            noise_scale,
            lengths,
        )
    }

    /// The usual system of tests: 120 irregular inputs in two dimensions, unit signal, and `s` irregular right-hand
    /// sides.
    pub fn scattered(noise_scale: f64, length_scale: f64, s: usize) -> DenseProblem {
        let (x, b) = (scattered_inputs(120), scattered_right_hand_sides(120, s));
        DenseProblem::matern32(&x, 1.0, noise_scale, &[length_scale; 2], &b)
    }
}
