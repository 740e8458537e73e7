//! Initial iterates from the solutions of earlier, similar systems.

use ndarray::{Array2, ArrayView2, Axis, ShapeBuilder};

use crate::KernelMatrix;

/// An initial iterate for `H V = B` from the solutions of the last two steps, all n x s: `vhat = 2 v_t - v_{t-1}`,
/// each column scaled by the factor that minimises the error in the H-norm, `c = (vhat^T b) / (vhat^T H vhat)`.
/// Takes one product with H. A column of zeros stays zero.
pub fn extrapolate(
    op: &dyn KernelMatrix,
    rhs: ArrayView2<f64>,
    last: ArrayView2<f64>,
    before: ArrayView2<f64>,
) -> Array2<f64> {
    assert_eq!((last.dim(), before.dim()), (rhs.dim(), rhs.dim()), "solutions have the shape of B");
    let mut ahead = Array2::zeros(rhs.dim().f());
    ahead.assign(&(&last * 2.0 - before));
    let mut product = Array2::zeros(rhs.dim().f());
    op.apply(ahead.view(), product.view_mut());
    for (c, mut column) in ahead.axis_iter_mut(Axis(1)).enumerate() {
        let (along, curvature) = (column.dot(&rhs.column(c)), column.dot(&product.column(c)));
        if curvature > 0.0 {
            column *= along / curvature;
        }
    }
    ahead
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::fixtures::two_points;

    #[test]
    fn each_column_is_scaled_to_where_its_residual_is_orthogonal_to_it() {
        let op = two_points();
        // H = [[5, 2], [2, 5]].
        let rhs = array![[1.0, 3.0, 1.0], [0.0, 1.0, 1.0]];
        let last = array![[1.0, 2.0, 0.0], [1.0, 1.0, 0.0]];
        let before = array![[0.0, 1.0, 0.0], [1.0, 3.0, 0.0]];
        let start = extrapolate(&op, rhs.view(), last.view(), before.view());
        // (2, 1) by 2 / 33, (3, -1) by 8 / 38, and nothing to scale.
        let expected = array![[4.0 / 33.0, 24.0 / 38.0, 0.0], [2.0 / 33.0, -8.0 / 38.0, 0.0]];
        assert!((&start - &expected).iter().all(|e| e.abs() < 1e-15), "{start}");
    }
}
