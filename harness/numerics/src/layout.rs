//! Memory layout of matrices. The C interface and LAPACK use column-major matrices.

use ndarray::{Array2, ArrayRef2, ShapeBuilder};

/// A column-major copy.
pub fn column_major(a: &ArrayRef2<f64>) -> Array2<f64> {
    let mut copy = Array2::zeros(a.dim().f());
    copy.assign(a);
    copy
}

/// Distance between columns, if the array is column-major.
#[inline]
pub fn leading_dimension<T>(array: &ArrayRef2<T>) -> Option<usize> {
    let (rows, cols) = array.dim();
    let [down, across] = [array.strides()[0], array.strides()[1]];
    if array.is_empty() {
        // Its strides have no meaning.
        return Some(rows.max(1));
    }
    if rows > 1 && down != 1 {
        return None;
    }
    match cols {
        1 => Some(rows),
        _ => usize::try_from(across).ok().filter(|&ld| ld >= rows),
    }
}
