//! Memory layout of matrices. The C interface and LAPACK use column-major matrices.

use bytemuck::Zeroable;
use ndarray::{Array2, ArrayRef2, ShapeBuilder, s};

/// A column-major copy.
pub fn column_major(a: &ArrayRef2<f64>) -> Array2<f64> {
    let mut copy = Array2::zeros(a.dim().f());
    copy.assign(a);
    copy
}

/// Numbers of a page of memory, whose addresses share their places in the first-level cache with those of other pages.
const PAGE: usize = 4096 / size_of::<f64>();

/// Numbers of a cache line.
const LINE: usize = 64 / size_of::<f64>();

/// An n x n column-major matrix of zeros for a factorisation, or `None` where there is no memory for it. Columns that would
/// lie whole pages apart, so that the entries of a row would share places in the caches, lie a cache line further apart.
pub fn square(n: usize) -> Option<Array2<f64>> {
    let rows = if n > 0 && n.is_multiple_of(PAGE) { n + LINE } else { n };
    Some(zeros(rows, n)?.slice_move(s![..n, ..]))
}

/// A column-major matrix of zeros, or `None` where there is no memory for it. The system hands out the memory as it is
/// written, to the threads that write.
pub fn zeros<E: Zeroable>(rows: usize, columns: usize) -> Option<Array2<E>> {
    let numbers = bytemuck::try_zeroed_vec(rows.checked_mul(columns)?).ok()?;
    Array2::from_shape_vec((rows, columns).f(), numbers).ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_squares_lie_no_whole_pages_apart() {
        for (n, apart) in [(0, 1), (1, 1), (511, 511), (512, 520), (1000, 1000), (1024, 1032)] {
            let square = square(n).unwrap();
            assert_eq!((square.dim(), leading_dimension(&square)), ((n, n), Some(apart)));
            assert!(square.iter().all(|entry| *entry == 0.0));
        }
        assert!(square(usize::MAX).is_none());
    }
}
