//! The gradient of the bound at a fixed v.
//!
//! With `w = Q^-1 r`, `tau = 1 / (noise^2 + t / n)` and `C = tau I - B^-1 / noise^2`, the derivatives are
//!
//! ```text
//! by H:         v (v / 2 + w)^T
//! by k(x, x):   -tau / 2
//! by K(Z, X):   L^-T ((A w) w^T + C A)
//! by K(Z, Z):   -L^-T ((A w)(A w)^T + C A A^T) L^-1 / 2,   C A A^T = tau A A^T - I + B^-1
//! by noise^2:   [ w.w - (n - M + tr B^-1) / noise^2 + t tau / noise^2 ] / 2,  beside its part in H
//! ```
//!
//! v is not a function of the scales here: this is the gradient of the bound that v gives, and a bound for every v.

use gpbench_numerics::{Pool, factor, lapack};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, Axis, ShapeBuilder, s};

use super::{BoundFactor, COLUMNS, ConjugateBound, SHAPES_FIT};
use crate::derivatives::{weighted, weighted_cross};
use crate::threads::OnPool;
use crate::{Arithmetic, Gradient, SystemMatrix};

impl BoundFactor {
    /// The gradient of `bound` by all scales, for the inputs `x` (n x d) of `op`, which is H. Uses n^2 kernel entries
    /// in `precision`, M n + M^2 in double precision, and about M^2 n multiply-adds.
    pub fn gradient(
        &self,
        op: &dyn SystemMatrix,
        x: ArrayView2<f64>,
        bound: &ConjugateBound,
        precision: Arithmetic,
    ) -> Gradient {
        let ConjugateBound { solution, weights, .. } = bound;
        let with = (solution * 0.5 + weights).insert_axis(Axis(1));
        let mut gradient = op.gradient(solution.view().insert_axis(Axis(1)), with.view(), precision);
        let (kernel, n, m) = (op.kernel(), op.n() as f64, self.count() as f64);
        let tau = (self.noise + self.unexplained / n).recip();
        let inverse = self.inner_inverse();

        gradient.add(1.0, &self.by_cross(x, bound, tau, &inverse));
        let by_inducing =
            weighted(&self.points, self.z.view(), self.by_inducing(bound, tau, &inverse).view());
        // The noise of `points` is sqrt(jitter) times the signal scale.
        gradient.signal_scale += self.jitter.sqrt() * by_inducing.noise_scale;
        gradient.add(1.0, &Gradient { noise_scale: 0.0, ..by_inducing });
        gradient.signal_scale -= n * tau * kernel.signal_scale;

        let trace = (n - m + inverse.diag().sum()) / self.noise;
        let by_noise_variance = 0.5 * (weights.dot(weights) - trace + self.unexplained * tau / self.noise);
        gradient.noise_scale += 2.0 * op.noise_scale() * by_noise_variance;
        gradient
    }

    /// `B^-1`, both triangles.
    fn inner_inverse(&self) -> Array2<f64> {
        let mut inverse = factor::inverse(&self.inner, OnPool(self.points.pool()));
        lapack::mirror_lower(&mut inverse);
        inverse
    }

    /// The part of the gradient by K(Z, X). A few columns of the derivative by it are in memory at a time.
    fn by_cross(
        &self,
        x: ArrayView2<f64>,
        bound: &ConjugateBound,
        tau: f64,
        inverse: &Array2<f64>,
    ) -> Gradient {
        let pool = self.points.pool();
        // L^-T C and L^-T A w.
        let mut by_a = inverse.clone();
        by_a /= -self.noise;
        by_a.diag_mut().mapv_inplace(|entry| entry + tau);
        self.divide_transposed(&mut by_a);
        let mut by_weights = bound.projected.clone().insert_axis(Axis(1));
        lapack::solve_lower(&self.lower, true, &mut by_weights).expect(SHAPES_FIT);
        weighted_cross(self.points.kernel(), self.z.view(), x, pool, |columns| {
            let mut derivative = Array2::zeros((self.count(), columns.len()).f());
            general_mat_mul(1.0, &by_a, &self.a.slice(s![.., columns.clone()]), 0.0, &mut derivative);
            let weights = bound.weights.slice(s![columns]);
            for (mut column, &weight) in derivative.columns_mut().into_iter().zip(weights) {
                column.scaled_add(weight, &by_weights.column(0));
            }
            derivative
        })
    }

    /// The derivative by K(Z, Z), both triangles.
    fn by_inducing(&self, bound: &ConjugateBound, tau: f64, inverse: &Array2<f64>) -> Array2<f64> {
        let mut derivative = self.gram.clone();
        lapack::mirror_lower(&mut derivative);
        derivative *= tau;
        derivative += inverse;
        derivative.diag_mut().mapv_inplace(|entry| entry - 1.0);
        for (mut column, &entry) in derivative.columns_mut().into_iter().zip(&bound.projected) {
            column.scaled_add(entry, &bound.projected);
        }
        self.divide_transposed(&mut derivative);
        OnPool(self.points.pool()).for_each(derivative.axis_chunks_iter_mut(Axis(0), COLUMNS), |mut rows| {
            lapack::divide_by_lower(&mut rows, &self.lower).expect(SHAPES_FIT);
        });
        derivative *= -0.5;
        derivative
    }

    /// `L^-T b` in place of b (M x s, column-major).
    fn divide_transposed(&self, b: &mut Array2<f64>) {
        OnPool(self.points.pool()).for_each(b.axis_chunks_iter_mut(Axis(1), COLUMNS), |mut block| {
            lapack::solve_lower(&self.lower, true, &mut block).expect(SHAPES_FIT);
        });
    }
}
