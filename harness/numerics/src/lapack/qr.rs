//! QR factors.

use ndarray::{Array2, ArrayRef2, ShapeBuilder};

use super::{check_info, column_major, int};
use crate::{Error, Result};

/// The upper triangular factor R, k x k, of A = Q R for an m x k matrix with m >= k. Overwrites A.
pub fn qr_upper(a: &mut ArrayRef2<f64>) -> Result<Array2<f64>> {
    let (rows, k) = a.dim();
    if rows < k {
        return Err(Error::Shape(format!("a QR factor of a {rows} x {k} matrix, wider than high")));
    }
    let (m, n, ld) = (int(rows, "m")?, int(k, "k")?, column_major(a, "the matrix")?);
    // 64 columns at a time is the block size that LAPACK asks for.
    let length = int((64 * k).max(1), "the work space")?;
    let mut work = vec![0.0; length as usize];
    let mut tau = vec![0.0; k.max(1)];
    let mut info = 0;
    // SAFETY: `a` is m x n, column-major with leading dimension `ld`, borrowed mutably; `tau` holds
    // min(m, n) = k and `work` `length` >= n numbers.
    unsafe {
        lapack_sys::dgeqrf_(
            &m,
            &n,
            a.as_mut_ptr(),
            &ld,
            tau.as_mut_ptr(),
            work.as_mut_ptr(),
            &length,
            &mut info,
        );
    }
    check_info("dgeqrf", info)?;
    let mut upper = Array2::zeros((k, k).f());
    for j in 0..k {
        for i in 0..=j {
            upper[[i, j]] = a[[i, j]];
        }
    }
    Ok(upper)
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::fixtures::assert_close;
    use crate::lapack::divide_by_upper;
    use crate::layout;

    #[test]
    fn qr_and_division_give_orthonormal_columns() {
        let a = layout::column_major(&array![[1.0, 2.0], [3.0, -1.0], [0.0, 4.0], [2.0, 2.0]]);
        let upper = qr_upper(&mut a.clone()).unwrap();
        let mut q = a;
        divide_by_upper(&mut q, &upper).unwrap();
        assert_close(&q.t().dot(&q), &Array2::eye(2), 1e-12);
    }
}
