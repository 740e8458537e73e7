//! The covariance that inducing points leave: R = K - A^T A, with A = L^-1 K(Z, .) and L L^T = K(Z, Z) + jitter I.
//!
//! Without points R is K.

use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::ndarray::linalg::general_mat_mul;
use gpbench_sdk::ndarray::{Array1, Array2, ArrayRef2, Axis, ShapeBuilder, concatenate, s};
use gpbench_sdk::{Result, Workers, lapack};

use crate::Process;

/// Rows whose features one thread computes.
const ROWS: usize = 256;

/// Least variance of R, as a share of the signal variance, in correlations.
const LEAST: f64 = 1e-12;

/// R of some rows.
#[derive(Debug)]
pub(crate) struct Rest {
    pub(crate) kernel: Kernel,
    noise_variance: f64,
    /// Rows, n x d.
    x: Array2<f64>,
    /// Z, M x d.
    pub(crate) points: Array2<f64>,
    /// L, M x M.
    pub(crate) factor: Array2<f64>,
    /// A, M x n.
    pub(crate) features: Array2<f64>,
}

/// Some points with their features, and H = R + noise^2 I of them.
pub(crate) struct Block {
    /// k x d.
    pub(crate) points: Array2<f64>,
    /// M x k.
    pub(crate) features: Array2<f64>,
    /// k x k, column-major.
    pub(crate) covariance: Array2<f64>,
}

/// The last of some points, given the observations at the others.
pub(crate) struct Given {
    /// Weights b of the others' targets, k - 1.
    pub(crate) weights: Array1<f64>,
    /// Variance, the noise included.
    pub(crate) variance: f64,
    /// Cholesky factor of all points' covariance.
    pub(crate) factor: Array2<f64>,
}

impl Rest {
    /// R of the rows of `x`.
    pub(crate) fn new(at: &Process, x: &Array2<f64>, workers: Workers<'_>) -> Result<Rest> {
        let kernel = at.kernel();
        let points = at.points().clone();
        let mut factor = kernel.gram(&points, &points, workers);
        factor.diag_mut().mapv_inplace(|entry| entry + at.jitter());
        if at.has_points() {
            lapack::cholesky(&mut factor)?;
        }
        let noise_variance = at.noise_scale().powi(2);
        let features = Array2::zeros((0, 0));
        let mut rest = Rest { kernel, noise_variance, x: x.clone(), points, factor, features };
        rest.features = rest.features_of(x, workers);
        Ok(rest)
    }

    /// A of other rows, M x k.
    pub(crate) fn features_of(&self, x: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
        let mut features = self.kernel.gram(&self.points, x, workers);
        self.solve(&mut features, false, workers);
        features
    }

    /// L^-1 B in place of B, M x k and column-major, or L^-T B if `transposed`.
    pub(crate) fn solve(&self, b: &mut Array2<f64>, transposed: bool, workers: Workers<'_>) {
        if b.is_empty() {
            return;
        }
        workers.for_each(b.axis_chunks_iter_mut(Axis(1), ROWS), |mut b| {
            lapack::solve_lower(&self.factor, transposed, &mut b).expect("a row for each inducing point");
        });
    }

    /// The rows.
    pub(crate) fn x(&self) -> &Array2<f64> {
        &self.x
    }

    /// H of some rows.
    pub(crate) fn block(&self, rows: &[usize]) -> Block {
        self.block_of(self.x.select(Axis(0), rows), self.features.select(Axis(1), rows))
    }

    /// H of some rows and then of another point, 1 x d, with its features, M x 1.
    pub(crate) fn block_with(
        &self,
        rows: &[usize],
        point: &ArrayRef2<f64>,
        features: &ArrayRef2<f64>,
    ) -> Block {
        let Block { points, features: of_rows, .. } = self.block(rows);
        let joined = "as many columns, and as many rows";
        let points = concatenate(Axis(0), &[points.view(), point.view()]).expect(joined);
        self.block_of(points, concatenate(Axis(1), &[of_rows.view(), features.view()]).expect(joined))
    }

    fn block_of(&self, points: Array2<f64>, features: Array2<f64>) -> Block {
        let mut covariance = self.kernel.gram(&points, &points, Workers::new(1));
        if !features.is_empty() {
            general_mat_mul(-1.0, &features.t(), &features, 1.0, &mut covariance);
        }
        covariance.diag_mut().mapv_inplace(|entry| entry + self.noise_variance);
        Block { points, features, covariance }
    }

    /// The correlations of R between the rows before `before` and some points, k x d, with their features, M x k:
    /// `before` x k.
    pub(crate) fn correlations(
        &self,
        before: usize,
        points: &ArrayRef2<f64>,
        features: &ArrayRef2<f64>,
    ) -> Array2<f64> {
        let rows = self.x.slice(s![..before, ..]);
        let mut rest = self.kernel.gram(&rows, points, Workers::new(1));
        let of_rows = self.features.slice(s![.., ..before]);
        if !rest.is_empty() && self.points.nrows() > 0 {
            general_mat_mul(-1.0, &of_rows.t(), features, 1.0, &mut rest);
        }
        rest /= &self.deviations(&of_rows).insert_axis(Axis(1));
        rest /= &self.deviations(features);
        rest
    }

    /// sqrt(R_jj) of points with these features, M x k.
    fn deviations(&self, features: &ArrayRef2<f64>) -> Array1<f64> {
        let variance = self.kernel.signal_scale.powi(2);
        let columns = features.columns().into_iter();
        columns.map(|of| (variance - of.dot(&of)).max(LEAST * variance).sqrt()).collect()
    }
}

impl Block {
    /// The last point, given the others.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`](gpbench_sdk::Error::NotPositiveDefinite).
    pub(crate) fn last_given_others(&self) -> Result<Given> {
        let last = self.points.nrows() - 1;
        let mut factor = Array2::zeros(self.covariance.dim().f());
        factor.assign(&self.covariance);
        lapack::cholesky(&mut factor)?;
        let mut weights = factor.slice(s![last, ..last]).to_owned().insert_axis(Axis(1));
        if last > 0 {
            lapack::solve_lower(&factor.slice(s![..last, ..last]), true, &mut weights)?;
        }
        let (weights, variance) = (weights.remove_axis(Axis(1)), factor[[last, last]].powi(2));
        Ok(Given { weights, variance, factor })
    }

    /// Features of the last point less those of the others times their weights: the part that inducing points
    /// explain.
    pub(crate) fn explained(&self, weights: &Array1<f64>) -> Array1<f64> {
        let (others, last) = self.features.view().split_at(Axis(1), weights.len());
        &last.column(0) - &others.dot(weights)
    }
}
