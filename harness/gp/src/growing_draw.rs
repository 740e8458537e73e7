//! An exact draw of a Gaussian process at points that are given in turn.

use gpbench_numerics::lapack;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, ShapeBuilder, concatenate, s};

use crate::{Kernel, blas};

/// Variance of the white noise that a draw includes, as a share of the signal variance. Without this noise, the
/// covariance of points close together is singular in double precision.
const JITTER: f64 = 1e-9;

/// A draw g = L e at the points so far, with the Cholesky factor L of their covariance. It takes N^2 numbers of
/// memory, and a further batch of m points takes N^2 m operations.
#[derive(Debug, Clone)]
pub struct GrowingDraw {
    kernel: Kernel,
    /// N x d.
    points: Array2<f64>,
    /// L, N x N; the strict upper triangle is 0.
    factor: Array2<f64>,
    /// e.
    normals: Array1<f64>,
}

impl GrowingDraw {
    /// A draw without points.
    pub fn new(kernel: &Kernel) -> GrowingDraw {
        GrowingDraw {
            kernel: kernel.clone(),
            points: Array2::zeros((0, kernel.d())),
            factor: Array2::zeros((0, 0).f()),
            normals: Array1::zeros(0),
        }
    }

    /// Number of points so far.
    pub fn len(&self) -> usize {
        self.points.nrows()
    }

    /// Whether there are no points yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Extends the draw to further points `x` (m x d) by m standard normal numbers, and returns the values there.
    ///
    /// The draw includes white noise of variance 1e-9 s^2, so two values at one point differ by about 4e-5 s.
    pub fn extend(&mut self, x: ArrayView2<f64>, normals: ArrayView1<f64>) -> Array1<f64> {
        assert_eq!(x.nrows(), normals.len(), "one normal number per point");
        // One BLAS thread: the number of threads changes the last bits of a factorisation.
        let _single = blas::ThreadGuard::raise(1);
        let before = self.len();
        self.factor = self.extended_factor(x);
        self.points = concatenate(Axis(0), &[self.points.view(), x]).expect("points have d inputs");
        self.normals = concatenate(Axis(0), &[self.normals.view(), normals]).expect("one axis");
        self.factor.slice(s![before.., ..]).dot(&self.normals)
    }

    /// The factor of the covariance of the points so far and of `x` together.
    fn extended_factor(&self, x: ArrayView2<f64>) -> Array2<f64> {
        let (before, more) = (self.len(), x.nrows());
        // Column-major, as BLAS requires: the transposes of row-major matrices.
        let mut across = self.kernel.matrix(self.points.view(), x).reversed_axes();
        let mut own = self.kernel.matrix(x, x).reversed_axes();
        own.diag_mut().mapv_inplace(|variance| variance + JITTER * self.kernel.variance());
        if before > 0 {
            lapack::divide_by_lower_transposed(&mut across, &self.factor).expect("shapes fit");
            own -= &across.dot(&across.t());
        }
        lapack::cholesky(&mut own).expect("a covariance with jitter on its diagonal is positive definite");
        let mut factor = Array2::zeros((before + more, before + more).f());
        factor.slice_mut(s![..before, ..before]).assign(&self.factor);
        factor.slice_mut(s![before.., ..before]).assign(&across);
        for row in 0..more {
            let mut to = factor.slice_mut(s![before + row, before..=before + row]);
            to.assign(&own.slice(s![row, ..=row]));
        }
        factor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;
    use crate::seed::Streams;

    #[test]
    fn a_draw_in_parts_is_the_draw_at_once() {
        let streams = Streams::new(3, &[]);
        let kernel = Kernel::new(Family::Matern52, 1.3, &[0.5], 2);
        let x = streams.normals("inputs", 40, 2);
        let normals = streams.normals("normals", 40, 1).remove_axis(Axis(1));
        let mut whole = GrowingDraw::new(&kernel);
        let expected = whole.extend(x.view(), normals.view());
        let mut parts = GrowingDraw::new(&kernel);
        let mut found = Vec::new();
        for rows in [0..1, 1..25, 25..40] {
            let part = parts.extend(x.slice(s![rows.clone(), ..]), normals.slice(s![rows]));
            found.extend(part);
        }
        assert_eq!((parts.len(), parts.is_empty()), (40, false));
        let worst = expected.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-11, "{worst}");
        let product = parts.factor.dot(&parts.factor.t()) - kernel.matrix(x.view(), x.view());
        assert!(product.iter().all(|e| e.abs() < 1e-8));
    }

    #[test]
    fn a_point_that_is_asked_twice_keeps_its_value() {
        let streams = Streams::new(4, &[]);
        let kernel = Kernel::new(Family::Matern32, 2.0, &[0.5], 1);
        let x = streams.normals("inputs", 30, 1);
        let normals = streams.normals("normals", 30, 2);
        let mut draw = GrowingDraw::new(&kernel);
        let first = draw.extend(x.view(), normals.column(0));
        let again = draw.extend(x.view(), normals.column(1));
        assert!((&again - &first).iter().all(|e| e.abs() < 6.0 * 4.5e-5 * 2.0));
    }
}
