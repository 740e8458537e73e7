//! Partial Cholesky factor of a kernel matrix, with the largest remaining diagonal as pivot.

use ndarray::linalg::general_mat_vec_mul;
use ndarray::{Array2, ShapeBuilder, s};

use crate::{Operator, Result};

/// K ~ L L^T with an L of low rank, where K = A - noise_scale^2 I.
///
/// The error is the positive semi-definite remainder, whose trace is the sum of the remaining diagonal.
/// [`new`](Self::new) pivots on its largest entry; [`random`](Self::random) draws pivots in proportion to it.
#[derive(Debug, Clone)]
pub struct PivotedCholesky {
    /// L, n x rank, column-major, rows in the operator's order.
    pub factor: Array2<f64>,
    /// Row that each column was pivoted on.
    pub pivots: Vec<usize>,
    /// Sum of the remaining diagonal after each step.
    pub remaining_trace: Vec<f64>,
}

/// Share of the initial largest diagonal entry up to which a remaining one counts as rounding error.
pub(super) const NEGLIGIBLE: f64 = 1e-14;

impl PivotedCholesky {
    /// Takes `rank` steps, or fewer if nothing remains, each on the largest remaining diagonal entry.
    ///
    /// Harbrecht, Peters and Schneider 2012, Algorithm 1. Each step asks for one column of A and updates it
    /// by a matrix-vector product: at ranks of hundreds and more, [`random`](Self::random) is many times
    /// faster.
    pub fn new(operator: Operator<'_>, noise_variance: f64, rank: usize) -> Result<PivotedCholesky> {
        let n = operator.n();
        let rank = rank.min(n);
        let mut remaining = operator.diagonal()? - noise_variance;
        let largest = remaining.fold(0.0, |max: f64, &entry| max.max(entry));
        let mut factor = Array2::zeros((n, rank).f());
        let mut remaining_trace = Vec::with_capacity(rank);
        // Positions below `m` hold the pivots. Among equal entries the first in this order is taken.
        let mut order: Vec<usize> = (0..n).collect();
        let mut m = 0;
        while m < rank {
            let mut position = m;
            for candidate in m + 1..n {
                if remaining[order[candidate]] > remaining[order[position]] {
                    position = candidate;
                }
            }
            order.swap(m, position);
            let pivot = order[m];
            let square = remaining[pivot];
            if square.is_nan() || square <= NEGLIGIBLE * largest {
                break;
            }
            let (done, mut rest) = factor.multi_slice_mut((s![.., ..m], s![.., m..m + 1]));
            operator.block(0..n, &[pivot], &mut rest)?;
            let mut column = rest.column_mut(0);
            column[pivot] -= noise_variance;
            // column -= L[:, ..m] L[pivot, ..m]^T
            let explained = done.row(pivot).to_owned();
            general_mat_vec_mul(-1.0, &done, &explained, 1.0, &mut column);
            let root = square.sqrt();
            column /= root;
            // Known values are set exactly, so that rounding errors do not accumulate.
            order[..m].iter().for_each(|&earlier| column[earlier] = 0.0);
            column[pivot] = root;
            for &row in &order[m + 1..] {
                remaining[row] = (remaining[row] - column[row] * column[row]).max(0.0);
            }
            remaining[pivot] = 0.0;
            remaining_trace.push(order[m + 1..].iter().map(|&row| remaining[row]).sum());
            m += 1;
        }
        let factor = if m == rank { factor } else { take_columns(&factor, m) };
        order.truncate(m);
        Ok(PivotedCholesky { factor, pivots: order, remaining_trace })
    }
}

/// The first columns, column-major.
pub(super) fn take_columns(factor: &Array2<f64>, m: usize) -> Array2<f64> {
    let mut taken = Array2::zeros((factor.nrows(), m).f());
    taken.assign(&factor.slice(s![.., ..m]));
    taken
}
