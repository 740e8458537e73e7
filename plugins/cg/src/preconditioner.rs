//! (L L^T + s^2 I)^-1 applied in the Woodbury form, stable at small noise.

use gpbench_sdk::ndarray::linalg::general_mat_mul;
use gpbench_sdk::ndarray::{Array2, ArrayRef2, ShapeBuilder, s};
use gpbench_sdk::{Error, Result, lapack};

/// P = (L L^T + s^2 I)^-1 for a tall L, n x k.
///
/// With the QR factorisation [L; s I] = [U; W] R, Woodbury's identity reads P = (I - U U^T) / s^2, where
/// U = L R^-1. One factor on both sides keeps P symmetric whatever the rounding, and R comes from a QR
/// factorisation, not from L^T L + s^2 I, whose condition number would be the square.
#[derive(Debug, Clone)]
pub struct LowRankPlusNoise {
    /// U, n x k, column-major.
    basis: Array2<f64>,
    noise_variance: f64,
}

impl LowRankPlusNoise {
    /// Factorises; `factor` is L, column-major.
    pub fn new(factor: Array2<f64>, noise_scale: f64) -> Result<LowRankPlusNoise> {
        if noise_scale.is_nan() || noise_scale <= 0.0 {
            let text = format!("the pivoted Cholesky preconditioner needs noise, not {noise_scale}");
            return Err(Error::Unsupported(text));
        }
        let (n, k) = factor.dim();
        let mut stacked = Array2::zeros((n + k, k).f());
        stacked.slice_mut(s![..n, ..]).assign(&factor);
        stacked.slice_mut(s![n.., ..]).diag_mut().fill(noise_scale);
        let upper = lapack::qr_upper(&mut stacked)?;
        drop(stacked);
        let mut basis = factor;
        lapack::divide_by_upper(&mut basis, &upper)?;
        Ok(LowRankPlusNoise { basis, noise_variance: noise_scale * noise_scale })
    }

    /// Rank of L.
    pub fn rank(&self) -> usize {
        self.basis.ncols()
    }

    /// P r.
    pub fn apply(&self, r: &ArrayRef2<f64>) -> Array2<f64> {
        let mut product = Array2::zeros(r.dim().f());
        product.assign(r);
        let coefficients = self.basis.t().dot(r);
        let scale = self.noise_variance.recip();
        general_mat_mul(-scale, &self.basis, &coefficients, scale, &mut product);
        product
    }
}

#[cfg(test)]
mod tests {
    use gpbench_sdk::ndarray::{Array2, ShapeBuilder};

    use super::LowRankPlusNoise;

    /// P inverts L L^T + s^2 I, for singular values of L from 100 down to 1e-4 and little noise.
    #[test]
    fn inverts_at_small_noise() {
        let (n, k) = (400, 30);
        for noise_scale in [1.0f64, 1e-1, 1e-2, 1e-3] {
            let mut factor = Array2::zeros((n, k).f());
            for ((i, j), entry) in factor.indexed_iter_mut() {
                let size = 10f64.powf(1.0 - 0.2 * j as f64);
                *entry = size * ((i + 1) as f64 * (j as f64 + 0.7)).cos();
            }
            let b = Array2::from_shape_fn((n, 2).f(), |(i, j)| ((i * (j + 2)) as f64).sin());
            let preconditioner = LowRankPlusNoise::new(factor.clone(), noise_scale).unwrap();
            let x = preconditioner.apply(&b);
            let back = factor.dot(&factor.t().dot(&x)) + noise_scale.powi(2) * &x;
            let error = (&back - &b).iter().fold(0.0, |max: f64, e| max.max(e.abs()));
            println!("noise scale {noise_scale:e}: |(L L^T + s^2 I) P b - b| = {error:.1e}");
            // Amplified by the condition number, 4e10 at the least noise.
            assert!(error < 1e-16 * 4e4 / noise_scale.powi(2) + 1e-11, "{noise_scale}: {error:e}");
        }
    }
}
