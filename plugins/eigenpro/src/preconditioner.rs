//! The correction of a step, which damps the leading eigenvectors.
//!
//! With K\[S, S\] / m ~ E diag(l) E^T on a subset S of m rows, E' = E / sqrt(m), and q eigenvectors to damp,
//!
//! ```text
//! d_j = (1 - (l_q+1 / l_j)^exponent) / l_j        for j = 1 .. q
//! correction of S = E' diag(d) E'^T K[S, batch] g
//! ```
//!
//! If S and the batch were all rows, g minus its correction would be the sum of c_j v_j (v_j . g) over the
//! eigenvectors v_j of K, with c_j = (l_q+1 / l_j)^exponent for j up to q, and 1 after that.

use gpbench_sdk::ndarray::{Array2, Axis, ShapeBuilder};
use gpbench_sdk::{Operator, Result, Workers, tall};

use crate::SubsetSpectrum;

/// Rows of a batch whose kernel entries are held together.
pub(crate) const PIECE: usize = 512;

/// Damped eigenvectors, and the length of steps that they permit.
#[derive(Debug, Clone)]
pub struct EigenPreconditioner {
    /// S, ascending.
    rows: Vec<usize>,
    /// E', m x q.
    vectors: Array2<f64>,
    /// d, q.
    factors: Vec<f64>,
    /// Largest eigenvalue of K / n that is left.
    top: f64,
    /// Rows of a batch up to which steps are of full length.
    critical_batch: f64,
    /// Largest entry of A's diagonal.
    diagonal: f64,
    /// Noise variance.
    noise_variance: f64,
}

impl EigenPreconditioner {
    /// Damps the first `rank` eigenvectors, or as many as there can be.
    #[must_use]
    pub fn new(spectrum: &SubsetSpectrum, rank: usize, exponent: f64) -> EigenPreconditioner {
        let q = rank.min(spectrum.most_rank());
        let m = spectrum.rows.len();
        let mut vectors = Array2::zeros((m, q).f());
        let leading = spectrum.vectors.axis_iter(Axis(1)).rev();
        vectors.axis_iter_mut(Axis(1)).zip(leading).for_each(|(mut to, from)| to.assign(&from));
        vectors /= (m as f64).sqrt();
        let factor = |value: &f64| (1.0 - (spectrum.values[q] / value).powf(exponent)) / value;
        EigenPreconditioner {
            rows: spectrum.rows.clone(),
            vectors,
            factors: spectrum.values[..q].iter().map(factor).collect(),
            top: spectrum.damped(q, exponent),
            critical_batch: spectrum.critical_batch(q, exponent),
            diagonal: spectrum.diagonal,
            noise_variance: spectrum.noise_variance,
        }
    }

    /// The rows that a correction changes, ascending.
    #[must_use]
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Number of damped eigenvectors.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.factors.len()
    }

    /// Rows of a batch up to which steps are of full length.
    #[must_use]
    pub fn critical_batch(&self) -> f64 {
        self.critical_batch
    }

    /// The learning rate eta, for gradients that are divided by the batch size.
    #[must_use]
    pub fn learning_rate(&self, batch_size: usize) -> f64 {
        let b = batch_size as f64;
        if b < self.critical_batch {
            b / self.diagonal
        } else {
            0.99 * 2.0 * b / (self.diagonal + (b - 1.0) * self.top)
        }
    }

    /// E' diag(d) E'^T K\[S, batch\] g for g on the rows of a batch, b x s: m x s. Counts m b entries, and none
    /// without damped eigenvectors.
    ///
    /// # Errors
    /// As a call of the operator.
    pub fn correction(
        &self,
        operator: Operator<'_>,
        batch: &[usize],
        g: &Array2<f64>,
        workers: Workers<'_>,
    ) -> Result<Array2<f64>> {
        let shape = (self.rows.len(), g.ncols());
        let mut correction = Array2::zeros(shape.f());
        if self.rank() == 0 {
            return Ok(correction);
        }
        let mut product = Array2::zeros(shape.f());
        for (piece, g) in batch.chunks(PIECE).zip(g.axis_chunks_iter(Axis(0), PIECE)) {
            let mut block = Array2::zeros((self.rows.len(), piece.len()).f());
            operator.block(&self.rows[..], piece, &mut block)?;
            for (k, row) in piece.iter().enumerate() {
                if let Ok(place) = self.rows.binary_search(row) {
                    block[[place, k]] -= self.noise_variance;
                }
            }
            tall::add_product(1.0, &block, &g, &mut product, workers);
        }
        let mut coefficients = tall::product(&self.vectors, &product, workers);
        for (mut row, factor) in coefficients.axis_iter_mut(Axis(0)).zip(&self.factors) {
            row *= *factor;
        }
        tall::add_product(1.0, &self.vectors, &coefficients, &mut correction, workers);
        Ok(correction)
    }
}
