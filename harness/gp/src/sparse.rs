//! Inducing points with a variational distribution, whitened (Hensman et al. 2015).
//!
//! With L L^T = K(Z, Z) + jitter I, the latent function at Z is `L v`, and `q(v) = N(m, R R^T)`, R lower triangular. For a
//! row x with `a = L^-1 K(Z, x)` and `t = R^T a`,
//!
//! ```text
//! mean = a^T m,   variance of the latent function = k(x, x) - |a|^2 + |t|^2
//! bound = sum over rows of [ -log(2 pi noise^2) / 2 - ((y - mean)^2 + variance) / (2 noise^2) ] - KL
//! KL = (|R|_F^2 + m^T m - M - 2 sum log |R_ii|) / 2
//! ```
//!
//! and `bound <= log p(y)`. For given Z the best q is that of a process with the features a (Titsias 2009):
//!
//! ```text
//! F = A A^T + noise^2 I,   R R^T = noise^2 F^-1,   m = F^-1 A y
//! bound = log N(y; 0, A^T A + noise^2 I) - tr(K - A^T A) / (2 noise^2)
//! ```

use std::f64::consts::PI;
use std::sync::Arc;

use gpbench_numerics::{factor, lapack, pieces};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, CowArray, Ix2, ShapeBuilder, Zip};
use rayon::ThreadPool;

use crate::NotPositiveDefinite;
use crate::covariance::Linear;
use crate::finite::{FeatureMap, Finite};
use crate::network::Network;
use crate::threads::OnPool;
use crate::{CovarianceFunction, KernelOperator};

/// The distribution q(v).
#[derive(Debug, Clone, PartialEq)]
pub struct Variational {
    /// m.
    pub mean: Array1<f64>,
    /// R, M x M, lower triangular; above the diagonal are zeros.
    pub root: Array2<f64>,
}

impl Variational {
    /// Divergence of q(v) from the prior N(0, I).
    pub fn divergence(&self) -> f64 {
        let squares = self.root.iter().map(|entry| entry * entry).sum::<f64>();
        let log_det = self.root.diag().iter().map(|entry| entry.abs().ln()).sum::<f64>();
        0.5 * (squares + self.mean.dot(&self.mean) - self.mean.len() as f64) - log_det
    }
}

/// Inducing points with the factor of their kernel matrix. The features of a row are `a = L^-1 K(Z, x)`.
#[derive(Debug)]
pub struct Basis<'a> {
    network: &'a Network,
    covariance: &'a CovarianceFunction,
    points: Points<'a>,
    /// L in the lower triangle.
    factor: Array2<f64>,
    pool: Arc<ThreadPool>,
}

/// The inducing points in the form that the covariance function uses.
#[derive(Debug)]
enum Points<'a> {
    Stationary(KernelOperator),
    Linear { linear: &'a Linear, features: Array2<f64> },
}

impl<'a> Basis<'a> {
    /// The basis of the points `z` (M x d), inputs of the network, with `jitter` on the diagonal.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`] where K(Z, Z) with its jitter is singular in double precision.
    pub fn new(
        covariance: &'a CovarianceFunction,
        network: &'a Network,
        z: ArrayView2<f64>,
        jitter: f64,
        pool: &Arc<ThreadPool>,
    ) -> Result<Self, NotPositiveDefinite> {
        let z = network.forward(z, pool);
        let (points, mut factor) = match covariance {
            CovarianceFunction::Stationary(kernel) => {
                let op = KernelOperator::with_pool(kernel, jitter.sqrt(), z.view(), Arc::clone(pool));
                let gram = op.lower_triangle();
                (Points::Stationary(op), gram)
            }
            CovarianceFunction::Linear(linear) => {
                let features = linear.features(z.view());
                let mut gram = Array2::zeros((z.nrows(), z.nrows()).f());
                general_mat_mul(1.0, &features, &features.t(), 0.0, &mut gram);
                gram.diag_mut().mapv_inplace(|entry| entry + jitter);
                (Points::Linear { linear, features }, gram)
            }
        };
        factor::factorise(&mut factor, OnPool(pool)).map_err(NotPositiveDefinite::of)?;
        Ok(Basis { network, covariance, points, factor, pool: Arc::clone(pool) })
    }

    /// Mean and latent variance (without observation noise) at the rows of `x_star`. A variance that rounding makes
    /// negative is returned as 0.
    pub fn predict(&self, q: &Variational, x_star: ArrayView2<f64>) -> (Array1<f64>, Array1<f64>) {
        pieces::join(pieces::map(x_star, OnPool(&self.pool), |_, x| self.moments(q, x)))
    }

    /// The bound of `log p(y)` over the rows of `x`.
    pub fn bound(&self, q: &Variational, noise_scale: f64, x: ArrayView2<f64>, y: ArrayView1<f64>) -> f64 {
        assert_eq!(x.nrows(), y.len(), "one target per row");
        let noise = noise_scale * noise_scale;
        let misfits = pieces::map(x, OnPool(&self.pool), |start, x| {
            let (mean, variance) = self.moments(q, x);
            let rows = mean.iter().zip(&variance).zip(y.iter().skip(start));
            rows.map(|((mean, variance), y)| (y - mean).powi(2) + variance).sum::<f64>()
        });
        let misfit: f64 = misfits.iter().sum();
        -0.5 * (y.len() as f64 * (2.0 * PI * noise).ln() + misfit / noise) - q.divergence()
    }

    /// The distribution with the largest bound.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`] where its covariance, or the inverse of it, is singular in double precision.
    pub fn optimal(
        &self,
        noise_scale: f64,
        x: ArrayView2<f64>,
        y: ArrayView1<f64>,
    ) -> Result<Variational, NotPositiveDefinite> {
        let finite = Finite::fit(self, noise_scale, x, y, &self.pool)?;
        let mut root = finite.inverse();
        factor::factorise(&mut root, OnPool(&self.pool)).map_err(NotPositiveDefinite::of)?;
        for (j, mut column) in root.axis_iter_mut(Axis(1)).enumerate() {
            column.iter_mut().take(j).for_each(|above| *above = 0.0);
        }
        Ok(Variational { mean: finite.weights, root: root * noise_scale })
    }

    /// The bound with the optimal distribution.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`] where F is singular in double precision.
    pub fn collapsed_bound(
        &self,
        noise_scale: f64,
        x: ArrayView2<f64>,
        y: ArrayView1<f64>,
    ) -> Result<f64, NotPositiveDefinite> {
        let finite = Finite::fit(self, noise_scale, x, y, &self.pool)?;
        let traces = pieces::map(x, OnPool(&self.pool), |_, x| {
            self.covariance.diagonal(self.network.rows(x).view()).sum()
        });
        let unexplained = traces.iter().sum::<f64>() - finite.squares;
        Ok(-(x.nrows() as f64) * finite.nlml() - 0.5 * unexplained / (noise_scale * noise_scale))
    }

    /// Mean and latent variance of a block of rows.
    fn moments(&self, q: &Variational, x: ArrayView2<f64>) -> (Array1<f64>, Array1<f64>) {
        let z = self.network.rows(x);
        let a = self.whitened(&z);
        let t = q.root.t().dot(&a);
        let mut variance = self.covariance.diagonal(z.view());
        Zip::from(&mut variance).and(a.columns()).and(t.columns()).for_each(|variance, a, t| {
            *variance = (*variance - a.dot(&a) + t.dot(&t)).max(0.0);
        });
        (a.t().dot(&q.mean), variance)
    }

    /// `L^-1 K(Z, z)` for a few outputs z of the network: M x b.
    pub(crate) fn whitened(&self, z: &CowArray<'_, f64, Ix2>) -> Array2<f64> {
        let mut a = match &self.points {
            Points::Stationary(op) => op.cross_matrix(z.view()),
            Points::Linear { linear, features } => {
                let mut cross = Array2::zeros((features.nrows(), z.nrows()).f());
                general_mat_mul(1.0, features, &linear.features(z.view()).t(), 0.0, &mut cross);
                cross
            }
        };
        lapack::solve_lower(&self.factor, false, &mut a).expect("shapes fit");
        a
    }
}

impl FeatureMap for Basis<'_> {
    fn count(&self) -> usize {
        self.factor.nrows()
    }

    fn rows(&self, x: ArrayView2<f64>) -> Array2<f64> {
        self.whitened(&self.network.rows(x)).reversed_axes()
    }
}
