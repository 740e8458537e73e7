//! The running average of F, and the derivatives of log|F| that come from it.
//!
//! With Phi_S the features of a batch S and c = n / |S|, c Phi_S^T Phi_S + s^2 I is an unbiased estimate of
//! F = Phi^T Phi + s^2 I. Its logarithmic determinant's derivative needs F^-1, for which that of the average stands:
//!
//! ```text
//! F~    <- (1 - b_t) F~ + b_t (c Phi_S^T Phi_S + s^2 I)
//! log|F| has about the derivatives of <F~^-1, c Phi_S^T Phi_S + s^2 I>,  F~ held constant
//! ```

use gpbench_sdk::ndarray::{Array2, ArrayRef2, ShapeBuilder};
use gpbench_sdk::{Result, lapack, symmetric};

/// F~, D x D.
#[derive(Debug, Clone, PartialEq)]
pub struct Average {
    /// Column-major; of the upper triangle nothing is used.
    matrix: Array2<f64>,
}

/// The logarithmic determinant of F~, and the derivatives that stand for those of log|F|.
#[derive(Debug, Clone)]
pub struct LogDeterminant {
    /// log|F~|.
    pub value: f64,
    /// By the batch's features: 2c Phi_S F~^-1; column-major.
    pub by_features: Array2<f64>,
    /// By s^2: tr F~^-1.
    pub by_noise_variance: f64,
}

impl Average {
    /// Starts with a matrix, of which the lower triangle is read.
    pub fn new(matrix: Array2<f64>) -> Average {
        Average { matrix }
    }

    /// F~; the lower triangle only.
    pub fn matrix(&self) -> &Array2<f64> {
        &self.matrix
    }

    /// Moves the average by `weight` (b_t) towards the estimate from a batch out of `n` rows.
    pub fn renew(
        &mut self,
        weight: f64,
        n: usize,
        features: &ArrayRef2<f64>,
        noise_variance: f64,
    ) -> Result<()> {
        let scale = n as f64 / features.nrows() as f64;
        symmetric::add_gram(weight * scale, features, 1.0 - weight, &mut self.matrix)?;
        symmetric::add_diagonal(weight * noise_variance, &mut self.matrix);
        Ok(())
    }

    /// The logarithmic determinant, for a batch out of `n` rows. Fails with
    /// [`NotPositiveDefinite`](gpbench_sdk::Error::NotPositiveDefinite) only where F~ is not finite.
    pub fn log_determinant(&self, n: usize, features: &ArrayRef2<f64>) -> Result<LogDeterminant> {
        let factor = symmetric::shifted_factor(&self.matrix, 0.0)?;
        let scale = n as f64 / features.nrows() as f64;
        // F~^-1 Phi_S^T, whose transpose is wanted.
        let mut solved = Array2::zeros((features.ncols(), features.nrows()).f());
        solved.assign(&features.t());
        lapack::cholesky_solve(&factor, &mut solved)?;
        solved *= 2.0 * scale;
        Ok(LogDeterminant {
            value: lapack::log_determinant(&factor),
            by_features: solved.reversed_axes(),
            by_noise_variance: symmetric::inverse_trace(&factor)?,
        })
    }
}
