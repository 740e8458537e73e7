//! Exact Gaussian processes that predict each row from its nearest training rows only (Vecchia 1988), optionally of
//! what inducing points leave unexplained (VIF, Gyger, Furrer and Sigrist 2025).
//!
//! With the neighbours N of a row, `C = K_NN + noise^2 I` and `b = C^-1 K_N*`,
//!
//! ```text
//! mean = b^T y_N,   variance of the latent function = k(x, x) - b^T K_N*
//! ```
//!
//! With inducing points, the latent function is A^T v + r, where v has the distribution q and r the covariance
//! `R = K - A^T A`, `A = L^-1 K(Z, .)`. Then R takes the place of K, and with `phi = a_* - A_N b` the mean of v adds
//! `phi^T m` to the mean, and its covariance `|root^T phi|^2` to the variance.

use std::sync::Arc;

use gpbench_numerics::neighbours::{nearest_to, strongest};
use gpbench_numerics::{lapack, pieces};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use rayon::ThreadPool;

use crate::finite::FeatureMap;
use crate::network::Network;
use crate::sparse::{Basis, Variational};
use crate::threads::OnPool;
use crate::{CovarianceFunction, Kernel, NotPositiveDefinite};

/// A process that predicts from neighbours.
#[derive(Debug, Clone)]
pub struct Neighbours {
    /// Covariance function.
    pub kernel: Kernel,
    /// Training rows from which a row is predicted.
    pub count: usize,
    /// Inducing points, where there are any.
    pub inducing: Option<InducingPoints>,
}

/// Inducing points, and the distribution of the function at them.
#[derive(Debug, Clone)]
pub struct InducingPoints {
    /// Covariance function.
    pub covariance: CovarianceFunction,
    /// Points, M x d.
    pub z: Array2<f64>,
    /// Number added to the diagonal of K(Z, Z).
    pub jitter: f64,
    /// Distribution of v, with f(Z) = L v.
    pub q: Variational,
}

/// The matrix of the neighbours of a row is singular in double precision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the neighbours of row {row} of those that are predicted: {error}")]
pub struct SingularRow {
    /// Row that is predicted, from 0.
    pub row: usize,
    /// The error of the factorisation.
    pub error: NotPositiveDefinite,
}

/// Least variance of R, as a share of the signal variance, in correlations.
const LEAST: f64 = 1e-12;

/// A process with its training rows.
#[derive(Debug)]
pub struct Conditioned<'a> {
    neighbours: &'a Neighbours,
    noise_variance: f64,
    x: ArrayView2<'a, f64>,
    y: Array1<f64>,
    /// Training inputs divided by their length scales.
    scaled: Array2<f64>,
    explained: Option<Explained<'a>>,
    pool: Arc<ThreadPool>,
}

/// What inducing points explain of the training rows.
#[derive(Debug)]
struct Explained<'a> {
    basis: Basis<'a>,
    q: &'a Variational,
    /// A^T, n x M.
    features: Array2<f64>,
    /// sqrt(R_jj) of the training rows, at least `sqrt(LEAST)` times the signal scale.
    deviations: Array1<f64>,
}

impl Neighbours {
    /// Conditions on the rows of `x` with targets `y`, without the prior mean. `network` is the identity.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`] where K(Z, Z) with its jitter is singular in double precision.
    pub fn condition<'a>(
        &'a self,
        network: &'a Network,
        noise_scale: f64,
        x: ArrayView2<'a, f64>,
        y: &Array1<f64>,
        pool: &Arc<ThreadPool>,
    ) -> Result<Conditioned<'a>, NotPositiveDefinite> {
        let explained = match &self.inducing {
            None => None,
            Some(inducing) => Some(Explained::new(inducing, network, x, &self.kernel, pool)?),
        };
        let scaled = self.scaled(x);
        let (noise_variance, pool) = (noise_scale * noise_scale, Arc::clone(pool));
        Ok(Conditioned { neighbours: self, noise_variance, x, y: y.clone(), scaled, explained, pool })
    }

    fn scaled(&self, x: ArrayView2<f64>) -> Array2<f64> {
        let mut scaled = Array2::zeros(x.dim());
        scaled.assign(&x);
        scaled /= &ArrayView1::from(&self.kernel.length_scale);
        scaled
    }
}

impl<'a> Explained<'a> {
    fn new(
        inducing: &'a InducingPoints,
        network: &'a Network,
        x: ArrayView2<f64>,
        kernel: &Kernel,
        pool: &Arc<ThreadPool>,
    ) -> Result<Explained<'a>, NotPositiveDefinite> {
        let basis = Basis::new(&inducing.covariance, network, inducing.z.view(), inducing.jitter, pool)?;
        let mut features = Array2::zeros((x.nrows(), inducing.z.nrows()));
        pieces::fill(x, features.view_mut(), OnPool(pool), |x, mut out| out.assign(&basis.rows(x)));
        let deviations = features.rows().into_iter().map(|row| deviation(kernel, row)).collect();
        Ok(Explained { basis, q: &inducing.q, features, deviations })
    }
}

/// sqrt(R_jj) of a row with these features.
fn deviation(kernel: &Kernel, features: ArrayView1<f64>) -> f64 {
    (kernel.variance() - features.dot(&features)).max(LEAST * kernel.variance()).sqrt()
}

impl Conditioned<'_> {
    /// Covariance function.
    pub fn kernel(&self) -> &Kernel {
        &self.neighbours.kernel
    }

    /// Mean and latent variance (without observation noise) at the rows of `x_star`. A variance that rounding makes
    /// negative is returned as 0.
    ///
    /// # Errors
    /// [`SingularRow`].
    pub fn predict(&self, x_star: ArrayView2<f64>) -> Result<(Array1<f64>, Array1<f64>), SingularRow> {
        let found = pieces::map(x_star, OnPool(&self.pool), |first, x_star| self.block(first, x_star));
        Ok(pieces::join(found.into_iter().collect::<Result<_, _>>()?))
    }

    /// The same for a block of rows, of which `first` is the index of the first.
    fn block(
        &self,
        first: usize,
        x_star: ArrayView2<f64>,
    ) -> Result<(Array1<f64>, Array1<f64>), SingularRow> {
        let count = self.neighbours.count.min(self.x.nrows());
        let scaled = self.neighbours.scaled(x_star);
        let features = self.explained.as_ref().map(|explained| explained.basis.rows(x_star));
        let (mut means, mut variances) = (Array1::zeros(x_star.nrows()), Array1::zeros(x_star.nrows()));
        for (i, row) in x_star.axis_chunks_iter(Axis(0), 1).enumerate() {
            let of_row = features.as_ref().map(|features| features.row(i));
            let near = match (&self.explained, of_row) {
                (Some(explained), Some(of_row)) => {
                    let cross = self.kernel().matrix(self.x, row).remove_axis(Axis(1));
                    let rest = cross - explained.features.dot(&of_row);
                    let own = deviation(self.kernel(), of_row);
                    let correlations =
                        rest.iter().zip(&explained.deviations).map(|(rest, size)| rest / (size * own));
                    strongest(correlations, count)
                }
                _ => nearest_to(&self.scaled, scaled.row(i), count),
            };
            let moments = self.moments(&near, row, of_row);
            (means[i], variances[i]) = moments.map_err(|error| SingularRow { row: first + i, error })?;
        }
        Ok((means, variances))
    }

    /// Mean and latent variance of one row, `x_star`, from its neighbours, with the features of it where there are
    /// any.
    fn moments(
        &self,
        near: &[usize],
        x_star: ArrayView2<f64>,
        features: Option<ArrayView1<f64>>,
    ) -> Result<(f64, f64), NotPositiveDefinite> {
        let (kernel, x, y) = (self.kernel(), self.x.select(Axis(0), near), self.y.select(Axis(0), near));
        // Symmetric, so that its transpose is column-major.
        let mut gram = kernel.matrix(x.view(), x.view()).reversed_axes();
        let mut cross = kernel.matrix(x.view(), x_star);
        let mut variance = kernel.variance();
        let explained = self.explained.as_ref().zip(features);
        let of_near = explained.map(|(explained, _)| explained.features.select(Axis(0), near));
        if let (Some(of_near), Some((_, of_row))) = (&of_near, explained) {
            gram -= &of_near.dot(&of_near.t());
            let shared = of_near.dot(&of_row);
            cross.column_mut(0).zip_mut_with(&shared, |cross, shared| *cross -= shared);
            variance -= of_row.dot(&of_row);
        }
        gram.diag_mut().mapv_inplace(|entry| entry + self.noise_variance);
        let mut weights = cross.clone();
        if !near.is_empty() {
            lapack::cholesky(&mut gram).map_err(NotPositiveDefinite::of)?;
            lapack::cholesky_solve(&gram, &mut weights).map_err(NotPositiveDefinite::of)?;
        }
        let weights = weights.column(0);
        let mut mean = weights.dot(&y);
        variance -= weights.dot(&cross.column(0));
        if let (Some(of_near), Some((explained, of_row))) = (&of_near, explained) {
            let phi = &of_row - &of_near.t().dot(&weights);
            mean += phi.dot(&explained.q.mean);
            let root = explained.q.root.t().dot(&phi);
            variance += root.dot(&root);
        }
        Ok((mean, variance.max(0.0)))
    }
}
