//! Factors of small matrices, without a library.

use ndarray::{Array2, Axis, s};

/// The lower Cholesky factor L of A = L L^T.
///
/// # Panics
/// If A is not positive definite.
pub(super) fn cholesky(a: &Array2<f64>) -> Array2<f64> {
    let mut factor: Array2<f64> = Array2::zeros(a.dim());
    for i in 0..a.nrows() {
        for j in 0..=i {
            let rest = a[[i, j]] - factor.slice(s![i, ..j]).dot(&factor.slice(s![j, ..j]));
            assert!(i != j || rest > 0.0, "a covariance is positive definite");
            factor[[i, j]] = if i == j { rest.sqrt() } else { rest / factor[[j, j]] };
        }
    }
    factor
}

/// The solution X of L L^T X = B.
pub(super) fn cholesky_solve(factor: &Array2<f64>, b: Array2<f64>) -> Array2<f64> {
    let (n, mut x) = (b.nrows(), b);
    for i in 0..n {
        let (solved, mut rest) = x.view_mut().split_at(Axis(0), i);
        let mut row = rest.row_mut(0);
        for (k, other) in solved.rows().into_iter().enumerate() {
            row.scaled_add(-factor[[i, k]], &other);
        }
        row /= factor[[i, i]];
    }
    for i in (0..n).rev() {
        let (mut rest, solved) = x.view_mut().split_at(Axis(0), i + 1);
        let mut row = rest.row_mut(i);
        for (k, other) in solved.rows().into_iter().enumerate() {
            row.scaled_add(-factor[[i + 1 + k, i]], &other);
        }
        row /= factor[[i, i]];
    }
    x
}
