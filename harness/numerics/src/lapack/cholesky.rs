//! Cholesky factors.

use ndarray::ArrayRef2;

use super::{LOWER, Number, check_info, column_major, int, square};
use crate::{Error, Result};

/// Cholesky factor L of a symmetric positive definite matrix, A = L L^T, in place of A's lower
/// triangle. The upper one is not read.
pub fn cholesky<E: Number>(a: &mut ArrayRef2<E>) -> Result<()> {
    let (n, ld) = square(a, "the matrix")?;
    let mut info = 0;
    // SAFETY: `a` is an n x n column-major matrix with leading dimension `ld`, borrowed mutably.
    unsafe { E::POTRF(&LOWER, &n, a.as_mut_ptr(), &ld, &mut info) };
    if info > 0 {
        return Err(Error::NotPositiveDefinite { minor: info as usize });
    }
    check_info(E::POTRF_NAME, info)
}

/// Solves L L^T X = B in place of B, with the lower triangle L that [`cholesky`] leaves.
pub fn cholesky_solve(factor: &ArrayRef2<f64>, b: &mut ArrayRef2<f64>) -> Result<()> {
    let (n, ld) = square(factor, "the factor")?;
    if b.nrows() != factor.nrows() {
        let text = format!("a factor of order {} and {} rows to solve for", factor.nrows(), b.nrows());
        return Err(Error::Shape(text));
    }
    let (s, ldb) =
        (int(b.ncols(), "the number of right-hand sides")?, column_major(b, "the right-hand side")?);
    let mut info = 0;
    // SAFETY: `factor` is n x n and `b` n x s, both column-major with the leading dimensions given;
    // they cannot overlap, one being borrowed mutably.
    unsafe {
        lapack_sys::dpotrs_(&LOWER, &n, &s, factor.as_ptr(), &ld, b.as_mut_ptr(), &ldb, &mut info);
    }
    check_info("dpotrs", info)
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, ShapeBuilder, array, s};

    use super::*;
    use crate::fixtures::assert_close;
    use crate::lapack::{divide_by_lower, divide_by_lower_transposed, multiply_lower, solve_lower};
    use crate::layout;

    #[test]
    fn cholesky_solves() {
        let a = array![[4.0, 2.0, 0.5], [2.0, 5.0, 1.0], [0.5, 1.0, 3.0]];
        let x = array![[1.0, -1.0], [2.0, 0.5], [-3.0, 4.0]];
        let mut factor = layout::column_major(&a);
        cholesky(&mut factor).unwrap();
        let mut b = layout::column_major(&a.dot(&x));
        cholesky_solve(&factor, &mut b).unwrap();
        assert_close(&b, &x, 1e-12);
        // A L^-T = L
        let mut divided = layout::column_major(&a);
        divide_by_lower_transposed(&mut divided, &factor).unwrap();
        assert_close(&divided.dot(&divided.t()), &a, 1e-12);
        // (A L^-T) L^-1 = I
        let mut whole = layout::column_major(&a);
        divide_by_lower_transposed(&mut whole, &factor).unwrap();
        divide_by_lower(&mut whole, &factor).unwrap();
        assert_close(&whole, &Array2::eye(3), 1e-12);
    }

    #[test]
    fn factors_and_solves_inside_a_larger_array() {
        let mut memory = Array2::<f64>::zeros((5, 3).f());
        memory.slice_mut(s![1..4, ..]).assign(&array![[4.0, 9.0, 9.0], [2.0, 5.0, 9.0], [0.0, 1.0, 2.0]]);
        cholesky(&mut memory.slice_mut(s![1..4, ..])).unwrap();
        let expected = array![[2.0, 9.0, 9.0], [1.0, 2.0, 9.0], [0.0, 0.5, f64::sqrt(1.75)]];
        assert_eq!(memory.slice(s![1..4, ..]), expected);

        let factor = memory.slice(s![1..4, ..]);
        let mut b = array![[2.0], [7.0], [4.0]];
        multiply_lower(&factor, false, &mut b).unwrap();
        solve_lower(&factor, false, &mut b).unwrap();
        assert!((&b - &array![[2.0], [7.0], [4.0]]).iter().all(|e| e.abs() < 1e-14));

        let mut rows = array![[2.0, 7.0, 4.0]];
        divide_by_lower_transposed(&mut rows, &factor).unwrap();
        solve_lower(&factor, false, &mut b).unwrap();
        assert!((&rows - &b.t()).iter().all(|e| e.abs() < 1e-14));
    }

    #[test]
    fn an_indefinite_matrix_names_its_minor() {
        let mut a = layout::column_major(&array![[1.0, 0.0], [0.0, -1.0]]);
        assert_eq!(cholesky(&mut a), Err(Error::NotPositiveDefinite { minor: 2 }));
        let mut a = Array2::from_shape_vec((2, 2).f(), vec![1.0, 2.0, 2.0, 1.0]).unwrap();
        assert_eq!(cholesky(&mut a), Err(Error::NotPositiveDefinite { minor: 2 }));
    }

    #[test]
    fn a_row_major_matrix_is_refused() {
        let mut a = array![[4.0, 2.0], [2.0, 5.0]];
        assert!(cholesky(&mut a).unwrap_err().to_string().contains("column-major"));
    }
}
