//! Symmetric matrices of which the lower triangle is kept, column-major: Gram matrices, sums with the identity, and what
//! follows from their Cholesky factors.

use gpbench_numerics::factor;
pub use gpbench_numerics::layout::column_major;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayRef2, Axis, ShapeBuilder, s};

use crate::{Result, Workers, lapack};

/// C <- scale A^T A + keep C, in C's lower triangle, for A with k rows and as many columns as C. The upper one is
/// neither read nor written. A row-major A is as fast as a column-major one.
pub fn add_gram(scale: f64, a: &ArrayRef2<f64>, keep: f64, c: &mut ArrayRef2<f64>) -> Result<()> {
    let transposed = a.t();
    if transposed.strides()[0] == 1 {
        return Ok(lapack::symmetric_product(scale, &transposed, false, keep, c)?);
    }
    if a.strides()[0] == 1 {
        return Ok(lapack::symmetric_product(scale, a, true, keep, c)?);
    }
    Ok(lapack::symmetric_product(scale, &column_major(a), true, keep, c)?)
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

/// C <- C + value I.
pub fn add_diagonal(value: f64, c: &mut ArrayRef2<f64>) {
    c.diag_mut().mapv_inplace(|entry| entry + value);
}

/// The Cholesky factor of C + value I, without changing C.
///
/// # Errors
/// [`NotPositiveDefinite`](crate::Error::NotPositiveDefinite) if that is not, to working precision.
pub fn shifted_factor(c: &ArrayRef2<f64>, value: f64) -> Result<Array2<f64>> {
    let mut factor = column_major(c);
    add_diagonal(value, &mut factor);
    lapack::cholesky(&mut factor)?;
    Ok(factor)
}

/// The same by all threads, with the same bits on any number of them: for orders of several hundreds.
///
/// # Errors
/// As [`shifted_factor`].
pub fn shifted_factor_shared(c: &ArrayRef2<f64>, value: f64, workers: Workers<'_>) -> Result<Array2<f64>> {
    let mut factor = column_major(c);
    add_diagonal(value, &mut factor);
    factor::factorise(&mut factor, workers)?;
    Ok(factor)
}

/// L^-1, 0 above the diagonal, from the factor that [`lapack::cholesky`] leaves.
///
/// # Panics
/// If the factor is not square and column-major, as also [`inverse`].
pub fn inverse_lower(factor: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
    factor::inverse_lower(factor, workers)
}

/// A^-1, both triangles of it, from the factor that [`lapack::cholesky`] leaves.
pub fn inverse(factor: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
    let mut inverse = factor::inverse(factor, workers);
    lapack::mirror_lower(&mut inverse);
    inverse
}

/// The lower triangle R with R R^T = A^-1, 0 above the diagonal, for a positive definite A of which the lower triangle is
/// read. It loses less than the factor of an inverse where A's condition number is large.
///
/// With J the permutation that reverses the order, J A J = C C^T gives R = J C^-T J.
///
/// # Errors
/// [`NotPositiveDefinite`](crate::Error::NotPositiveDefinite) if A is not, to working precision.
pub fn inverse_root(a: &ArrayRef2<f64>, workers: Workers<'_>) -> Result<Array2<f64>> {
    let mut factor = across(a);
    factor::factorise(&mut factor, workers)?;
    Ok(across(&inverse_lower(&factor, workers)))
}

/// The lower triangle, mirrored at the diagonal from lower left to upper right; 0 above it.
fn across(lower: &ArrayRef2<f64>) -> Array2<f64> {
    let n = lower.nrows();
    Array2::from_shape_fn(lower.dim().f(), |(i, j)| if i < j { 0.0 } else { lower[[n - 1 - j, n - 1 - i]] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpbench_testing::scattered;

    fn close(a: &Array2<f64>, b: &Array2<f64>) {
        assert!((a - b).iter().all(|difference| difference.abs() < 1e-12), "{a} against {b}");
    }

    #[test]
    fn gram_matrices_of_any_layout_are_the_products() {
        let a = Array2::from_shape_fn((9, 5), |(i, j)| scattered(i, j));
        let columns = column_major(&a);
        let wide = Array2::from_shape_fn((9, 10), |(i, j)| scattered(i, j / 2));
        let strided = wide.slice(s![.., ..;2]);
        let expected = a.t().dot(&a) * 2.0 + 1.5;
        for a in [a.view(), columns.view(), strided] {
            let mut c = Array2::from_elem((5, 5).f(), 3.0);
            c[[0, 4]] = f64::NAN;
            add_gram(2.0, &a, 0.5, &mut c).unwrap();
            assert!(c[[0, 4]].is_nan(), "the upper triangle is not touched");
            lapack::mirror_lower(&mut c);
            close(&c, &expected);
        }
        // One row, one column, neither: whatever their strides say.
        for (rows, columns) in [(1, 4), (4, 1), (1, 1), (0, 3)] {
            let a = Array2::from_shape_fn((rows, columns), |(i, j)| scattered(i, j));
            let mut c = Array2::zeros((columns, columns).f());
            add_gram(1.0, &a, 0.0, &mut c).unwrap();
            lapack::mirror_lower(&mut c);
            close(&c, &a.t().dot(&a));
        }
    }

    #[test]
    fn a_gram_matrix_has_the_same_bits_on_any_number_of_threads() {
        let a = Array2::from_shape_fn((300, 150), |(i, j)| scattered(i, j));
        let of = |threads| {
            let mut c = Array2::eye(150).reversed_axes();
            add_gram_shared(&a, &mut c, Workers::new(threads));
            lapack::mirror_lower(&mut c);
            c
        };
        assert_eq!(of(1), of(3));
        close(&of(1), &(a.t().dot(&a) + Array2::<f64>::eye(150)));
    }

    #[test]
    fn inverses_of_factors_and_of_matrices() {
        for n in [1, 2, 7, 32, 70, 200] {
            let points = Array2::from_shape_fn((n + 3, n), |(i, j)| scattered(i, j));
            let mut a = Array2::zeros((n, n).f());
            add_gram(1.0, &points, 0.0, &mut a).unwrap();
            let mut factor = shifted_factor(&a, 0.5).unwrap();
            let shared = shifted_factor_shared(&a, 0.5, Workers::new(2)).unwrap();
            let both = [&factor, &shared].map(|factor| factor.diag().product());
            assert!((both[0] / both[1] - 1.0).abs() < 1e-12);
            let workers = Workers::new(2);
            let (found, lower) = (inverse(&factor, workers), inverse_lower(&factor, workers));
            close(&lower.t().dot(&lower), &found);
            assert!(lower.indexed_iter().all(|((i, j), entry)| i >= j || *entry == 0.0));
            add_diagonal(0.5, &mut a);
            let root = inverse_root(&a, Workers::new(2)).unwrap();
            close(&root.dot(&root.t()), &found);
            assert!(root.indexed_iter().all(|((i, j), entry)| i >= j || *entry == 0.0));
            lapack::cholesky_inverse(&mut factor).unwrap();
            close(&found, &factor);
            assert_eq!(found, found.t());
        }
    }
}
