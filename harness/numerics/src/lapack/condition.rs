//! Condition numbers of symmetric positive definite matrices.

use std::ffi::c_int;

use ndarray::ArrayRef2;

use super::{LOWER, check_info, square};
use crate::Result;

/// Estimate of 1 / (|A| |A^-1|) in the 1-norm, for A = L L^T with the lower triangle L that
/// [`cholesky`](super::cholesky) leaves, and A's 1-norm. Takes a few solves with L, O(n^2) operations.
///
/// The estimate of |A^-1| is a lower bound, seldom below a third of it (Higham 1988). For symmetric matrices the
/// 1-norm condition number is at least that of the 2-norm.
pub fn reciprocal_condition(factor: &ArrayRef2<f64>, norm: f64) -> Result<f64> {
    let (n, ld) = square(factor, "the factor")?;
    let (mut reciprocal, mut info) = (0.0, 0);
    let (mut work, mut counts) = (vec![0.0; 3 * factor.nrows()], vec![0 as c_int; factor.nrows()]);
    // SAFETY: `factor` is n x n and column-major with leading dimension `ld`; the routine needs 3 n numbers and n
    // integers of work space.
    unsafe {
        lapack_sys::dpocon_(
            &LOWER,
            &n,
            factor.as_ptr(),
            &ld,
            &norm,
            &mut reciprocal,
            work.as_mut_ptr(),
            counts.as_mut_ptr(),
            &mut info,
        );
    }
    check_info("dpocon", info)?;
    Ok(reciprocal)
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, ShapeBuilder};

    use super::*;
    use crate::lapack::cholesky;

    #[test]
    fn a_diagonal_matrix_has_the_ratio_of_its_ends() {
        let mut a = Array2::zeros((5, 5).f());
        a.diag_mut().iter_mut().enumerate().for_each(|(i, entry)| *entry = 10f64.powi(i as i32 - 2));
        cholesky(&mut a).unwrap();
        let reciprocal = reciprocal_condition(&a, 100.0).unwrap();
        assert!((reciprocal / 1e-4 - 1.0).abs() < 1e-12, "{reciprocal:e}");
    }
}
