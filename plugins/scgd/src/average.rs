//! The running average of F, and the derivatives of log|F| that come from it.
//!
//! With Phi_S the features of a batch S and c = n / |S|, c Phi_S^T Phi_S + s^2 I is an unbiased estimate of
//! F = Phi^T Phi + s^2 I. The derivative of its logarithmic determinant needs F^-1, which the inverse of the average replaces:
//!
//! ```text
//! F~    <- (1 - b_t) F~ + b_t (c Phi_S^T Phi_S + s^2 I)
//! log|F| has about the derivatives of <F~^-1, c Phi_S^T Phi_S + s^2 I>,  F~ held constant
//! ```

use gpbench_sdk::ndarray::{Array2, ArrayRef2};
use gpbench_sdk::{Result, Workers, lapack, symmetric};

use crate::determinant::{LogDeterminant, sharing};
use crate::recent::Recent;

/// Entries of F~ below this are set to 0. Where features are 0 in all new batches, entries shrink by 1 - b_t a step until their
/// products are subnormal numbers, which take processors a hundred times as long. They are negligible
/// beside F~'s eigenvalues, which are at least the noise variance's floor.
const NOTHING: f64 = 1e-60;

/// F~, D x D.
#[derive(Debug, Clone, PartialEq)]
pub struct Average {
    /// Column-major; only the lower triangle is used.
    matrix: Array2<f64>,
    /// The batches that still count in it, where they have fewer rows than it.
    recent: Option<Recent>,
}

impl Average {
    /// Starts with a matrix, of which the lower triangle is read.
    pub fn new(matrix: Array2<f64>) -> Average {
        Average { matrix, recent: None }
    }

    /// The same average, which takes its determinant from recent batches where these are complete. Each
    /// [`log_determinant`](Self::log_determinant) then has to be for the batch of the last [`renew`](Self::renew).
    #[must_use]
    pub fn with_recent(self, recent: Option<Recent>) -> Average {
        Average { recent, ..self }
    }

    /// The recent batches, if they are kept.
    pub fn recent(&self) -> Option<&Recent> {
        self.recent.as_ref()
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
        if let Some(recent) = &mut self.recent {
            recent.renew(weight, n, features, noise_variance);
        }
        let scale = n as f64 / features.nrows() as f64;
        symmetric::add_gram(weight * scale, features, 1.0 - weight, &mut self.matrix)?;
        symmetric::add_diagonal(weight * noise_variance, &mut self.matrix);
        self.matrix.mapv_inplace(|entry| if entry.abs() < NOTHING { 0.0 } else { entry });
        Ok(())
    }

    /// The logarithmic determinant, for a batch out of `n` rows. Fails with
    /// [`NotPositiveDefinite`](gpbench_sdk::Error::NotPositiveDefinite) only where F~ is not finite.
    pub fn log_determinant(
        &self,
        n: usize,
        features: &ArrayRef2<f64>,
        workers: Workers<'_>,
    ) -> Result<LogDeterminant> {
        if let Some(recent) = self.recent().filter(|recent| recent.is_complete()) {
            return recent.log_determinant(n, features.nrows(), workers);
        }
        let workers = sharing(self.matrix.nrows(), workers);
        let factor = symmetric::shifted_factor_shared(&self.matrix, 0.0, workers)?;
        let scale = n as f64 / features.nrows() as f64;
        // F~^-1 = K^T K with K = L^-1, whose squares sum to the trace.
        let inverse = symmetric::inverse_lower(&factor, workers);
        let by_features = (features * (2.0 * scale)).dot(&inverse.t()).dot(&inverse);
        Ok(LogDeterminant {
            value: lapack::log_determinant(&factor),
            by_features,
            by_noise_variance: inverse.columns().into_iter().map(|column| column.dot(&column)).sum(),
        })
    }
}
