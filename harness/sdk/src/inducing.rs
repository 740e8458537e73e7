//! Predictions from inducing points, for authors of learners.

use ndarray::{Array1, Array2, ArrayRef2, ArrayView1, ArrayView2, Axis};

use crate::kernel::Kernel;
use crate::{Result, Workers, lapack, panels};

/// Inducing points Z with a Gaussian distribution of the function's values there, as in
/// [`Model::inducing`](crate::Model::inducing): the values are L v, and v has mean m and covariance R R^T.
#[derive(Debug)]
pub struct InducingPosterior<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Z, as the kernel's inputs, m x d.
    pub z: ArrayView2<'a, f64>,
    /// L, the Cholesky factor of K(Z, Z) + jitter I, column-major.
    pub factor: ArrayView2<'a, f64>,
    /// m.
    pub mean: ArrayView1<'a, f64>,
    /// R, column-major. What is above the diagonal is not read.
    pub root: ArrayView2<'a, f64>,
}

impl InducingPosterior<'_> {
    /// Means and variances of the latent function at the rows of `x`, less the prior mean. Variances are not negative.
    ///
    /// With a = L^-1 k(Z, x) the mean is a^T m, and the variance k(x, x) - |a|^2 + |R^T a|^2. Takes 2 m^2 operations a
    /// row.
    ///
    /// # Errors
    /// If arrays are not column-major.
    pub fn predict(&self, x: &ArrayRef2<f64>, workers: Workers<'_>) -> Result<(Array1<f64>, Array1<f64>)> {
        let (mut means, mut variances) = (Array1::zeros(x.nrows()), Array1::zeros(x.nrows()));
        let pieces = x.axis_chunks_iter(Axis(0), panels::COLUMNS);
        let mut outcomes = vec![Ok(()); pieces.len()];
        let of_means = means.axis_chunks_iter_mut(Axis(0), panels::COLUMNS);
        let of_variances = variances.axis_chunks_iter_mut(Axis(0), panels::COLUMNS);
        let work = pieces.zip(of_means.zip(of_variances)).zip(&mut outcomes);
        workers.for_each(work, |((x, (mut means, mut variances)), outcome)| {
            let mut solved = self.kernel.gram(&self.z, &x, Workers::new(1));
            *outcome = panels::solve(&self.factor, &mut solved);
            means.assign(&solved.t().dot(&self.mean));
            variances.assign(&(self.kernel.diagonal(&x) - squares(&solved)));
            if outcome.is_ok() {
                *outcome = lapack::multiply_lower(&self.root, true, &mut solved).map_err(Into::into);
            }
            variances += &squares(&solved);
            variances.mapv_inplace(|variance: f64| variance.max(0.0));
        });
        outcomes.into_iter().collect::<Result<()>>()?;
        Ok((means, variances))
    }
}

/// Squared norms of the columns.
pub fn squares(a: &Array2<f64>) -> Array1<f64> {
    a.columns().into_iter().map(|column| column.dot(&column)).collect()
}
