//! Dense Cholesky factors, in double and in single precision, and exact Gaussian processes for authors of learners.

mod single;

use ndarray::{Array1, Array2, ArrayRef1, ArrayRef2, ArrayView2, Axis};

pub use gpbench_numerics::factor::{factorise, solve};
use gpbench_numerics::layout;
pub use single::SingleFactor;

use crate::kernel::Kernel;
use crate::{Error, Result, Workers, lapack};

/// Most rows that a [`Posterior`] conditions on. Their factor takes 3.2 GB.
pub const MOST_ROWS: usize = 20_000;

/// Rows that are predicted together.
const ROWS: usize = 256;

/// A Gaussian process conditioned on training rows.
///
/// Needs n^2 numbers and n^3 / 3 operations to make, and n^2 operations for each row that it predicts.
#[derive(Debug, Clone)]
pub struct Posterior {
    kernel: Kernel,
    mean: f64,
    x: Array2<f64>,
    /// L in the lower triangle, L L^T = K + noise_scale^2 I.
    factor: Array2<f64>,
    /// (K + noise_scale^2 I)^-1 (y - mean).
    weights: Array1<f64>,
}

/// Whether a [`Posterior`] from `n` rows can be had, for learners that would compute its inputs first.
///
/// # Errors
/// [`Unsupported`](Error::Unsupported) for more than [`MOST_ROWS`] rows.
pub fn check_rows(n: usize) -> Result<()> {
    if n <= MOST_ROWS {
        return Ok(());
    }
    let text = format!("{n} rows to predict from, at most {MOST_ROWS}; the model can be used instead");
    Err(Error::Unsupported(text))
}

/// An n x n column-major matrix of zeros for [`factorise`], laid out for the caches: its columns may lie more than n numbers
/// apart.
///
/// # Errors
/// [`OutOfMemory`](Error::OutOfMemory).
pub fn square(n: usize) -> Result<Array2<f64>> {
    let bytes = n.saturating_mul(n).saturating_mul(size_of::<f64>());
    layout::square(n).ok_or(Error::OutOfMemory { bytes, what: "a dense n x n matrix" })
}

impl Posterior {
    /// Conditions on targets `y` at the rows of `x`, with a constant prior mean.
    ///
    /// # Errors
    /// [`Unsupported`](Error::Unsupported) for more than [`MOST_ROWS`] rows, by which a learner with a model declines to
    /// predict; [`NotPositiveDefinite`](Error::NotPositiveDefinite) if the covariance is not, to working precision;
    /// [`OutOfMemory`](Error::OutOfMemory).
    pub fn new(
        kernel: Kernel,
        noise_scale: f64,
        mean: f64,
        x: ArrayView2<'_, f64>,
        y: &ArrayRef1<f64>,
        workers: Workers<'_>,
    ) -> Result<Posterior> {
        let n = x.nrows();
        check_rows(n)?;
        // An error in place of an abort where there is no memory for the covariance.
        drop(square(n)?);
        let mut factor = kernel.gram(&x, &x, workers);
        factor.diag_mut().mapv_inplace(|entry| entry + noise_scale.powi(2));
        factorise(&mut factor, workers)?;
        let mut weights = (y.to_owned() - mean).insert_axis(Axis(1));
        solve(&factor, &mut weights, workers);
        Ok(Posterior { kernel, mean, x: x.to_owned(), factor, weights: weights.remove_axis(Axis(1)) })
    }

    /// Means and variances of the latent function at the rows of `x`.
    ///
    /// # Panics
    /// If `x` has another number of inputs.
    pub fn predict(&self, x: &ArrayRef2<f64>, workers: Workers<'_>) -> (Array1<f64>, Array1<f64>) {
        let (mut means, mut variances) = (Array1::zeros(x.nrows()), self.kernel.diagonal(x));
        let pieces = means.axis_chunks_iter_mut(Axis(0), ROWS);
        let pieces = pieces.zip(variances.axis_chunks_iter_mut(Axis(0), ROWS));
        workers.for_each(pieces.zip(x.axis_chunks_iter(Axis(0), ROWS)), |((mut means, mut variances), x)| {
            // n x rows: what a row is predicted from is in one piece.
            let mut covariances = self.kernel.gram(&self.x, &x, Workers::new(1));
            for (mean, column) in means.iter_mut().zip(covariances.columns()) {
                *mean = self.mean + column.dot(&self.weights);
            }
            lapack::solve_lower(&self.factor, false, &mut covariances).expect("the factor has n rows");
            for (variance, column) in variances.iter_mut().zip(covariances.columns()) {
                // Rounding can leave none.
                *variance = (*variance - column.dot(&column)).max(f64::EPSILON * *variance);
            }
        });
        (means, variances)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::ShapeBuilder;

    use super::*;
    use crate::Family;
    use gpbench_testing::scattered;

    /// A process on 700 rows, and rows to predict.
    fn posterior(threads: usize) -> (Posterior, Array2<f64>, Array1<f64>) {
        let x = Array2::from_shape_fn((700, 3), |(i, j)| scattered(i, j));
        let y = Array1::from_shape_fn(700, |i| 1.0 + (2.0 * x[[i, 0]]).sin() + 0.1 * scattered(i, 9));
        let kernel =
            Kernel { family: Family::Rbf.into(), signal_scale: 1.2, length_scale: vec![0.5, 0.7, 2.0] };
        (Posterior::new(kernel, 0.3, 1.1, x.view(), &y, Workers::new(threads)).unwrap(), x, y)
    }

    #[test]
    fn more_rows_than_a_factor_may_have_are_declined() {
        let x = Array2::zeros((MOST_ROWS + 1, 1));
        let y = Array1::zeros(MOST_ROWS + 1);
        let kernel = Kernel { family: Family::Rbf.into(), signal_scale: 1.0, length_scale: vec![1.0] };
        let declined = Posterior::new(kernel, 0.3, 0.0, x.view(), &y, Workers::new(1)).unwrap_err();
        assert!(matches!(&declined, Error::Unsupported(why) if why.contains("20001 rows")), "{declined}");
    }

    #[test]
    fn predictions_solve_the_system() {
        let (posterior, x, y) = posterior(1);
        // At the training rows: mean = y - s^2 w, variance = s^2 (1 - s^2 (H^-1)_ii) in terms of f.
        let (means, variances) = posterior.predict(&x, Workers::new(1));
        let mut inverse = Array2::zeros((700, 700).f());
        inverse.diag_mut().fill(1.0);
        solve(&posterior.factor, &mut inverse, Workers::new(1));
        for i in 0..700 {
            assert!((means[i] - (y[i] - 0.09 * posterior.weights[i])).abs() < 1e-10);
            let expected = 0.09 - 0.09 * 0.09 * inverse[[i, i]];
            assert!((variances[i] - expected).abs() < 1e-10, "{} against {expected}", variances[i]);
        }
        let far = Array2::from_elem((1, 3), 1e6);
        let (means, variances) = posterior.predict(&far, Workers::new(1));
        assert_eq!((means[0], variances[0]), (1.1, 1.2 * 1.2));
    }

    #[test]
    fn threads_give_the_same_bits() {
        let ((one, x, _), (three, ..)) = (posterior(1), posterior(3));
        assert_eq!(one.weights, three.weights);
        assert_eq!(one.predict(&x, Workers::new(1)), three.predict(&x, Workers::new(3)));
    }
}
