//! Cholesky factorisation and triangular solves with the same bits on any number of threads.
//!
//! LAPACK divides its work by the number of threads, so its rounding depends on that number. Here a pool computes
//! tiles, each by single-threaded BLAS calls. The sizes of panels and tiles depend on the shapes alone.
//!
//! A factorisation takes n^3 / 3 operations. Panels of W columns, in tiles of m rows, cost time beyond
//! that of these operations at the rate of a large product, in five places:
//!
//! ```text
//! diagonal blocks     one thread factorises a block: ahead of its panel, while the others have products to compute
//! divisions           n^2 W / 2 operations, in BLAS at half of the rate: by halves, nearly all in products
//! upper triangles     n^2 W / 2 operations, if diagonal blocks are updated as squares: only triangles are
//! copies              BLAS copies (1 / m + 1 / W) / 2 numbers an operation into its own order: large tiles
//! ends of panels      threads wait for the last tile: small tiles where few rows are left
//! ```
//!
//! Matrices are column-major.

mod eliminate;
mod inverse;
mod substitute;
pub mod triangle;

use ndarray::linalg::{general_mat_mul, general_mat_vec_mul};
use ndarray::{ArrayRef2, LinalgScalar};

pub use eliminate::{Elimination, EliminationTask, beyond, factorise};
pub use inverse::{inverse, inverse_lower};
pub use substitute::{TriangleBlocks, solve, solve_lower, substitute};

use crate::lapack::Number;

const SHAPES_FIT: &str = "pieces of one matrix have fitting shapes";

/// `target -= left right`; nothing if the inner dimension is 0.
///
/// # Panics
/// If the shapes do not fit.
pub fn subtract_product<E: Number>(target: &mut ArrayRef2<E>, left: &ArrayRef2<E>, right: &ArrayRef2<E>) {
    if !left.is_empty() {
        multiply_alone(E::MINUS_ONE, left, right, E::ONE, target);
    }
}

/// `target = scale left right + keep target`, on the calling thread, by a matrix-vector product for one column. With
/// `keep` 0, `target` is not read.
///
/// # Panics
/// If the shapes do not fit.
pub fn multiply_alone<E: LinalgScalar>(
    scale: E,
    left: &ArrayRef2<E>,
    right: &ArrayRef2<E>,
    keep: E,
    target: &mut ArrayRef2<E>,
) {
    if target.ncols() == 1 && !left.is_empty() {
        // BLAS would copy the left matrix for a product with a matrix of one column.
        general_mat_vec_mul(scale, left, &right.column(0), keep, &mut target.column_mut(0));
    } else {
        general_mat_mul(scale, left, right, keep, target);
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, ShapeBuilder};

    use super::*;
    use crate::fixtures::uniform;
    use crate::layout::column_major;
    use crate::pool::Threads;
    use crate::{Error, lapack};

    /// Orders around the base of triangles, tiles and panels, with all widths of panels.
    const ORDERS: [usize; 9] = [1, 2, 63, 64, 65, 257, 1000, 1300, 4200];

    /// `I + G G^T / n` with uniform G, and arbitrary numbers above the diagonal, which must not be read.
    fn positive_definite(n: usize) -> Array2<f64> {
        let g = column_major(&uniform(n, 40, 5));
        let mut a = Array2::zeros((n, n).f());
        general_mat_mul(1.0 / n as f64, &g, &g.t(), 0.0, &mut a);
        a.diag_mut().iter_mut().for_each(|entry| *entry += 1.0);
        for j in 1..n {
            a.column_mut(j).iter_mut().take(j).for_each(|entry| *entry = f64::NAN);
        }
        a
    }

    fn factor(n: usize, threads: usize) -> Array2<f64> {
        let mut a = positive_definite(n);
        factorise(&mut a, Threads(threads)).unwrap();
        a
    }

    /// The same bits, also of numbers that are not numbers.
    fn same_bits(a: &Array2<f64>, b: &Array2<f64>) -> bool {
        a.dim() == b.dim() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
    }

    #[test]
    fn factors_are_those_of_lapack_with_the_same_bits_on_any_number_of_threads() {
        for n in ORDERS {
            let one = factor(n, 1);
            let mut whole = positive_definite(n);
            lapack::cholesky(&mut whole).unwrap();
            for j in 0..n {
                for i in 0..n {
                    let (found, expected) = (one[(i, j)], whole[(i, j)]);
                    let fits = if i < j { found.is_nan() } else { (found - expected).abs() < 1e-12 };
                    assert!(fits, "n = {n}, ({i}, {j}): {found} in place of {expected}");
                }
            }
            if n < 2000 {
                assert!(same_bits(&one, &factor(n, 2)) && same_bits(&one, &factor(n, 3)), "n = {n}");
            }
        }
    }

    #[test]
    fn factors_inside_a_larger_array() {
        let n = 300;
        let mut memory = Array2::from_elem((n + 5, n).f(), 7.0);
        let mut inside = memory.slice_mut(ndarray::s![2..n + 2, ..]);
        inside.assign(&positive_definite(n));
        factorise(&mut inside, Threads(2)).unwrap();
        assert!(same_bits(&column_major(&inside), &factor(n, 1)));
        assert!(memory.row(1).iter().chain(&memory.row(n + 2)).all(|entry| *entry == 7.0));
    }

    #[test]
    fn solutions_of_any_number_of_columns_have_the_same_bits_on_any_number_of_threads() {
        for n in ORDERS.into_iter().filter(|n| *n < 2000) {
            let l = factor(n, 2);
            for columns in [1, 2, 65, 300] {
                let x = column_major(&uniform(n, columns, 6));
                let mut b = x.clone();
                lapack::multiply_lower(&l, true, &mut b).unwrap();
                lapack::multiply_lower(&l, false, &mut b).unwrap();
                let solved = |threads: usize| {
                    let mut b = b.clone();
                    solve(&l, &mut b, Threads(threads));
                    b
                };
                let one = solved(1);
                assert!((&one - &x).iter().all(|e| e.abs() < 1e-12), "n = {n}, {columns} columns");
                assert!(same_bits(&one, &solved(2)) && same_bits(&one, &solved(3)));
            }
        }
    }

    #[test]
    fn forward_substitution_has_the_same_bits_on_any_number_of_threads() {
        for n in ORDERS.into_iter().filter(|n| *n < 2000) {
            let l = factor(n, 2);
            let x = column_major(&uniform(n, 37, 7));
            let mut b = x.clone();
            lapack::multiply_lower(&l, false, &mut b).unwrap();
            let solved = |threads: usize| {
                let mut b = b.clone();
                solve_lower(&l, &mut b, Threads(threads));
                b
            };
            let one = solved(1);
            assert!((&one - &x).iter().all(|e| e.abs() < 1e-12), "n = {n}");
            assert!(same_bits(&one, &solved(2)) && same_bits(&one, &solved(3)));
        }
    }

    #[test]
    fn inverses_solve_for_the_identity_with_the_same_bits_on_any_number_of_threads() {
        for n in [1, 31, 65, 300, 1101] {
            let l = factor(n, 2);
            let mut solved = Array2::zeros((n, n).f());
            solved.diag_mut().fill(1.0);
            let mut lower = solved.clone();
            solve(&l, &mut solved, Threads(2));
            lapack::solve_lower(&l, false, &mut lower).unwrap();
            let (one, one_lower) = (inverse(&l, Threads(1)), inverse_lower(&l, Threads(1)));
            for ((i, j), expected) in lower.indexed_iter() {
                assert!((one_lower[(i, j)] - expected).abs() < 1e-13, "n = {n}, ({i}, {j})");
                assert!(i < j || (one[(i, j)] - solved[(i, j)]).abs() < 1e-14, "n = {n}, ({i}, {j})");
            }
            assert_eq!((&one, &one_lower), (&inverse(&l, Threads(2)), &inverse_lower(&l, Threads(2))));
            assert_eq!((&one, &one_lower), (&inverse(&l, Threads(5)), &inverse_lower(&l, Threads(5))));
        }
    }

    /// In the first diagonal block, in one that is factorised ahead, and in the last row.
    #[test]
    fn the_order_of_the_first_bad_minor_counts_all_panels() {
        for (n, minor) in [(1, 1), (65, 65), (257, 3), (1000, 130), (1300, 700), (1300, 1300)] {
            let mut a = positive_definite(n);
            a[(minor - 1, minor - 1)] = -1.0;
            let error = factorise(&mut a, Threads(2)).unwrap_err();
            assert_eq!(error, Error::NotPositiveDefinite { minor });
        }
    }

    #[test]
    fn nothing_and_matrices_of_other_shapes() {
        assert_eq!(factorise(&mut Array2::<f64>::zeros((0, 0).f()), Threads(2)), Ok(()));
        for mut wrong in [Array2::<f64>::ones((3, 4).f()), Array2::ones((4, 4))] {
            assert!(matches!(factorise(&mut wrong, Threads(2)), Err(Error::Shape(_))));
        }
        let l = factor(70, 1);
        let mut none = Array2::<f64>::zeros((70, 0).f());
        solve(&l, &mut none, Threads(2));
    }
}
