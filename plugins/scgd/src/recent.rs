//! The average of F by those batches that still count in it.
//!
//! In each step, the weights of earlier batches in F~ are multiplied by 1 - b_t. With Phi the features of r rows of
//! recent batches, W their weights, and E what older batches and the start add,
//!
//! ```text
//! F~ = u I + G^T G + E,   G = W^(1/2) Phi,   u the average of s^2
//! ```
//!
//! As soon as tr E is negligible beside u, the least eigenvalue of F~ - E, a matrix of order r does what one of order
//! D did:
//!
//! ```text
//! M = u I + G G^T
//! log|F~| = log|M| + (D - r) log u,   tr F~^-1 = tr M^-1 + (D - r) / u,   G F~^-1 = M^-1 G
//! ```
//!
//! No term cancels another for r < D, and the last rows of M^-1 G are those of the newest batch.

use gpbench_sdk::ndarray::linalg::general_mat_mul;
use gpbench_sdk::ndarray::{Array1, Array2, ArrayRef2, ShapeBuilder, s};
use gpbench_sdk::{Error, Result, Saved, Workers, lapack, symmetric};

use crate::determinant::{LogDeterminant, sharing};

/// A matrix is negligible in F~ if its trace is at most this share of u: it then changes F~^-1 by no larger share.
/// Rounding errors of a factor of F~ change it by 1e-16 |F~| / u.
const NEGLIGIBLE: f64 = 1e-14;

/// Recent batches, their weights and inner products.
#[derive(Debug, Clone, PartialEq)]
pub struct Recent {
    /// Rows that are kept at most, fewer than D.
    most: usize,
    /// u.
    noise_variance: f64,
    /// tr E.
    rest: f64,
    /// Phi, r x D, row-major, the oldest batch first.
    features: Array2<f64>,
    /// W, one weight a row.
    weights: Array1<f64>,
    /// Phi Phi^T, r x r, column-major; the lower triangle only.
    gram: Array2<f64>,
}

impl Recent {
    /// No batch, before the first step from `start`, F of all rows. Keeps at most `most` rows, fewer than the
    /// features and no fewer than a batch.
    pub fn new(start: &ArrayRef2<f64>, noise_variance: f64, most: usize) -> Recent {
        let order = start.nrows();
        Recent {
            most,
            noise_variance,
            rest: start.diag().iter().map(|entry| entry - noise_variance).sum(),
            features: Array2::zeros((0, order)),
            weights: Array1::zeros(0),
            gram: Array2::zeros((0, 0).f()),
        }
    }

    /// Number of rows that are kept.
    pub fn rows(&self) -> usize {
        self.weights.len()
    }

    /// Whether nothing else counts in F~.
    pub fn is_complete(&self) -> bool {
        self.is_negligible(self.rest)
    }

    /// Whether a matrix of this trace is negligible in F~.
    fn is_negligible(&self, trace: f64) -> bool {
        trace <= NEGLIGIBLE * self.noise_variance
    }

    /// Moves the average by `weight` (b_t) towards the estimate from a batch out of `n` rows.
    pub fn renew(&mut self, weight: f64, n: usize, features: &ArrayRef2<f64>, noise_variance: f64) {
        let batch = features.nrows();
        self.noise_variance = (1.0 - weight) * self.noise_variance + weight * noise_variance;
        self.rest *= 1.0 - weight;
        self.weights *= 1.0 - weight;
        let first = self.leave_out(batch);
        let kept = self.rows() - first;
        let rows = kept + batch;

        let mut all = Array2::zeros((rows, features.ncols()));
        all.slice_mut(s![..kept, ..]).assign(&self.features.slice(s![first.., ..]));
        all.slice_mut(s![kept.., ..]).assign(features);
        let mut gram = Array2::zeros((rows, rows).f());
        gram.slice_mut(s![..kept, ..kept]).assign(&self.gram.slice(s![first.., first..]));
        general_mat_mul(1.0, &all.slice(s![kept.., ..]), &all.t(), 0.0, &mut gram.slice_mut(s![kept.., ..]));
        let scale = n as f64 / batch as f64;
        let mut weights = Array1::from_elem(rows, weight * scale);
        weights.slice_mut(s![..kept]).assign(&self.weights.slice(s![first..]));
        (self.features, self.gram, self.weights) = (all, gram, weights);
    }

    /// Moves the oldest rows to E: those that are negligible there, and those that leave no room for `new` rows.
    /// Returns their number.
    fn leave_out(&mut self, new: usize) -> usize {
        let rows = self.rows();
        let mut first = 0;
        for (weight, square) in self.weights.iter().zip(self.gram.diag()) {
            let rest = self.rest + weight * square;
            if rows - first + new <= self.most && !self.is_negligible(rest) {
                break;
            }
            self.rest = rest;
            first += 1;
        }
        first
    }

    /// The logarithmic determinant of F~ and the estimated derivatives, for the batch of `batch` rows out of `n` that
    /// the average was last moved towards. Right only where the recent rows are [complete](Self::is_complete).
    ///
    /// # Errors
    /// [`NotPositiveDefinite`](Error::NotPositiveDefinite) only where F~ is not finite.
    pub fn log_determinant(&self, n: usize, batch: usize, workers: Workers<'_>) -> Result<LogDeterminant> {
        let (rows, order) = self.features.dim();
        let workers = sharing(rows, workers);
        let roots = self.weights.mapv(f64::sqrt);
        let mut matrix = self.gram.clone();
        for (mut column, root) in matrix.columns_mut().into_iter().zip(&roots) {
            column.zip_mut_with(&roots, |entry, other| *entry *= root * other);
        }
        let factor = symmetric::shifted_factor_shared(&matrix, self.noise_variance, workers)?;
        // M^-1 = K^T K with the lower triangle K = L^-1: its last rows need those of K alone.
        let inverse = symmetric::inverse_lower(&factor, workers);
        let newest = inverse.slice(s![rows - batch.., ..]);
        let mut by_rows = newest.slice(s![.., rows - batch..]).t().dot(&newest);
        by_rows *= &roots;
        by_rows *= 2.0 * n as f64 / batch as f64 / roots[rows - 1];
        let others = (order - rows) as f64;
        let trace: f64 = inverse.columns().into_iter().map(|column| column.dot(&column)).sum();
        Ok(LogDeterminant {
            value: lapack::log_determinant(&factor) + others * self.noise_variance.ln(),
            by_features: by_rows.dot(&self.features),
            by_noise_variance: trace + others / self.noise_variance,
        })
    }

    /// Saves the batches under names that begin with `recent_`.
    pub(crate) fn save(&self, saved: &mut Saved) {
        saved.put_list("recent_sums", &[self.noise_variance, self.rest]);
        saved.put_list("recent_weights", &self.weights.to_vec());
        saved.put("recent_features", self.features.view());
        saved.put("recent_gram", self.gram.view());
    }

    /// The saved batches, of `order` features.
    pub(crate) fn load(saved: &Saved, order: usize, most: usize) -> Result<Recent> {
        let &[noise_variance, rest] = saved.get_list("recent_sums")?.as_slice() else {
            return Err(Error::InvalidArgument("the saved batches are of another fit".into()));
        };
        let weights = Array1::from(saved.get_list("recent_weights")?);
        let rows = weights.len();
        let mut features = Array2::zeros((rows, order));
        features.assign(&saved.get_shaped("recent_features", (rows, order))?);
        let gram = symmetric::column_major(&saved.get_shaped("recent_gram", (rows, rows))?);
        Ok(Recent { most, noise_variance, rest, features, weights, gram })
    }
}
