//! Division by a lower triangle in products, by one thread.
//!
//! OpenBLAS divides by a triangle at half the speed of a product where it has AVX-512. Here triangles are halved down
//! to small ones, so that nearly all of the work is in products. Upper triangles are not read.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayRef2, Axis, s};

use crate::lapack::{self, Number};
use crate::{Error, Result};

/// Order of a triangle that BLAS divides by.
const BASE: usize = 32;

/// L^-1 B in place of B.
///
/// # Errors
/// [`Error::Shape`], as all functions here.
pub fn solve<E: Number>(lower: &ArrayRef2<E>, b: &mut ArrayRef2<E>) -> Result<()> {
    let n = fitting(lower, b.nrows(), "rows to solve for")?;
    if n <= BASE {
        return lapack::solve_lower(lower, false, b);
    }
    let half = middle(n);
    let (mut top, mut bottom) = b.view_mut().split_at(Axis(0), half);
    solve(&lower.slice(s![..half, ..half]), &mut top)?;
    general_mat_mul(E::MINUS_ONE, &lower.slice(s![half.., ..half]), &top, E::ONE, &mut bottom);
    solve(&lower.slice(s![half.., half..]), &mut bottom)
}

/// L^-T B in place of B.
pub fn solve_transposed<E: Number>(lower: &ArrayRef2<E>, b: &mut ArrayRef2<E>) -> Result<()> {
    let n = fitting(lower, b.nrows(), "rows to solve for")?;
    if n <= BASE {
        return lapack::solve_lower(lower, true, b);
    }
    let half = middle(n);
    let (mut top, mut bottom) = b.view_mut().split_at(Axis(0), half);
    solve_transposed(&lower.slice(s![half.., half..]), &mut bottom)?;
    general_mat_mul(E::MINUS_ONE, &lower.slice(s![half.., ..half]).t(), &bottom, E::ONE, &mut top);
    solve_transposed(&lower.slice(s![..half, ..half]), &mut top)
}

/// A L^-1 in place of A.
pub fn divide(a: &mut ArrayRef2<f64>, lower: &ArrayRef2<f64>) -> Result<()> {
    let n = fitting(lower, a.ncols(), "columns to divide")?;
    if n <= BASE {
        return lapack::divide_by_lower(a, lower);
    }
    let half = middle(n);
    let (mut left, mut right) = a.view_mut().split_at(Axis(1), half);
    divide(&mut right, &lower.slice(s![half.., half..]))?;
    general_mat_mul(-1.0, &right, &lower.slice(s![half.., ..half]), 1.0, &mut left);
    divide(&mut left, &lower.slice(s![..half, ..half]))
}

/// A L^-T in place of A.
pub fn divide_transposed<E: Number>(a: &mut ArrayRef2<E>, lower: &ArrayRef2<E>) -> Result<()> {
    let n = fitting(lower, a.ncols(), "columns to divide")?;
    if n <= BASE {
        return lapack::divide_by_lower_transposed(a, lower);
    }
    let half = middle(n);
    let (mut left, mut right) = a.view_mut().split_at(Axis(1), half);
    divide_transposed(&mut left, &lower.slice(s![..half, ..half]))?;
    general_mat_mul(E::MINUS_ONE, &left, &lower.slice(s![half.., ..half]).t(), E::ONE, &mut right);
    divide_transposed(&mut right, &lower.slice(s![half.., half..]))
}

/// Row at which a triangle of order n is halved, a multiple of the base.
fn middle(n: usize) -> usize {
    (n / 2).next_multiple_of(BASE)
}

/// The order of the triangle, if it is square and has as many rows as the other matrix has `what`.
fn fitting<E>(lower: &ArrayRef2<E>, count: usize, what: &str) -> Result<usize> {
    match lower.dim() {
        (n, columns) if n == columns && n == count => Ok(n),
        (n, columns) => Err(Error::Shape(format!("a triangle of {n} x {columns}, and {count} {what}"))),
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use ndarray::{Array2, ShapeBuilder};

    use super::*;
    use crate::fixtures::uniform;
    use crate::layout::column_major;

    /// A triangle with a large diagonal, so that errors are rounding errors, and with arbitrary numbers above it.
    fn triangle(n: usize) -> (Array2<f64>, Array2<f64>) {
        let numbers = uniform(n, n, 1);
        let entry = |above: f64| {
            Array2::from_shape_fn((n, n).f(), |(i, j)| match i.cmp(&j) {
                Ordering::Less => above,
                Ordering::Equal => 2.0 + numbers[(i, j)],
                Ordering::Greater => numbers[(i, j)] / n as f64,
            })
        };
        (entry(0.0), entry(f64::NAN))
    }

    fn close(a: &Array2<f64>, b: &Array2<f64>, tolerance: f64) -> bool {
        (a - b).iter().all(|difference| difference.abs() < tolerance)
    }

    #[test]
    fn triangles_of_any_order_are_divided_by() {
        for n in [1, 2, 7, 32, 33, 63, 64, 65, 100, 131, 257] {
            let (clean, dirty) = triangle(n);
            let b = column_major(&uniform(n, 5, 2));
            let [mut x, mut y] = [b.clone(), b.clone()];
            solve(&dirty, &mut x).unwrap();
            solve_transposed(&dirty, &mut y).unwrap();
            assert!(close(&clean.dot(&x), &b, 1e-13), "{n}");
            assert!(close(&clean.t().dot(&y), &b, 1e-13), "{n}");
            let a = column_major(&uniform(5, n, 3));
            let [mut x, mut y] = [a.clone(), a.clone()];
            divide(&mut x, &dirty).unwrap();
            divide_transposed(&mut y, &dirty).unwrap();
            assert!(close(&x.dot(&clean), &a, 1e-13), "{n}");
            assert!(close(&y.dot(&clean.t()), &a, 1e-13), "{n}");
        }
    }

    #[test]
    fn single_precision_is_divided_to_single_precision() {
        for n in [5, 70] {
            let clean = triangle(n).0;
            let a = column_major(&uniform(4, n, 3));
            let mut x = Array2::from_shape_fn(a.dim().f(), |index| a[index] as f32);
            divide_transposed(&mut x, &clean.mapv(|entry| entry as f32)).unwrap();
            assert!(close(&x.mapv(f64::from).dot(&clean.t()), &a, 1e-5), "{n}");
        }
    }

    #[test]
    fn other_shapes_are_refused() {
        let lower = triangle(40).0;
        let mut b = Array2::zeros((41, 2).f());
        assert!(matches!(solve(&lower, &mut b), Err(Error::Shape(_))));
        let mut a = Array2::zeros((2, 39).f());
        assert!(matches!(divide_transposed(&mut a, &lower), Err(Error::Shape(_))));
    }
}
