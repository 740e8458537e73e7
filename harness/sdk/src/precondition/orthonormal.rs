//! QR factorisation of tall matrices by Cholesky factors of their Gram matrices, which uses matrix products only.
//!
//! A pass loses orthogonality: Q^T Q differs from I by about the rounding error times the condition number of the Gram
//! matrix, the square of A's. Columns are scaled to a norm of 1 for that: neither the product nor the factorisation
//! depends on their norms. Passes are repeated until an estimate of the loss is within what the caller permits, or until the
//! Gram matrix that was factorised is close to the identity (Yamamoto, Nakatsukasa, Yanagisawa and Fukaya 2015: two
//! passes suffice up to a condition number of 1e8). For larger ones, the Gram matrix is not positive definite
//! to working precision. It is then shifted, so that the next pass has a smaller condition number
//! (Fukaya, Kannan, Nakatsukasa, Yamamoto and Yanagisawa 2020).

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayRef2, Axis, LinalgScalar, ShapeBuilder, s};

use super::ROWS;
use crate::{Error, Result, Workers, lapack};

/// Columns of a Gram matrix that are computed together.
const STRIPE: usize = 64;

/// Largest number of passes. Four suffice for condition numbers up to 1e16.
const PASSES: usize = 8;

/// Distance of the Gram matrix from the identity (in the Frobenius norm) below which a pass is the last.
const NEAR: f64 = 0.5;

/// Loss of orthogonality that does not matter beside the other errors of a preconditioner.
pub(crate) const LOSS: f64 = 1e-11;

/// Replaces A, m x k and column-major, by Q of A = Q R with |Q^T Q - I| at most `loss`, or to working precision if that
/// is more.
///
/// Returns the lower triangles (entries above are not defined) whose transposes are the factors of R, last pass first:
/// R = L_p^T ... L_1^T. Fails if A is zero or not finite.
pub(crate) fn orthonormalise(
    a: &mut ArrayRef2<f64>,
    loss: f64,
    workers: Workers<'_>,
) -> Result<Vec<Array2<f64>>> {
    let mut triangles = Vec::new();
    while triangles.len() < PASSES {
        let mut lower = gram(a, workers);
        let (mut last, trace) = (distance_from_identity(&lower) < NEAR, lower.diag().sum());
        if !trace.is_finite() {
            // LAPACK's Cholesky factorisation may not report it.
            return Err(Error::new(format!("a {:?} matrix to orthogonalise is not finite", a.dim())));
        }
        let (norms, size) = equilibrated(&lower);
        if lapack::cholesky(&mut lower).is_ok() {
            last = last || f64::EPSILON <= loss * reciprocal_condition(&lower, &norms, size)?;
        } else {
            lower = gram(a, workers);
            let shift = f64::EPSILON * a.nrows() as f64 * trace;
            lower.diag_mut().iter_mut().for_each(|entry| *entry += shift);
            lapack::cholesky(&mut lower)?;
        }
        divide_by_transposed(a, &lower, workers)?;
        triangles.insert(0, lower);
        if last {
            return Ok(triangles);
        }
    }
    Err(Error::new(format!("a {:?} matrix has no orthonormal columns after {PASSES} passes", a.dim())))
}

/// The lower triangle of A^T A.
fn gram(a: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
    let k = a.ncols();
    let mut gram = Array2::zeros((k, k).f());
    let stripes = gram.axis_chunks_iter_mut(Axis(1), STRIPE).enumerate();
    workers.for_each(stripes, |(index, mut stripe)| {
        let start = index * STRIPE;
        let columns = a.slice(s![.., start..start + stripe.ncols()]);
        general_mat_mul(
            1.0,
            &a.slice(s![.., start..]).t(),
            &columns,
            0.0,
            &mut stripe.slice_mut(s![start.., ..]),
        );
    });
    gram
}

/// Norms of A's columns, and the 1-norm of A^T A for columns divided by them, given the lower triangle of A^T A.
fn equilibrated(gram: &Array2<f64>) -> (Vec<f64>, f64) {
    let norms: Vec<f64> = gram.diag().iter().map(|square| square.sqrt()).collect();
    let mut sums = vec![0.0; norms.len()];
    for (j, column) in gram.columns().into_iter().enumerate() {
        for (i, entry) in column.iter().enumerate().skip(j) {
            let scaled = (entry / (norms[i] * norms[j])).abs();
            sums[i] += scaled;
            if i > j {
                sums[j] += scaled;
            }
        }
    }
    (norms, sums.into_iter().fold(0.0, f64::max))
}

/// Reciprocal of the condition number of L L^T with rows and columns divided by `norms`, whose 1-norm is `size`.
fn reciprocal_condition(lower: &Array2<f64>, norms: &[f64], size: f64) -> Result<f64> {
    let mut scaled = lower.clone();
    for mut column in scaled.columns_mut() {
        column.iter_mut().zip(norms).for_each(|(entry, norm)| *entry /= norm);
    }
    Ok(lapack::reciprocal_condition(&scaled, size)?)
}

/// |G - I|, of a symmetric G given by its lower triangle.
fn distance_from_identity(lower: &Array2<f64>) -> f64 {
    let squares = lower.indexed_iter().map(|((i, j), entry)| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => (entry - 1.0).powi(2),
        std::cmp::Ordering::Greater => 2.0 * entry * entry,
    });
    squares.sum::<f64>().sqrt()
}

/// A L^-T in place of A, m x k and column-major, for a lower triangle L.
pub(crate) fn divide_by_transposed(
    a: &mut ArrayRef2<f64>,
    lower: &ArrayRef2<f64>,
    workers: Workers<'_>,
) -> Result<()> {
    let mut outcomes: Vec<Result<()>> = (0..a.nrows().div_ceil(ROWS)).map(|_| Ok(())).collect();
    let tiles = a.axis_chunks_iter_mut(Axis(0), ROWS);
    workers.for_each(tiles.zip(&mut outcomes), |(mut tile, outcome)| {
        *outcome = lapack::divide_by_lower_transposed(&mut tile, lower).map_err(Into::into);
    });
    outcomes.into_iter().collect()
}

/// A B, with A tall.
pub(crate) fn multiply(a: &ArrayRef2<f64>, b: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
    let mut product = Array2::zeros((a.nrows(), b.ncols()).f());
    let tiles = product.axis_chunks_iter_mut(Axis(0), ROWS).zip(a.axis_chunks_iter(Axis(0), ROWS));
    workers.for_each(tiles, |(mut tile, a)| general_mat_mul(1.0, &a, b, 0.0, &mut tile));
    product
}

/// A^T B, with A and B tall.
pub(crate) fn multiply_transposed<F: LinalgScalar + Send + Sync>(
    a: &ArrayRef2<F>,
    b: &ArrayRef2<F>,
    workers: Workers<'_>,
) -> Array2<F> {
    let mut product = Array2::zeros((a.ncols(), b.ncols()).f());
    let tiles = product.axis_chunks_iter_mut(Axis(0), STRIPE).zip(a.axis_chunks_iter(Axis(1), STRIPE));
    workers.for_each(tiles, |(mut tile, a)| general_mat_mul(F::one(), &a.t(), b, F::zero(), &mut tile));
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: Workers<'_> = Workers { threads: 1, pool: None };

    /// Q R = A and Q^T Q = I for condition numbers up to 1e14, over several tiles and stripes.
    #[test]
    fn columns_are_orthonormal_whatever_the_condition() {
        let (m, k) = (600, 70);
        for decay in [0.0, 4.0, 7.0, 9.0, 14.0] {
            let mut a = Array2::zeros((m, k).f());
            for ((i, j), entry) in a.indexed_iter_mut() {
                let size = 10f64.powf(-decay * j as f64 / k as f64);
                *entry = size * ((i + 1) as f64 * (j as f64 + 0.7)).cos() + ((i * i) as f64).sin();
            }
            let mut q = a.clone();
            let triangles = orthonormalise(&mut q, 0.0, ALONE).unwrap();
            let mut upper = Array2::eye(k);
            for lower in &triangles {
                let r = Array2::from_shape_fn((k, k), |(i, j)| if i <= j { lower[[j, i]] } else { 0.0 });
                upper = upper.dot(&r);
            }
            let orthogonality = distance_from_identity(&gram(&q, ALONE));
            let error = (q.dot(&upper) - &a).iter().fold(0.0, |max: f64, e| max.max(e.abs()));
            assert!(orthogonality < 1e-13 && error < 1e-13, "1e-{decay}: {orthogonality:e}, {error:e}");
        }
    }

    /// One pass for well-conditioned columns, however unequal their norms; the loss that is left is what is permitted.
    #[test]
    fn a_pass_is_the_last_where_the_loss_is_small_enough() {
        let (m, k) = (600, 70);
        for (nearness, passes) in [(0.0, 1), (0.5, 1), (1.0 - 1e-6, 2)] {
            let mut a = Array2::zeros((m, k).f());
            for ((i, j), entry) in a.indexed_iter_mut() {
                let common = ((i * i) as f64).sin();
                let own = ((i + 1) as f64 * (j as f64 + 0.7)).cos();
                *entry = 10f64.powi(j as i32 % 9) * (nearness * common + (1.0 - nearness) * own);
            }
            assert_eq!(orthonormalise(&mut a, LOSS, ALONE).unwrap().len(), passes, "{nearness}");
            let orthogonality = distance_from_identity(&gram(&a, ALONE));
            assert!(orthogonality < LOSS, "{nearness}: {orthogonality:e}");
        }
    }

    #[test]
    fn nothing_is_made_of_what_is_not_finite() {
        let mut a = Array2::from_elem((9, 2).f(), 1.0);
        a[[3, 1]] = f64::NAN;
        assert!(orthonormalise(&mut a, LOSS, ALONE).unwrap_err().to_string().contains("not finite"));
        let zero = &mut Array2::zeros((9, 2).f());
        assert_eq!(orthonormalise(zero, LOSS, ALONE).unwrap_err(), Error::NotPositiveDefinite { minor: 1 });
    }
}
