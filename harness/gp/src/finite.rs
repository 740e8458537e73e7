//! Gaussian processes of finite dimension: k(x, z) = phi(x)^T phi(z).
//!
//! With Phi the n x D features of the training rows, H = Phi Phi^T + noise^2 I and F = Phi^T Phi + noise^2 I (D x D),
//!
//! ```text
//! log |H| = log |F| + (n - D) log noise^2
//! y^T H^-1 y = |Phi w - y|^2 / noise^2 + |w|^2,   w = F^-1 Phi^T y
//! mean = phi^T w,   variance of the latent function = noise^2 phi^T F^-1 phi
//! ```
//!
//! so likelihoods and predictions are exact for any n, at n D^2 multiply-adds and O(D^2) memory.

use std::f64::consts::PI;
use std::sync::Arc;

use gpbench_numerics::{Pool, factor, lapack, pieces};
use ndarray::linalg::{general_mat_mul, general_mat_vec_mul};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, ShapeBuilder, s};
use rayon::ThreadPool;

use crate::NotPositiveDefinite;
use crate::RandomFeatures;
use crate::covariance::Linear;
use crate::network::Network;
use crate::threads::OnPool;

/// Features of rows.
pub trait FeatureMap: Sync {
    /// Number of features D.
    fn count(&self) -> usize;

    /// The features of a block of rows, b x D, computed on the calling thread.
    fn rows(&self, x: ArrayView2<f64>) -> Array2<f64>;
}

impl<M: FeatureMap> FeatureMap for &M {
    fn count(&self) -> usize {
        (*self).count()
    }

    fn rows(&self, x: ArrayView2<f64>) -> Array2<f64> {
        (*self).rows(x)
    }
}

/// The feature map of the outputs z of a network.
#[derive(Debug, Clone)]
pub enum OutputFeatures {
    /// The features of the linear kernel.
    Linear(Linear),
    /// Random Fourier features of z, which approximate a stationary kernel.
    Random(RandomFeatures),
}

/// Features of a network's outputs.
#[derive(Debug, Clone, Copy)]
pub struct NetworkFeatures<'a> {
    /// The network.
    pub network: &'a Network,
    /// The feature map of its outputs.
    pub projection: &'a OutputFeatures,
}

impl OutputFeatures {
    /// Number of features.
    pub fn count(&self) -> usize {
        match self {
            OutputFeatures::Linear(linear) => linear.d(),
            OutputFeatures::Random(features) => features.count(),
        }
    }
}

impl FeatureMap for NetworkFeatures<'_> {
    fn count(&self) -> usize {
        self.projection.count()
    }

    fn rows(&self, x: ArrayView2<f64>) -> Array2<f64> {
        let z = self.network.rows(x);
        match self.projection {
            OutputFeatures::Linear(linear) => linear.features(z.view()),
            OutputFeatures::Random(features) => features.matrix(z.view()),
        }
    }
}

/// A process of finite dimension, conditioned on its training rows.
#[derive(Debug)]
pub struct Finite<M> {
    map: M,
    pool: Arc<ThreadPool>,
    n: usize,
    noise_scale: f64,
    /// L of `F = L L^T` in the lower triangle.
    factor: Array2<f64>,
    /// `|F|` in the Frobenius norm.
    norm: f64,
    /// Weights `w = F^-1 Phi^T y` of the features.
    pub weights: Array1<f64>,
    /// Sum of the squares of all features of all rows, the trace of K.
    pub squares: f64,
    /// `log |H|`.
    pub log_det: f64,
    /// `y^T H^-1 y`.
    pub y_hinv_y: f64,
}

/// Rows whose features are in memory at once.
const BLOCK: usize = 2048;
/// Columns of F in one task.
const PANEL: usize = 32;

impl<M: FeatureMap> Finite<M> {
    /// Conditions on the rows of `x` with targets `y`.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`] where F is singular in double precision or features are not finite.
    pub fn fit(
        map: M,
        noise_scale: f64,
        x: ArrayView2<f64>,
        y: ArrayView1<f64>,
        pool: &Arc<ThreadPool>,
    ) -> Result<Self, NotPositiveDefinite> {
        assert_eq!(x.nrows(), y.len(), "one target per row");
        let (n, d, noise) = (x.nrows(), map.count(), noise_scale * noise_scale);
        let (mut factor, mut weights) = moments(&map, x, y, pool);
        let squares = factor.diag().sum();
        factor.diag_mut().mapv_inplace(|entry| entry + noise);
        let norm = frobenius_of_lower(factor.view());
        factor::factorise(&mut factor, OnPool(pool)).map_err(NotPositiveDefinite::of)?;
        lapack::cholesky_solve(&factor, &mut weights).expect("shapes fit");
        let weights = weights.remove_axis(Axis(1));
        let log_det_f = 2.0 * factor.diag().iter().map(|l| l.ln()).sum::<f64>();
        let log_det = log_det_f + (n as f64 - d as f64) * noise.ln();
        let pool = Arc::clone(pool);
        let mut finite =
            Finite { map, pool, n, noise_scale, factor, norm, weights, squares, log_det, y_hinv_y: 0.0 };
        let misfit = finite.squared_residual(x, y);
        finite.y_hinv_y = misfit / noise + finite.weights.dot(&finite.weights);
        Ok(finite)
    }

    /// Number of features.
    pub fn count(&self) -> usize {
        self.weights.len()
    }

    /// Negative log marginal likelihood of a row, with all constants.
    pub fn nlml(&self) -> f64 {
        let n = self.n as f64;
        (self.y_hinv_y + self.log_det + n * (2.0 * PI).ln()) / (2.0 * n)
    }

    /// Posterior mean and latent variance (without observation noise) at the rows of `x_star`.
    pub fn predict(&self, x_star: ArrayView2<f64>) -> (Array1<f64>, Array1<f64>) {
        pieces::join(pieces::map(x_star, OnPool(&self.pool), |_, x| {
            let features = self.map.rows(x);
            let mut phi = Array2::zeros(features.dim().f());
            phi.assign(&features);
            let mean = phi.dot(&self.weights);
            lapack::divide_by_lower_transposed(&mut phi, &self.factor).expect("shapes fit");
            let noise = self.noise_scale * self.noise_scale;
            (mean, phi.map_axis(Axis(1), |row| noise * row.dot(&row)))
        }))
    }

    /// `|F| |F^-1|` in Frobenius norms. Takes D^3 multiply-adds.
    pub fn condition(&self) -> f64 {
        self.norm * frobenius_of_lower(self.inverse().view())
    }

    /// The lower triangle of `F^-1`.
    pub(crate) fn inverse(&self) -> Array2<f64> {
        factor::inverse(&self.factor, OnPool(&self.pool))
    }

    /// `|Phi w - y|^2`.
    fn squared_residual(&self, x: ArrayView2<f64>, y: ArrayView1<f64>) -> f64 {
        let sums = pieces::map(x, OnPool(&self.pool), |start, x| {
            let residual = self.map.rows(x).dot(&self.weights) - y.slice(s![start..start + x.nrows()]);
            residual.dot(&residual)
        });
        sums.iter().sum()
    }
}

/// The lower triangle of `Phi^T Phi` (D x D), and `Phi^T y` (D x 1).
fn moments(
    map: &impl FeatureMap,
    x: ArrayView2<f64>,
    y: ArrayView1<f64>,
    pool: &ThreadPool,
) -> (Array2<f64>, Array2<f64>) {
    let d = map.count();
    let (mut gram, mut projected) = (Array2::zeros((d, d).f()), Array2::zeros((d, 1).f()));
    let mut memory = Array2::zeros((BLOCK.min(x.nrows()), d));
    for (x, y) in x.axis_chunks_iter(Axis(0), BLOCK).zip(y.axis_chunks_iter(Axis(0), BLOCK)) {
        let mut phi = memory.slice_mut(s![..x.nrows(), ..]);
        pieces::fill(x, phi.view_mut(), OnPool(pool), |x, mut phi| phi.assign(&map.rows(x)));
        let phi = phi.view();
        let entries = projected.axis_chunks_iter_mut(Axis(0), PANEL);
        let panels = gram.axis_chunks_iter_mut(Axis(1), PANEL).zip(entries).enumerate();
        OnPool(pool).for_each(panels, |(index, (mut panel, mut projected))| {
            let start = index * PANEL;
            let columns = phi.slice(s![.., start..start + panel.ncols()]);
            let mut below = panel.slice_mut(s![start.., ..]);
            general_mat_mul(1.0, &phi.slice(s![.., start..]).t(), &columns, 1.0, &mut below);
            general_mat_vec_mul(1.0, &columns.t(), &y, 1.0, &mut projected.column_mut(0));
        });
    }
    (gram, projected)
}

/// The Frobenius norm of the symmetric matrix with this lower triangle.
fn frobenius_of_lower(a: ArrayView2<f64>) -> f64 {
    let column = |j: usize| {
        let below = a.slice(s![j + 1.., j]);
        a[(j, j)].powi(2) + 2.0 * below.dot(&below)
    };
    (0..a.nrows()).map(column).sum::<f64>().sqrt()
}
