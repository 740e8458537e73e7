//! Orthonormal columns in the inner product of a preconditioner; dependent columns are dropped.

use ndarray::{Array2, ShapeBuilder, s};

use crate::{Result, Workers, tall};

/// Share of a column's squared norm, after projection onto the complement of the others, up to which it counts as
/// dependent, in units of the rounding error of M^-1 V. Below it, rounding errors in the Gram matrix dominate.
const DEPENDENT: f64 = 5e3;

/// Largest number of passes. The second removes the rounding errors of the first.
const PASSES: usize = 4;

/// Distance of the Gram matrix from the identity (in the Frobenius norm) below which a pass is the last.
const NEAR: f64 = 0.5;

/// A factorisation V = Q S with Q^T M^-1 Q = I.
pub(super) struct Factors {
    /// Q, n x t.
    pub(super) q: Array2<f64>,
    /// M^-1 Q; none where M is the identity.
    pub(super) z: Option<Array2<f64>>,
    /// S, t x (columns of V).
    pub(super) s: Array2<f64>,
}

/// Factorises the columns of `v`, n x m, with M^-1 V given unless M is the identity.
///
/// Pivoted Cholesky factors of the Gram matrix V^T M^-1 V, repeated until that is near the identity. A column
/// whose norm is no more than `floor` is dropped, as is one that depends on others; `rounding` is the relative rounding
/// error of M^-1 V. None if V is not finite.
pub(super) fn factorise(
    v: Array2<f64>,
    preconditioned: Option<Array2<f64>>,
    floor: f64,
    rounding: f64,
    workers: Workers<'_>,
) -> Result<Option<Factors>> {
    let mut coefficients = Array2::eye(v.ncols());
    let (mut q, mut z) = (v, preconditioned);
    for _ in 0..PASSES {
        let gram = tall::product(&q, z.as_ref().unwrap_or(&q), workers);
        if !gram.iter().all(|entry| entry.is_finite()) {
            return Ok(None);
        }
        let near = distance_from_identity(&gram) < NEAR;
        let (order, factor) = pivoted_cholesky(gram, floor * floor, DEPENDENT * rounding);
        let mut lower = Array2::zeros((order.len(), order.len()).f());
        lower.indexed_iter_mut().filter(|((i, j), _)| i >= j).for_each(|((i, j), entry)| {
            *entry = factor[[order[i], j]];
        });
        q = tall::divide(&q, &order, &lower, workers)?;
        z = z.map(|z| tall::divide(&z, &order, &lower, workers)).transpose()?;
        coefficients = factor.t().dot(&coefficients);
        if near {
            break;
        }
    }
    Ok(Some(Factors { q, z, s: coefficients }))
}

/// |G - I| in the Frobenius norm.
fn distance_from_identity(gram: &Array2<f64>) -> f64 {
    let squares = gram.indexed_iter().map(|((i, j), entry)| (entry - f64::from(u8::from(i == j))).powi(2));
    squares.sum::<f64>().sqrt()
}

/// G = L L^T with rows in G's order, and the pivots: the next one is the column with the largest remaining share.
/// Columns with squared norms of at most `floor`, and dependent ones, are not among the pivots.
fn pivoted_cholesky(mut gram: Array2<f64>, floor: f64, dependent: f64) -> (Vec<usize>, Array2<f64>) {
    let n = gram.nrows();
    let diagonal = gram.diag().to_owned();
    let mut open: Vec<usize> = (0..n).filter(|&j| diagonal[j] > floor).collect();
    let mut factor = Array2::zeros((n, n).f());
    let mut order = Vec::with_capacity(n);
    loop {
        let share = |j: usize| gram[[j, j]] / diagonal[j];
        let next = open.iter().copied().reduce(|best, j| if share(j) > share(best) { j } else { best });
        let Some(pivot) = next.filter(|&pivot| share(pivot) > dependent) else { break };
        open.retain(|&j| j != pivot);
        let mut column = gram.column(pivot).to_owned() / gram[[pivot, pivot]].sqrt();
        order.iter().for_each(|&earlier: &usize| column[earlier] = 0.0);
        for (j, mut rest) in gram.columns_mut().into_iter().enumerate() {
            rest.scaled_add(-column[j], &column);
        }
        factor.column_mut(order.len()).assign(&column);
        order.push(pivot);
    }
    let mut taken = Array2::zeros((n, order.len()).f());
    taken.assign(&factor.slice(s![.., ..order.len()]));
    (order, taken)
}

#[cfg(test)]
mod tests {
    use ndarray::{Axis, array, concatenate};

    use super::*;
    use gpbench_testing::scattered;

    #[test]
    fn dependent_and_negligible_columns_are_dropped() {
        // Of the first three only two are independent; the fourth is small; the last is nothing.
        let l = array![[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [3.0, 1.0, 0.0], [0.0, 0.0, 1e-9], [0.0, 0.0, 0.0]];
        let gram = l.dot(&l.t());
        for (floor, rank) in [(0.0, 3), (1e-16, 2)] {
            let (order, factor) = pivoted_cholesky(gram.clone(), floor, 1e-12);
            assert_eq!((order.len(), factor.dim()), (rank, (5, rank)), "{order:?}");
            let error = &gram - &factor.dot(&factor.t());
            assert!(error.iter().all(|entry| entry.abs() < 1e-15), "{error}");
            assert!(order.iter().enumerate().all(|(k, &pivot)| factor[[pivot, k]] > 0.0));
        }
    }

    #[test]
    fn factors_reproduce_nearly_dependent_columns() {
        let scattered = |i, j| 0.5 + 0.5 * scattered(i, j);
        let some = Array2::from_shape_fn((700, 4), |(i, j)| scattered(i, j));
        let near = Array2::from_shape_fn((700, 1), |(i, _)| scattered(i, 0) + 1e-5 * scattered(i, 9));
        let copy = some.slice(s![.., 1..2]);
        let v = concatenate![Axis(1), some, near, copy];
        let mut columnwise = Array2::zeros(v.dim().f());
        columnwise.assign(&v);
        // M = diag(1, 2, 3, 1, 2, 3, ...)
        let inverse = |a: &Array2<f64>| {
            let mut z = a.clone();
            z.rows_mut().into_iter().enumerate().for_each(|(i, mut row)| row /= (1 + i % 3) as f64);
            z
        };
        for z in [None, Some(inverse(&columnwise))] {
            let preconditioned = z.is_some();
            let factors = factorise(columnwise.clone(), z, 0.0, f64::EPSILON, Workers::new(2));
            let Factors { q, z, s } = factors.unwrap().unwrap();
            assert_eq!(q.dim(), (700, 5), "the copy is dropped, the neighbour is not");
            // M^-1 Q is not computed again, so a neighbour at distance 1e-5 costs five digits.
            let tolerance = if preconditioned { 1e-10 } else { 1e-13 };
            let product = q.t().dot(z.as_ref().unwrap_or(&q));
            assert!(distance_from_identity(&product) < tolerance, "{product}");
            for (j, error) in (q.dot(&s) - &v).columns().into_iter().enumerate() {
                // One of the copies is dropped. Its coefficients come from the Gram matrix, where rounding errors
                // are divided by the neighbour's distance.
                let tolerance = if [1, 5].contains(&j) { 1e-10 } else { 1e-13 };
                assert!(error.iter().all(|entry| entry.abs() < tolerance), "column {j}: {error}");
            }
            if let Some(z) = z {
                assert!((inverse(&q) - &z).iter().all(|entry| entry.abs() < tolerance));
            }
        }
    }
}
