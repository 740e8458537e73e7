//! The posterior of finitely many weights from all rows.

use std::ops::Range;

use ndarray::linalg::general_mat_vec_mul;
use ndarray::{Array1, Array2, ArrayRef1, ArrayRef2, Axis, ShapeBuilder, s};

use crate::{Result, Workers, lapack, symmetric};

/// Rows whose features one thread computes at a time.
const TILE: usize = 256;

/// Rows whose features are in memory at a time.
const BLOCK: usize = 4096;

/// Phi^T Phi and Phi^T r of all rows.
#[derive(Debug, Clone)]
pub struct Moments {
    /// Phi^T Phi, D x D, column-major; the lower triangle only.
    pub gram: Array2<f64>,
    /// Phi^T r, D.
    pub targets: Array1<f64>,
}

impl Moments {
    /// Sums over the rows of `targets`, with `features` giving those of a range of rows, as many rows x `dimension`.
    /// Sums go over pieces of fixed size: they do not depend on the number of threads.
    pub fn new(
        targets: &ArrayRef1<f64>,
        dimension: usize,
        features: impl Fn(Range<usize>) -> Array2<f64> + Sync,
        workers: Workers<'_>,
    ) -> Moments {
        let n = targets.len();
        let mut moments =
            Moments { gram: Array2::zeros((dimension, dimension).f()), targets: Array1::zeros(dimension) };
        for start in (0..n).step_by(BLOCK) {
            let rows = start..n.min(start + BLOCK);
            let mut block = Array2::zeros((rows.len(), dimension));
            let tiles = rows.clone().step_by(TILE).zip(block.axis_chunks_iter_mut(Axis(0), TILE));
            workers.for_each(tiles, |(first, mut tile)| {
                let rows = first..first + tile.nrows();
                tile.assign(&features(rows));
            });
            symmetric::add_gram_shared(&block, &mut moments.gram, workers);
            general_mat_vec_mul(1.0, &block.t(), &targets.slice(s![rows]), 1.0, &mut moments.targets);
        }
        moments
    }

    /// F = Phi^T Phi + s^2 I, whole.
    pub fn matrix(&self, noise_variance: f64) -> Array2<f64> {
        let mut matrix = self.gram.clone();
        symmetric::add_diagonal(noise_variance, &mut matrix);
        lapack::mirror_lower(&mut matrix);
        matrix
    }
}

/// The posterior of the weights: mean F^-1 Phi^T r, covariance s^2 F^-1.
#[derive(Debug, Clone)]
pub struct Posterior {
    /// Cholesky factor of F.
    factor: Array2<f64>,
    weights: Array1<f64>,
    noise_variance: f64,
}

impl Posterior {
    /// The posterior given all rows. Fails if F is not positive definite to working precision.
    pub fn new(moments: &Moments, noise_variance: f64) -> Result<Posterior> {
        let factor = symmetric::shifted_factor(&moments.gram, noise_variance)?;
        let mut weights = moments.targets.clone().insert_axis(Axis(1));
        lapack::cholesky_solve(&factor, &mut weights)?;
        Ok(Posterior { factor, weights: weights.remove_axis(Axis(1)), noise_variance })
    }

    /// Mean of the weights, D.
    pub fn weights(&self) -> &Array1<f64> {
        &self.weights
    }

    /// Mean phi w (without the targets' mean) and variance s^2 phi F^-1 phi^T + s^2 of y for each row of features.
    pub fn predict(&self, features: &ArrayRef2<f64>) -> Result<(Array1<f64>, Array1<f64>)> {
        // Row by row, so that a row's prediction has the same bits whatever the other rows are.
        let mean = features.rows().into_iter().map(|row| row.dot(&self.weights)).collect();
        let mut whitened = Array2::zeros(features.dim().f());
        whitened.assign(features);
        lapack::divide_by_lower_transposed(&mut whitened, &self.factor)?;
        let explained = whitened.rows().into_iter().map(|row| row.dot(&row));
        let variance = explained.map(|explained| self.noise_variance * (1.0 + explained)).collect();
        Ok((mean, variance))
    }
}
