//! Operations with lower triangular matrices, such as the factor L that [`cholesky`](super::cholesky) leaves. Upper
//! triangles are not read.

use std::ffi::c_char;

use cblas_sys::{CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, CblasTrans, cblas_dtrmm};
use ndarray::ArrayRef2;

use super::{LOWER, Number, check_info, column_major, int, square};
use crate::{Error, Result};

/// Calls `trsm` or `trmm`, which have the same arguments.
macro_rules! by_lower {
    ($routine:expr, $one:expr, $lower:expr, $transposed:expr, $b:expr) => {{
        let (lower, b) = ($lower, $b);
        let (n, ld) = square(lower, "the triangular matrix")?;
        if b.nrows() != lower.nrows() {
            let text = format!("a triangular matrix of order {} and {} rows", lower.nrows(), b.nrows());
            return Err(Error::Shape(text));
        }
        let (s, ldb) = (int(b.ncols(), "the number of columns")?, column_major(b, "the matrix")?);
        if b.is_empty() {
            return Ok(());
        }
        let trans = if $transposed { CblasTrans } else { CblasNoTrans };
        // SAFETY: `lower` is n x n and `b` n x s, both column-major with the leading dimensions given; they
        // cannot overlap, one being borrowed mutably.
        unsafe {
            ($routine)(
                CblasColMajor,
                CblasLeft,
                CblasLower,
                trans,
                CblasNonUnit,
                n,
                s,
                $one,
                lower.as_ptr(),
                ld,
                b.as_mut_ptr(),
                ldb,
            );
        }
        Ok(())
    }};
}

/// L^-1 B in place of B, n x s, or L^-T B if `transposed`.
pub fn solve_lower<E: Number>(lower: &ArrayRef2<E>, transposed: bool, b: &mut ArrayRef2<E>) -> Result<()> {
    by_lower!(E::TRSM, E::ONE, lower, transposed, b)
}

/// L B in place of B, n x s, or L^T B if `transposed`.
pub fn multiply_lower(lower: &ArrayRef2<f64>, transposed: bool, b: &mut ArrayRef2<f64>) -> Result<()> {
    by_lower!(cblas_dtrmm, 1.0, lower, transposed, b)
}

/// L^-1 in place of L.
pub fn invert_lower(lower: &mut ArrayRef2<f64>) -> Result<()> {
    const NON_UNIT: c_char = b'N' as c_char;
    let (n, ld) = square(lower, "the triangular matrix")?;
    let mut info = 0;
    // SAFETY: `lower` is an n x n column-major matrix with leading dimension `ld`, borrowed mutably.
    unsafe { lapack_sys::dtrtri_(&LOWER, &NON_UNIT, &n, lower.as_mut_ptr(), &ld, &mut info) };
    singular("dtrtri", info)
}

/// (L L^T)^-1 in place of L, both triangles of it.
pub fn cholesky_inverse(lower: &mut ArrayRef2<f64>) -> Result<()> {
    let (n, ld) = square(lower, "the factor")?;
    let mut info = 0;
    // SAFETY: `lower` is an n x n column-major matrix with leading dimension `ld`, borrowed mutably.
    unsafe { lapack_sys::dpotri_(&LOWER, &n, lower.as_mut_ptr(), &ld, &mut info) };
    singular("dpotri", info)?;
    mirror_lower(lower);
    Ok(())
}

/// Reads the status of a routine that inverts a triangle.
fn singular(routine: &str, info: std::ffi::c_int) -> Result<()> {
    if info > 0 {
        return Err(Error::Routine(format!(
            "the triangular matrix has a 0 in row {info}: it has no inverse"
        )));
    }
    check_info(routine, info)
}

/// The lower triangle of scale A A^T + keep C in place of that of C, or of scale A^T A + keep C if
/// `transposed`. A and C are column-major. With `keep` 0, C is not read.
pub fn symmetric_product<E: Number>(
    scale: E,
    a: &ArrayRef2<E>,
    transposed: bool,
    keep: E,
    c: &mut ArrayRef2<E>,
) -> Result<()> {
    let (n, ldc) = square(c, "the product")?;
    let (order, inner) = if transposed { (a.ncols(), a.nrows()) } else { a.dim() };
    if order != c.nrows() {
        let text = format!("a product of order {order} for a matrix of order {}", c.nrows());
        return Err(Error::Shape(text));
    }
    let (k, lda) = (int(inner, "the inner dimension")?, column_major(a, "the matrix")?);
    if c.is_empty() {
        return Ok(());
    }
    let trans = if transposed { CblasTrans } else { CblasNoTrans };
    // SAFETY: `a` is n x k (or k x n) and `c` n x n, both column-major with the leading dimensions given;
    // they cannot overlap, one being borrowed mutably.
    unsafe {
        E::SYRK(
            CblasColMajor,
            CblasLower,
            trans,
            n,
            k,
            scale,
            a.as_ptr(),
            lda.max(1),
            keep,
            c.as_mut_ptr(),
            ldc,
        );
    }
    Ok(())
}

/// Order of the blocks that [`mirror_lower`] copies, so that the rows and columns of a block fit into the cache.
const BLOCK: usize = 32;

/// Copies the lower triangle of a square matrix over the upper one.
pub fn mirror_lower(a: &mut ArrayRef2<f64>) {
    let n = a.nrows().min(a.ncols());
    for first_column in (0..n).step_by(BLOCK) {
        for first_row in (first_column..n).step_by(BLOCK) {
            for j in first_column..(first_column + BLOCK).min(n) {
                for i in first_row.max(j + 1)..(first_row + BLOCK).min(n) {
                    a[[j, i]] = a[[i, j]];
                }
            }
        }
    }
}

/// log|L L^T|, twice the sum of the logarithms of L's diagonal.
pub fn log_determinant(lower: &ArrayRef2<f64>) -> f64 {
    2.0 * lower.diag().iter().map(|entry| entry.ln()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, ShapeBuilder, array};

    use super::*;
    use crate::fixtures::{assert_close, uniform};
    use crate::lapack::cholesky;
    use crate::layout::column_major as columns;

    /// A lower triangle, and a copy with other numbers above it, which must not be read.
    fn lower() -> (Array2<f64>, Array2<f64>) {
        let clean = array![[2.0, 0.0, 0.0], [0.5, 1.5, 0.0], [-1.0, 0.3, 0.8]];
        let mut dirty = columns(&clean);
        (dirty[[0, 1]], dirty[[0, 2]], dirty[[1, 2]]) = (f64::NAN, f64::NAN, f64::NAN);
        (clean, dirty)
    }

    #[test]
    fn solving_reverses_multiplying() {
        let (clean, dirty) = lower();
        for transposed in [false, true] {
            let b = columns(&uniform(3, 2, 1));
            let mut product = b.clone();
            multiply_lower(&dirty, transposed, &mut product).unwrap();
            let expected = if transposed { clean.t().dot(&b) } else { clean.dot(&b) };
            assert_close(&product, &expected, 1e-15);
            solve_lower(&dirty, transposed, &mut product).unwrap();
            assert_close(&product, &b, 1e-14);
        }
    }

    #[test]
    fn inverses_and_determinants_fit() {
        let (clean, dirty) = lower();
        let mut inverse = columns(&clean);
        invert_lower(&mut inverse).unwrap();
        assert_close(&clean.dot(&inverse), &Array2::eye(3), 1e-15);
        let mut inverse = dirty.clone();
        cholesky_inverse(&mut inverse).unwrap();
        assert_eq!(inverse, inverse.t());
        assert_close(&clean.dot(&clean.t()).dot(&inverse), &Array2::eye(3), 1e-14);
        assert!((log_determinant(&dirty) - 2.0 * 2.4_f64.ln()).abs() < 1e-15);
        let mut product = columns(&clean.dot(&clean.t()));
        cholesky(&mut product).unwrap();
        assert!((log_determinant(&product) - log_determinant(&dirty)).abs() < 1e-14);
        let mut zero = Array2::zeros((2, 2).f());
        assert!(invert_lower(&mut zero).unwrap_err().to_string().contains("row 1"));
    }

    #[test]
    fn symmetric_products_fill_the_lower_triangle() {
        let a = columns(&uniform(40, 35, 2));
        for (transposed, expected) in [(false, a.dot(&a.t())), (true, a.t().dot(&a))] {
            let mut c = Array2::from_elem(expected.dim().f(), f64::NAN);
            symmetric_product(2.0, &a, transposed, 0.0, &mut c).unwrap();
            assert!(c[[0, 1]].is_nan());
            mirror_lower(&mut c);
            assert_close(&c, &(2.0 * &expected), 1e-14);
            symmetric_product(-1.0, &a, transposed, 1.0, &mut c).unwrap();
            mirror_lower(&mut c);
            assert_close(&c, &expected, 1e-14);
        }
        let mut wrong = Array2::zeros((3, 3).f());
        assert!(
            symmetric_product(1.0, &a, false, 0.0, &mut wrong).unwrap_err().to_string().contains("order 40")
        );
    }
}
