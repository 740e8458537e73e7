//! Singular values and left singular vectors.

use std::ffi::{c_char, c_int};

use ndarray::{Array1, Array2, ArrayRef2, ShapeBuilder};

use super::{check_info, column_major, int};
use crate::{Error, Result};

const OVERWRITE: c_char = b'O' as c_char;

/// Thin singular value decomposition `A = U S V^T` of an n x r matrix with r <= n: returns S, largest first, and
/// replaces A by U.
///
/// # Errors
/// [`Error::Routine`] where the iteration does not converge.
pub fn left_singular_vectors(a: &mut ArrayRef2<f64>) -> Result<Array1<f64>> {
    let (rows, columns) = a.dim();
    if rows < columns {
        let text = format!("singular vectors of a {rows} x {columns} matrix, wider than high");
        return Err(Error::Shape(text));
    }
    let (m, n, lda) = (int(rows, "m")?, int(columns, "n")?, column_major(a, "the matrix")?);
    let mut values = Array1::zeros(columns);
    if columns == 0 {
        return Ok(values);
    }
    let mut right = Array2::<f64>::zeros((columns, columns).f());
    let mut integers: Vec<c_int> = vec![0; 8 * columns];
    let mut call = |work: &mut [f64], length: c_int| {
        let mut info = 0;
        // SAFETY: `a` is borrowed mutably, column-major, m x n with leading dimension lda; `values` has n
        // numbers, `right` n x n, `integers` 8 n, and `work` `length` numbers, or one where `length` is -1, which
        // requests the best length. U overwrites `a` (job O), so the separate argument for U is not used.
        unsafe {
            lapack_sys::dgesdd_(
                &OVERWRITE,
                &m,
                &n,
                a.as_mut_ptr(),
                &lda,
                values.as_mut_ptr(),
                [0.0; 1].as_mut_ptr(),
                &m,
                right.as_mut_ptr(),
                &n,
                work.as_mut_ptr(),
                &length,
                integers.as_mut_ptr(),
                &mut info,
            );
        }
        check_info("dgesdd", info)
    };
    let mut best = [0.0];
    call(&mut best, -1)?;
    let mut work = vec![0.0; best[0] as usize];
    let length = int(work.len(), "the work space")?;
    call(&mut work, length)?;
    Ok(values)
}
