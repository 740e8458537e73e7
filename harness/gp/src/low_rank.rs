//! Predictions of an exact process whose variances have a low rank: a Krylov space takes the place of H^-1.
//!
//! After r Lanczos steps with H from a random vector, with orthonormal Q (n x r) and tridiagonal `T = Q^T H Q`, the latent
//! variance at x is `s^2 - k^T Q T^-1 Q^T k` for `k = K(X, x)` (Pleiss, Gardner, Weinberger and Wilson 2018). It is at least
//! the exact variance, since `Q T^-1 Q^T` is at most H^-1; with r = n both are equal. It takes r products with H, once, and r
//! multiply-adds for each entry of k, where the exact variance takes n.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, ShapeBuilder, s};

use crate::seed::Streams;
use crate::{SystemMatrix, lanczos};

/// The Krylov space has a direction in which H is not positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "variances of rank {rank}: the kernel matrix with noise is not positive definite in double precision"
)]
pub struct NotPositive {
    /// The rank that was asked for.
    pub rank: usize,
}

/// The weights and the root of the approximate inverse, from which all predictions follow.
#[derive(Debug)]
pub struct LowRankVariance {
    /// n x (1 + r): `H^-1 y`, and R with `Q T^-1 Q^T = R R^T`.
    columns: Array2<f64>,
}

impl LowRankVariance {
    /// Takes `rank` Lanczos steps, or n if there are fewer rows. `weights` are `H^-1 y`. The random start is fixed.
    ///
    /// # Errors
    /// [`NotPositive`].
    pub fn new(op: &dyn SystemMatrix, weights: ArrayView1<f64>, rank: usize) -> Result<Self, NotPositive> {
        let n = op.n();
        let start = Streams::new(0, &["low-rank-variance"]).normals("start", n, 1);
        let root = lanczos::inverse_root(op, start.column(0), rank).ok_or(NotPositive { rank })?;
        let mut columns = Array2::zeros((n, 1 + root.ncols()).f());
        columns.column_mut(0).assign(&weights);
        columns.slice_mut(s![.., 1..]).assign(&root);
        Ok(LowRankVariance { columns })
    }

    /// Posterior mean and latent variance (without observation noise) at the rows of `x_star`. `op` is that of
    /// [`new`](Self::new). A variance that rounding makes negative is returned as 0.
    pub fn predict(&self, op: &dyn SystemMatrix, x_star: ArrayView2<f64>) -> (Array1<f64>, Array1<f64>) {
        let product = op.cross(x_star, self.columns.view());
        let explained = product.slice(s![.., 1..]).map_axis(Axis(1), |row| row.dot(&row));
        let prior = op.kernel().variance();
        (product.column(0).to_owned(), explained.mapv(|explained| (prior - explained).max(0.0)))
    }
}

#[cfg(test)]
mod tests {
    use gpbench_numerics::LinearOperator;

    use super::*;
    use crate::exact::ExactGp;
    use crate::threads::thread_pool;
    use crate::{Family, Kernel, KernelMatrix, KernelOperator};

    /// n = 40 rows in the plane, 7 elsewhere.
    fn points() -> (Array2<f64>, Array2<f64>) {
        let streams = Streams::new(3, &[]);
        (streams.normals("x", 40, 2), streams.normals("x*", 7, 2))
    }

    #[test]
    fn variances_fall_with_the_rank_to_those_of_the_factor() {
        let (x, x_star) = points();
        let y = x.column(0).mapv(f64::sin);
        let kernel = Kernel::new(Family::Matern32, 1.5, &[1.0], 2);
        let pool = thread_pool(1).unwrap();
        let exact = ExactGp::fit_on(&kernel, 0.3, x.view(), y.view(), &pool).unwrap();
        let (mean, variance) = exact.predict(x_star.view());
        let of = |rank: usize| {
            let found = LowRankVariance::new(exact.operator(), exact.v.view(), rank).unwrap();
            found.predict(exact.operator(), x_star.view())
        };
        let mut before = Array1::from_elem(7, kernel.variance());
        for rank in [1, 5, 20, 40, 100] {
            let (low_mean, low) = of(rank);
            assert!((&low_mean - &mean).iter().all(|gap| gap.abs() < 1e-12), "rank {rank}");
            assert!((&before - &low).iter().all(|fall| *fall > -1e-12), "rank {rank}");
            assert!((&low - &variance).iter().all(|more| *more > -1e-12), "rank {rank}");
            before = low;
        }
        assert!((&before - &variance).iter().all(|gap| gap.abs() < 1e-11), "{before} {variance}");
    }

    /// A Krylov space of one dimension has `Q T^-1 Q^T = q q^T / (q^T H q)`.
    #[test]
    fn rank_one_by_hand() {
        let (x, x_star) = points();
        let kernel = Kernel::new(Family::Rbf, 0.8, &[0.7], 2);
        let op = KernelOperator::new(&kernel, 0.5, x.view(), 1);
        let q = Streams::new(0, &["low-rank-variance"]).normals("start", 40, 1);
        let mut h_q = Array2::zeros((40, 1).f());
        op.apply(q.view(), h_q.view_mut());
        let along = op.cross(x_star.view(), q.view());
        let expected = along.column(0).mapv(|k_q| 0.64 - k_q * k_q / q.column(0).dot(&h_q.column(0)));
        let found = LowRankVariance::new(&op, Array1::zeros(40).view(), 1).unwrap();
        let (mean, variance) = found.predict(&op, x_star.view());
        assert_eq!(mean, Array1::<f64>::zeros(7));
        assert!((&variance - &expected).iter().all(|gap| gap.abs() < 1e-14), "{variance} {expected}");
    }
}
