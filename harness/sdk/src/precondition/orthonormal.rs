//! QR factorisation of tall matrices by Cholesky factors of their Gram matrices, which uses matrix products only.
//!
//! A pass loses orthogonality: Q^T Q differs from I by about the rounding error times the condition number of the Gram
//! matrix, the square of A's. Columns are scaled to a norm of 1 for that: neither the product nor the factorisation
//! depends on their norms. Passes are repeated until an estimate of the loss is within what the caller permits, or until the
//! Gram matrix that was factorised is close to the identity (Yamamoto, Nakatsukasa, Yanagisawa and Fukaya 2015: two
//! passes suffice up to a condition number of 1e8). For larger ones, the Gram matrix is not positive definite
//! to working precision. It is then shifted, so that the next pass has a smaller condition number
//! (Fukaya, Kannan, Nakatsukasa, Yamamoto and Yanagisawa 2020).

use gpbench_numerics::factor::factorise;
use ndarray::{Array2, ArrayRef2, ArrayView1, ShapeBuilder};

use super::products::{divide_by_transposed, gram};
use crate::{Error, Result, Workers, lapack};

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
    orthonormalise_over(a, 0.0, loss, workers)
}

/// As [`orthonormalise`], for the m + k rows of \[A; scale I\]: A is replaced by the first m rows of Q.
///
/// The rows below A add scale^2 to the diagonal of the first Gram matrix. They are stored from the second pass on.
pub(crate) fn orthonormalise_over(
    a: &mut ArrayRef2<f64>,
    scale: f64,
    loss: f64,
    workers: Workers<'_>,
) -> Result<Vec<Array2<f64>>> {
    let (m, k) = a.dim();
    let rows = if scale == 0.0 { m } else { m + k };
    let mut below: Option<Array2<f64>> = None;
    let mut triangles = Vec::new();
    while triangles.len() < PASSES {
        let mut square = gram(a, workers);
        match &below {
            Some(below) => square += &gram(below, workers),
            None => square.diag_mut().iter_mut().for_each(|entry| *entry += scale * scale),
        }
        let (mut last, trace) = (distance_from_identity(&square) < NEAR, square.diag().sum());
        if !trace.is_finite() {
            // LAPACK's Cholesky factorisation may not report it.
            return Err(Error::new(format!("a {:?} matrix to orthogonalise is not finite", a.dim())));
        }
        let (norms, size) = equilibrated(&square);
        let mut lower = square.clone();
        if factorise(&mut lower, workers).is_ok() {
            last = last || f64::EPSILON <= loss * reciprocal_condition(&lower, &norms, size)?;
        } else {
            lower = square;
            let shift = f64::EPSILON * rows as f64 * trace;
            lower.diag_mut().iter_mut().for_each(|entry| *entry += shift);
            factorise(&mut lower, workers)?;
        }
        divide_by_transposed(a, &lower, workers)?;
        if !last && scale != 0.0 {
            let rows = below.get_or_insert_with(|| multiple_of_identity(k, scale));
            divide_by_transposed(rows, &lower, workers)?;
        }
        triangles.insert(0, lower);
        if last {
            return Ok(triangles);
        }
    }
    Err(Error::new(format!("a {:?} matrix has no orthonormal columns after {PASSES} passes", a.dim())))
}

/// scale I of order k, column-major.
fn multiple_of_identity(k: usize, scale: f64) -> Array2<f64> {
    let mut matrix = Array2::zeros((k, k).f());
    matrix.diag_mut().fill(scale);
    matrix
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
    let of_column = |(j, column): (usize, ArrayView1<'_, f64>)| {
        let below: f64 = column.iter().skip(j + 1).map(|entry| entry * entry).sum();
        (column[j] - 1.0).powi(2) + 2.0 * below
    };
    lower.columns().into_iter().enumerate().map(of_column).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use ndarray::s;

    use super::*;

    const ALONE: Workers<'_> = Workers { threads: 1, pool: None };

    /// A column-major matrix whose columns differ by multiples of powers of 10, down to -`decay`.
    fn tall(m: usize, k: usize, decay: f64) -> Array2<f64> {
        Array2::from_shape_fn((m, k).f(), |(i, j)| {
            let size = 10f64.powf(-decay * j as f64 / k as f64);
            size * ((i + 1) as f64 * (j as f64 + 0.7)).cos() + ((i * i) as f64).sin()
        })
    }

    fn largest(a: &Array2<f64>) -> f64 {
        a.iter().fold(0.0, |largest: f64, entry| largest.max(entry.abs()))
    }

    /// In one pass, in several, and over several blocks and pieces of rows.
    #[test]
    fn rows_of_a_multiple_of_the_identity_count_as_if_they_were_stored() {
        for (m, k, decay, scale, loss, expected) in
            [(600, 70, 0.0, 1.0, LOSS, 1), (600, 70, 4.0, 1e-3, 0.0, 2), (2500, 270, 3.0, 1e-2, 0.0, 2)]
        {
            let mut a = tall(m, k, decay);
            let mut stacked = Array2::zeros((m + k, k).f());
            stacked.slice_mut(s![..m, ..]).assign(&a);
            stacked.slice_mut(s![m.., ..]).diag_mut().fill(scale);
            assert_eq!(orthonormalise_over(&mut a, scale, loss, ALONE).unwrap().len(), expected);
            assert_eq!(orthonormalise(&mut stacked, loss, ALONE).unwrap().len(), expected);
            let error = largest(&(&a - &stacked.slice(s![..m, ..])));
            assert!(error < 1e-9, "{m} {k} 1e-{decay} {scale}: {error:e}");
        }
    }

    /// Q R = A and Q^T Q = I for condition numbers up to 1e14, over several tiles and stripes.
    #[test]
    fn columns_are_orthonormal_whatever_the_condition() {
        let (m, k) = (600, 70);
        for decay in [0.0, 4.0, 7.0, 9.0, 14.0] {
            let a = tall(m, k, decay);
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
