//! All eigenvalues of symmetric tridiagonal matrices.

use ndarray::{Array1, Array2, ShapeBuilder};

use super::{VECTORS, check_info, int};
use crate::{Error, Result};

/// Eigenvalues, smallest first, and orthonormal eigenvectors, in columns, of the symmetric tridiagonal matrix with
/// this `diagonal` and `off_diagonal`, one entry shorter.
///
/// # Errors
/// [`Error::Routine`] where LAPACK does not converge.
pub fn tridiagonal_eigen(diagonal: &[f64], off_diagonal: &[f64]) -> Result<(Array1<f64>, Array2<f64>)> {
    let rows = diagonal.len();
    if off_diagonal.len() + 1 != rows.max(1) {
        return Err(Error::Shape(format!("{rows} diagonal and {} off-diagonal entries", off_diagonal.len())));
    }
    let mut values = Array1::from(diagonal.to_vec());
    let mut vectors = Array2::<f64>::zeros((rows, rows).f());
    if rows == 0 {
        return Ok((values, vectors));
    }
    let (n, mut off_diagonal, mut work, mut info) =
        (int(rows, "n")?, off_diagonal.to_vec(), vec![0.0; 2 * rows], 0);
    // SAFETY: `values` holds n numbers, `off_diagonal` n - 1, `vectors` n x n in columns, `work` 2 n.
    unsafe {
        lapack_sys::dstev_(
            &VECTORS,
            &n,
            values.as_mut_ptr(),
            off_diagonal.as_mut_ptr(),
            vectors.as_mut_ptr(),
            &n,
            work.as_mut_ptr(),
            &mut info,
        );
    }
    check_info("dstev", info)?;
    Ok((values, vectors))
}
