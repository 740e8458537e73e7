//! All eigenvalues of symmetric matrices.

use ndarray::{Array1, ArrayRef2};

use super::{LOWER, VECTORS, check_info, int, square};
use crate::{Error, Result};

/// Eigenvalues, ascending, and eigenvectors of a symmetric matrix, whose upper triangle is not
/// read. The eigenvectors replace the matrix, in columns of norm 1.
pub fn symmetric_eigen(a: &mut ArrayRef2<f64>) -> Result<Array1<f64>> {
    let (n, ld) = square(a, "the matrix")?;
    let mut values = Array1::zeros(a.nrows());
    // Work space of divide and conquer with eigenvectors, for a block size of 64.
    let k = a.nrows();
    let length = int(1 + 6 * k + 2 * k * k + 64 * k, "the work space")?;
    let integers = int(3 + 5 * k, "the integer work space")?;
    let (mut work, mut iwork) = (vec![0.0; length as usize], vec![0; integers as usize]);
    let mut info = 0;
    // SAFETY: `a` is an n x n column-major matrix with leading dimension `ld`, borrowed mutably; `values`
    // holds n numbers, and the work spaces are as large as they are said to be, which is enough.
    unsafe {
        lapack_sys::dsyevd_(
            &VECTORS,
            &LOWER,
            &n,
            a.as_mut_ptr(),
            &ld,
            values.as_mut_ptr(),
            work.as_mut_ptr(),
            &length,
            iwork.as_mut_ptr(),
            &integers,
            &mut info,
        );
    }
    if info > 0 {
        return Err(Error::Routine("LAPACK's dsyevd found no eigenvalues: is the matrix finite?".into()));
    }
    check_info("dsyevd", info)?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;
    use crate::fixtures::assert_close;
    use crate::layout;

    #[test]
    fn eigenvectors_are_stretched_by_their_eigenvalues() {
        let a = array![[4.0, 2.0, 0.5], [2.0, 5.0, 1.0], [0.5, 1.0, 3.0]];
        let mut vectors = layout::column_major(&a);
        // The upper triangle is not read.
        vectors[[0, 2]] = f64::NAN;
        let values = symmetric_eigen(&mut vectors).unwrap();
        assert!(values[0] < values[1] && values[1] < values[2]);
        assert_close(&a.dot(&vectors), &(&vectors * &values), 1e-12);
        assert_close(&vectors.t().dot(&vectors), &Array2::eye(3), 1e-12);
    }
}
