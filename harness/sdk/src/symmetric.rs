//! Symmetric matrices of which the lower triangle is kept, column-major: Gram matrices and their inverses.
//!
//! [`mirror`] makes the upper triangle of one whose lower triangle is known.

use std::ffi::{c_char, c_int};

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayRef2, ArrayView1, Axis, ShapeBuilder, s};

use crate::error::{Error, Result};
use crate::matrix::leading_dimension;
use crate::{Workers, lapack};

const LOWER: c_char = b'L' as c_char;
const NOT_UNIT: c_char = b'N' as c_char;

/// Order and leading dimension of a square column-major matrix, as LAPACK's integers.
fn order(c: &ArrayRef2<f64>) -> Result<(c_int, c_int)> {
    let ld = leading_dimension(c).filter(|_| c.is_square());
    let sizes = ld.and_then(|ld| Some((c_int::try_from(c.nrows()).ok()?, c_int::try_from(ld).ok()?)));
    let (rows, cols) = c.dim();
    sizes.ok_or_else(|| {
        let text = format!("a {rows} x {cols} array, expected a square matrix, column-major, made with `.f()`");
        Error::InvalidArgument(text)
    })
}

/// C <- scale A^T A + keep C, in C's lower triangle, for A with k rows and as many columns as C. The upper one is
/// neither read nor written. A may be row-major or column-major; others are copied.
pub fn add_gram(scale: f64, a: &ArrayRef2<f64>, keep: f64, c: &mut ArrayRef2<f64>) -> Result<()> {
    let (n, ldc) = order(c)?;
    if a.ncols() != c.nrows() {
        let text = format!("a matrix of {} columns and a Gram matrix of order {}", a.ncols(), c.nrows());
        return Err(Error::InvalidArgument(text));
    }
    if n == 0 {
        return Ok(());
    }
    // A row-major A is its transpose, column-major.
    let transposed = a.t();
    let (layout, ld) = match (leading_dimension(&transposed), leading_dimension(a)) {
        (Some(ld), _) => (cblas_sys::CblasNoTrans, ld),
        (None, Some(ld)) => (cblas_sys::CblasTrans, ld),
        (None, None) => return add_gram(scale, &a.as_standard_layout(), keep, c),
    };
    let too_large = |_| Error::InvalidArgument("a matrix too large for BLAS".into());
    let rows = c_int::try_from(a.nrows()).map_err(too_large)?;
    let ld = c_int::try_from(ld.max(1)).map_err(too_large)?;
    // SAFETY: `a` holds rows x n entries with the layout and leading dimension given, and `c` n x n with its own; they
    // cannot overlap, one being borrowed mutably.
    unsafe {
        cblas_sys::cblas_dsyrk(
            cblas_sys::CblasColMajor,
            cblas_sys::CblasLower,
            layout,
            n,
            rows,
            scale,
            a.as_ptr(),
            ld,
            keep,
            c.as_mut_ptr(),
            ldc,
        );
    }
    Ok(())
}

/// C <- C + A^T A as [`add_gram`], by all threads: panels of columns of fixed width, so that the sum does not depend on
/// the number of threads. C's upper triangle may be written to.
pub fn add_gram_shared(a: &ArrayRef2<f64>, c: &mut ArrayRef2<f64>, workers: Workers<'_>) {
    /// Columns of a panel.
    const PANEL: usize = 64;
    let panels = c.axis_chunks_iter_mut(Axis(1), PANEL).zip(a.axis_chunks_iter(Axis(1), PANEL));
    workers.for_each(panels.enumerate(), |(index, (mut panel, columns))| {
        let first = index * PANEL;
        let mut below = panel.slice_mut(s![first.., ..]);
        general_mat_mul(1.0, &a.slice(s![.., first..]).t(), &columns, 1.0, &mut below);
    });
}

/// A column-major copy.
pub fn column_major(a: &ArrayRef2<f64>) -> Array2<f64> {
    let mut copy = Array2::zeros(a.dim().f());
    copy.assign(a);
    copy
}

/// C <- C + value I.
pub fn add_diagonal(value: f64, c: &mut ArrayRef2<f64>) {
    c.diag_mut().mapv_inplace(|entry| entry + value);
}

/// Copies the lower triangle into the upper one.
pub fn mirror(c: &mut ArrayRef2<f64>) {
    /// Order of the square tiles: both of a pair fit into the first cache.
    const TILE: usize = 32;
    let n = c.nrows();
    for left in (0..n).step_by(TILE) {
        for top in (left..n).step_by(TILE) {
            for j in left..n.min(left + TILE) {
                for i in top.max(j + 1)..n.min(top + TILE) {
                    c[[j, i]] = c[[i, j]];
                }
            }
        }
    }
}

/// log|A| from the factor that [`lapack::cholesky`] leaves.
pub fn log_determinant(factor: &ArrayRef2<f64>) -> f64 {
    2.0 * factor.diag().iter().map(|entry| entry.ln()).sum::<f64>()
}

/// L^-1 in place of the lower triangle L. The upper one is not touched.
pub fn invert_lower(factor: &mut ArrayRef2<f64>) -> Result<()> {
    let (n, ld) = order(factor)?;
    let mut info = 0;
    // SAFETY: `factor` is an n x n column-major matrix with leading dimension `ld`, borrowed mutably.
    unsafe { lapack_sys::dtrtri_(&LOWER, &NOT_UNIT, &n, factor.as_mut_ptr(), &ld, &mut info) };
    inverted("dtrtri", info)
}

/// tr A^-1 from the factor that [`lapack::cholesky`] leaves: the squares of L^-1.
pub fn inverse_trace(factor: &ArrayRef2<f64>) -> Result<f64> {
    let mut inverse = factor.to_owned();
    invert_lower(&mut inverse)?;
    Ok(inverse.columns().into_iter().enumerate().map(|(j, column)| square_sum_from(j, &column)).sum())
}

/// Sum of the squares of a column's entries from `start` on.
fn square_sum_from(start: usize, column: &ArrayView1<'_, f64>) -> f64 {
    let below = column.slice(s![start..]);
    below.dot(&below)
}

/// A^-1, whole, in place of the factor that [`lapack::cholesky`] leaves.
pub fn invert(factor: &mut ArrayRef2<f64>) -> Result<()> {
    let (n, ld) = order(factor)?;
    let mut info = 0;
    // SAFETY: as in `invert_lower`.
    unsafe { lapack_sys::dpotri_(&LOWER, &n, factor.as_mut_ptr(), &ld, &mut info) };
    inverted("dpotri", info)?;
    mirror(factor);
    Ok(())
}

/// Checks the status of an inversion.
fn inverted(routine: &str, info: c_int) -> Result<()> {
    match info {
        0 => Ok(()),
        minor if minor > 0 => Err(Error::NotPositiveDefinite { minor: minor as usize }),
        other => Err(Error::Failed(format!("LAPACK's {routine} returned {other}"))),
    }
}

/// The Cholesky factor of C + value I, without changing C; of C, only the lower triangle is read.
pub fn shifted_factor(c: &ArrayRef2<f64>, value: f64) -> Result<Array2<f64>> {
    let mut factor = column_major(c);
    add_diagonal(value, &mut factor);
    lapack::cholesky(&mut factor)?;
    Ok(factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::scattered;

    fn close(a: &Array2<f64>, b: &Array2<f64>) {
        assert!((a - b).iter().all(|difference| difference.abs() < 1e-12), "{a} against {b}");
    }

    #[test]
    fn gram_matrices_of_any_layout_are_the_products() {
        let a = Array2::from_shape_fn((9, 5), |(i, j)| scattered(i, j));
        let mut columns = Array2::zeros((9, 5).f());
        columns.assign(&a);
        let wide = Array2::from_shape_fn((9, 10), |(i, j)| scattered(i, j / 2));
        let strided = wide.slice(s![.., ..;2]);
        let expected = a.t().dot(&a) * 2.0 + 1.5;
        for a in [a.view(), columns.view(), strided] {
            let mut c = Array2::from_elem((5, 5).f(), 3.0);
            c[[0, 4]] = f64::NAN;
            add_gram(2.0, &a, 0.5, &mut c).unwrap();
            assert!(c[[0, 4]].is_nan(), "the upper triangle is not touched");
            mirror(&mut c);
            close(&c, &expected);
        }
    }

    #[test]
    fn a_gram_matrix_has_the_same_bits_on_any_number_of_threads() {
        let a = Array2::from_shape_fn((300, 150), |(i, j)| scattered(i, j));
        let of = |threads| {
            let mut c = Array2::eye(150).reversed_axes();
            add_gram_shared(&a, &mut c, Workers::new(threads));
            mirror(&mut c);
            c
        };
        assert_eq!(of(1), of(3));
        close(&of(1), &(a.t().dot(&a) + Array2::<f64>::eye(150)));
    }

    #[test]
    fn inverses_traces_and_determinants() {
        for n in [1, 2, 7, 70] {
            let points = Array2::from_shape_fn((n + 3, n), |(i, j)| scattered(i, j));
            let mut a = Array2::zeros((n, n).f());
            add_gram(1.0, &points, 0.0, &mut a).unwrap();
            let mut inverse = shifted_factor(&a, 0.5).unwrap();
            let determinant = log_determinant(&inverse);
            let trace = inverse_trace(&inverse).unwrap();
            invert(&mut inverse).unwrap();
            add_diagonal(0.5, &mut a);
            mirror(&mut a);
            close(&a.dot(&inverse), &Array2::eye(n));
            assert!((trace - inverse.diag().sum()).abs() < 1e-12 * trace);
            let mut vectors = a;
            let values = lapack::symmetric_eigen(&mut vectors).unwrap();
            let expected: f64 = values.iter().map(|value| value.ln()).sum();
            assert!((determinant - expected).abs() < 1e-10, "{determinant} against {expected}");
        }
    }
}
