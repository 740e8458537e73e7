//! Eigenvalues and eigenvectors of the kernel matrix, from a subset of its rows.

use gpbench_sdk::ndarray::{Array2, ShapeBuilder};
use gpbench_sdk::{Error, Operator, Result, lapack, symmetric};

/// Eigenvalues l and eigenvectors of K\[S, S\] / m for m rows S. The eigenvalues approximate those of K / n.
#[derive(Debug, Clone)]
pub struct SubsetSpectrum {
    /// S, ascending.
    pub(crate) rows: Vec<usize>,
    /// Eigenvalues above 0, to working precision; descending.
    pub(crate) values: Vec<f64>,
    /// Eigenvectors of norm 1, m x m: the last is that of the largest eigenvalue.
    pub(crate) vectors: Array2<f64>,
    /// Largest entry of A's diagonal.
    pub(crate) diagonal: f64,
    /// Noise variance s^2.
    pub(crate) noise_variance: f64,
}

impl SubsetSpectrum {
    /// The spectrum of A's kernel matrix on these rows, which are distinct. Counts m^2 entries, and takes about 9 m^3
    /// operations on one thread.
    ///
    /// # Errors
    /// If the matrix is not finite; as a call of the operator.
    pub fn of(operator: Operator<'_>, mut rows: Vec<usize>) -> Result<SubsetSpectrum> {
        rows.sort_unstable();
        let m = rows.len();
        let noise_variance = operator.inputs()?.noise_scale.powi(2);
        let diagonal = operator.diagonal()?.iter().fold(0.0, |largest: f64, &entry| largest.max(entry));
        let mut vectors = Array2::zeros((m, m).f());
        operator.block(&rows[..], &rows[..], &mut vectors)?;
        if !(diagonal.is_finite() && vectors.iter().all(|entry| entry.is_finite())) {
            return Err(Error::new("the kernel matrix is not finite"));
        }
        symmetric::add_diagonal(-noise_variance, &mut vectors);
        vectors /= m as f64;
        let ascending = lapack::symmetric_eigen(&mut vectors)?;
        let largest = ascending.last().copied().unwrap_or(0.0);
        let rounding = m as f64 * f64::EPSILON * largest;
        let values = ascending.iter().rev().copied().take_while(|value| *value > rounding).collect();
        Ok(SubsetSpectrum { rows, values, vectors, diagonal, noise_variance })
    }

    /// Eigenvalues above 0, to working precision; descending.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Largest number of eigenvectors that may be damped: one eigenvalue has to follow them.
    #[must_use]
    pub fn most_rank(&self) -> usize {
        self.values.len().saturating_sub(1)
    }

    /// The largest eigenvalue that is left where the first q are damped, l_1 (l_q+1 / l_1)^exponent; q is at most
    /// [`most_rank`](Self::most_rank).
    #[must_use]
    pub fn damped(&self, q: usize, exponent: f64) -> f64 {
        let Some(largest) = self.values.first() else { return 0.0 };
        largest * (self.values[q] / largest).powf(exponent)
    }

    /// Rows of a batch up to which steps are of full length: the largest entry of A's diagonal over the largest
    /// eigenvalue that is left, plus 1.
    #[must_use]
    pub fn critical_batch(&self, q: usize, exponent: f64) -> f64 {
        self.diagonal / self.damped(q, exponent) + 1.0
    }

    /// The smallest number of damped eigenvectors with which a batch of so many rows is not above the critical one;
    /// the largest number if none suffices.
    #[must_use]
    pub fn least_rank(&self, batch_size: usize, exponent: f64) -> usize {
        let most = self.most_rank();
        let suffices = |q: &usize| self.critical_batch(*q, exponent) >= batch_size as f64;
        (0..most).find(suffices).unwrap_or(most)
    }
}
