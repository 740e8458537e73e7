//! Conversion between the interface's column-major matrices and ndarray's arrays of any layout.

use std::ptr::NonNull;

use gpbench_abi::Mat;
use gpbench_numerics::layout::{column_major, leading_dimension};
use ndarray::{ArrayRef2, ArrayView2, ArrayViewMut2, ShapeBuilder};

use crate::error::{Error, Result};

/// Shape, strides and first entry of a checked matrix.
type Checked = ((usize, usize), (usize, usize), NonNull<f64>);

/// Checks a matrix, except that its memory exists.
fn check(mat: &Mat, what: &str) -> Result<Checked> {
    let bad = |why: &str| {
        let Mat { data, rows, cols, ld } = *mat;
        let text = format!("{what}: {why} (data {data:?}, {rows} x {cols}, leading dimension {ld})");
        Error::InvalidArgument(text)
    };
    let rows = usize::try_from(mat.rows).map_err(|_| bad("negative number of rows"))?;
    let cols = usize::try_from(mat.cols).map_err(|_| bad("negative number of columns"))?;
    if rows == 0 || cols == 0 {
        return Ok(((rows, cols), (1, rows), NonNull::dangling()));
    }
    // The leading dimension of a single column does not matter.
    let ld = if cols == 1 { rows } else { usize::try_from(mat.ld).unwrap_or(0) };
    if ld < rows {
        return Err(bad("leading dimension below the number of rows"));
    }
    let bytes = ld.checked_mul(cols).and_then(|entries| entries.checked_mul(size_of::<f64>()));
    if bytes.is_none_or(|bytes| bytes > isize::MAX as usize) {
        return Err(bad("too large"));
    }
    let data = NonNull::new(mat.data).ok_or_else(|| bad("null data"))?;
    if !data.is_aligned() {
        return Err(bad("misaligned data"));
    }
    Ok(((rows, cols), (1, ld), data))
}

/// A view of a matrix of the interface.
///
/// # Safety
/// The matrix's memory must be readable, and must not be written to, during `'a`.
pub(crate) unsafe fn view<'a>(mat: &Mat, what: &str) -> Result<ArrayView2<'a, f64>> {
    let (shape, strides, data) = check(mat, what)?;
    // SAFETY: checked above and promised by the caller; an empty view reads nothing.
    Ok(unsafe { ArrayView2::from_shape_ptr(shape.strides(strides), data.as_ptr()) })
}

/// A writable view of a matrix of the interface.
///
/// # Safety
/// The matrix's memory must be readable and writable, and used through this view only, during `'a`.
pub(crate) unsafe fn view_mut<'a>(mat: &Mat, what: &str) -> Result<ArrayViewMut2<'a, f64>> {
    let (shape, strides, data) = check(mat, what)?;
    // SAFETY: checked above and promised by the caller; an empty view reads nothing.
    Ok(unsafe { ArrayViewMut2::from_shape_ptr(shape.strides(strides), data.as_ptr()) })
}

fn describe(array: &ArrayRef2<f64>, data: *mut f64, ld: usize) -> Mat {
    let (rows, cols) = array.dim();
    Mat { data, rows: rows as i64, cols: cols as i64, ld: ld as i64 }
}

/// Hands an array to a function that takes a matrix to read, by copy if it is not column-major.
pub(crate) fn with_input<R>(array: &ArrayRef2<f64>, call: impl FnOnce(&Mat) -> R) -> R {
    match leading_dimension(array) {
        Some(ld) => call(&describe(array, array.as_ptr().cast_mut(), ld)),
        None => {
            let mut copy = column_major(array);
            let ld = array.nrows().max(1);
            call(&describe(array, copy.as_mut_ptr(), ld))
        }
    }
}

/// Hands an array to a function that takes a matrix to update, by copy if it is not column-major.
pub(crate) fn with_output<R>(array: &mut ArrayRef2<f64>, call: impl FnOnce(&mut Mat) -> R) -> R {
    match leading_dimension(array) {
        Some(ld) => {
            let data = array.as_mut_ptr();
            call(&mut describe(array, data, ld))
        }
        None => {
            let mut copy = column_major(array);
            let ld = array.nrows().max(1);
            let result = call(&mut describe(array, copy.as_mut_ptr(), ld));
            array.assign(&copy);
            result
        }
    }
}

/// Checks an argument's shape.
pub(crate) fn check_shape(what: &str, array: &ArrayRef2<f64>, rows: usize, cols: usize) -> Result<()> {
    if array.dim() == (rows, cols) {
        return Ok(());
    }
    let (r, c) = array.dim();
    Err(Error::InvalidArgument(format!("{what} is {r} x {c}, expected {rows} x {cols}")))
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, ArrayView2, array, s};

    use super::*;

    #[test]
    fn column_major_arrays_are_passed_in_place_and_others_by_copy() {
        let wide = Array2::from_shape_fn((3, 4).f(), |(i, j)| (10 * i + j) as f64);
        let middle = wide.slice(s![.., 1..3]);
        with_input(&middle, |mat| {
            assert_eq!((mat.rows, mat.cols, mat.ld), (3, 2, 3));
            assert_eq!(mat.data.cast_const(), middle.as_ptr());
        });
        let part = wide.slice(s![1.., ..]);
        with_input(&part, |mat| assert_eq!((mat.rows, mat.cols, mat.ld), (2, 4, 3)));

        let empty = Array2::<f64>::zeros((3, 0).f());
        assert_eq!(leading_dimension(&empty), Some(3));

        let mut rowwise = array![[1.0, 2.0], [3.0, 4.0]];
        with_output(&mut rowwise, |mat| {
            // SAFETY: `with_output` describes live memory.
            let mut inside = unsafe { view_mut(mat, "inside") }.unwrap();
            assert_eq!(inside, array![[1.0, 2.0], [3.0, 4.0]]);
            inside[[0, 1]] = 9.0;
        });
        assert_eq!(rowwise, array![[1.0, 9.0], [3.0, 4.0]]);
    }

    #[test]
    fn unsound_matrices_are_refused() {
        let mut memory = [0.0; 6];
        let good = Mat { data: memory.as_mut_ptr(), rows: 3, cols: 2, ld: 3 };
        let refused = |mat: Mat| {
            // SAFETY: an unsound matrix is refused before its memory is touched.
            let outcome: Result<ArrayView2<'_, f64>> = unsafe { view(&mat, "matrix") };
            outcome.unwrap_err().to_string()
        };
        assert!(refused(Mat { data: std::ptr::null_mut(), ..good }).contains("null data"));
        assert!(refused(Mat { rows: -1, ..good }).contains("negative number of rows"));
        assert!(refused(Mat { cols: i64::MIN, ..good }).contains("negative number of columns"));
        assert!(refused(Mat { ld: 2, ..good }).contains("leading dimension"));
        assert!(refused(Mat { rows: i64::MAX, ld: i64::MAX, ..good }).contains("too large"));
        // SAFETY: empty, nothing is read.
        let empty = unsafe { view(&Mat { data: std::ptr::null_mut(), rows: 0, cols: 2, ld: 0 }, "empty") };
        assert_eq!(empty.unwrap().dim(), (0, 2));
    }
}
