//! Gradients of prior draws, each at points of its own.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, ShapeBuilder, s};

use super::RandomFeatures;
use crate::sin_cos;

impl RandomFeatures {
    /// `f_c(x) = phi(x) w_c` and its gradient at the rows of `x` (n x d), for the column `c = owner[i]` of the weights
    /// `w` (m x s) at row i: n and n x d numbers, in n m numbers of memory, on the calling thread.
    ///
    /// With angles `t_p = x/l . omega_p`, the gradient by input k is
    /// `sum_p omega_pk / l_k (w_sin,p cos t_p - w_cos,p sin t_p)`, in the scale of the features.
    pub(crate) fn value_and_gradient(
        &self,
        x: ArrayView2<f64>,
        w: ArrayView2<f64>,
        owner: &[usize],
    ) -> (Array1<f64>, Array2<f64>) {
        assert_eq!(w.nrows(), self.count(), "one weight per feature");
        let pairs = self.omega.ncols();
        let lengths = Array1::from_iter(self.kernel.length_scale.iter().copied());
        let scaled = &x / &lengths;
        // One column a row of x.
        let mut angles = Array2::zeros((pairs, x.nrows()).f());
        general_mat_mul(1.0, &self.omega.t(), &scaled.t(), 0.0, &mut angles);
        let scale = self.kernel.signal_scale / (pairs as f64).sqrt();
        let mut cosines = Array1::zeros(pairs);
        let values = angles.columns_mut().into_iter().zip(owner).map(|(mut angles, &owner)| {
            let (of_sines, of_cosines) = (w.slice(s![..pairs, owner]), w.slice(s![pairs.., owner]));
            let sines = angles.as_slice_mut().expect("columns of a column-major array are contiguous");
            sin_cos::sines_and_cosines(sines, cosines.as_slice_mut().expect("one column"), scale);
            let value = of_sines.dot(&angles) + of_cosines.dot(&cosines);
            for (p, angle) in angles.iter_mut().enumerate() {
                *angle = of_sines[p] * cosines[p] - of_cosines[p] * *angle;
            }
            value
        });
        let values = values.collect();
        let mut gradients = angles.t().dot(&self.omega.t());
        gradients /= &lengths;
        (values, gradients)
    }
}
