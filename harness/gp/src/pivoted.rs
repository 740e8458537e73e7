//! Pivoted Cholesky factorisation of a kernel matrix: the rows whose variance the rows before them explain least.
//!
//! With F the factor so far and d the variances that remain, each step takes the first row p of the largest d:
//!
//! ```text
//! c = K_:p - F F_p^T,   F_j = c / sqrt(d_p),   d = d - F_j^2,   d_p = 0
//! ```
//!
//! k columns take k n kernel entries and k^2 n multiply-adds.

use gpbench_numerics::Pool;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut1, Axis, ShapeBuilder, Zip, s};

use crate::threads::OnPool;
use crate::{KernelOperator, SystemMatrix};

/// Share of the prior variance below which the remainder is rounding error.
const NEGLIGIBLE: f64 = 1e-12;

/// Rows of a column in one task.
const ROWS: usize = 1024;

/// F with `K ~ F F^T`, and its pivots.
#[derive(Debug)]
pub(crate) struct PivotedFactor {
    /// F, n x k, column-major.
    pub(crate) factor: Array2<f64>,
    /// The k pivots, rows of K, in the order of their choice.
    pub(crate) pivots: Vec<usize>,
}

impl PivotedFactor {
    /// At most `rank` columns for the rows of `x`, those of the operator; fewer where only rounding error remains.
    pub(crate) fn new(op: &KernelOperator, x: ArrayView2<f64>, rank: usize) -> PivotedFactor {
        let (n, prior) = (x.nrows(), op.kernel().variance());
        let rank = rank.min(n);
        let mut factor = Array2::zeros((n, rank).f());
        let mut rest = Array1::from_elem(n, prior);
        let mut pivots = Vec::with_capacity(rank);
        for k in 0..rank {
            let pivot = (0..n).fold(0, |best, row| if rest[row] > rest[best] { row } else { best });
            // The negated comparison also ends the loop at NaN.
            if !(rest[pivot] > NEGLIGIBLE * prior) {
                break;
            }
            let (done, mut column) = factor.view_mut().split_at(Axis(1), k);
            let mut column = column.column_mut(0);
            column.assign(&op.cross_matrix(x.select(Axis(0), &[pivot]).view()).column(0));
            let of_pivot = done.row(pivot).to_owned();
            let root = rest[pivot].sqrt();
            let tiles = column.axis_chunks_iter_mut(Axis(0), ROWS).zip(done.axis_chunks_iter(Axis(0), ROWS));
            let tiles = tiles.zip(rest.axis_chunks_iter_mut(Axis(0), ROWS));
            OnPool(op.pool()).for_each(tiles, |((column, done), rest)| {
                eliminate(column, done, of_pivot.view(), root, rest);
            });
            rest[pivot] = 0.0;
            pivots.push(pivot);
        }
        let factor = factor.slice_move(s![.., ..pivots.len()]);
        PivotedFactor { factor, pivots }
    }
}

/// Turns a tile of a column of K into one of F, and takes what it explains from the variances that remain.
fn eliminate(
    mut column: ArrayViewMut1<f64>,
    done: ArrayView2<f64>,
    of_pivot: ArrayView1<f64>,
    root: f64,
    mut rest: ArrayViewMut1<f64>,
) {
    // BLAS leaves the result of a product without terms as it is.
    if !of_pivot.is_empty() {
        column -= &done.dot(&of_pivot);
    }
    column /= root;
    Zip::from(&mut rest).and(&column).for_each(|rest, entry| *rest -= entry * entry);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Streams;
    use crate::threads::thread_pool;
    use crate::{Family, Kernel};

    /// The factor of the rows of `x` on so many threads.
    fn factor(x: &Array2<f64>, rank: usize, threads: usize) -> PivotedFactor {
        let kernel = Kernel::new(Family::Matern32, 1.3, &[0.7], x.ncols());
        let op = KernelOperator::with_pool(&kernel, 0.1, x.view(), thread_pool(threads).unwrap());
        PivotedFactor::new(&op, x.view(), rank)
    }

    #[test]
    fn pivots_are_those_of_the_remainder_computed_as_a_whole() {
        let x = Streams::new(4, &[]).normals("x", 60, 2);
        let kernel = Kernel::new(Family::Matern32, 1.3, &[0.7], 2);
        let mut left = kernel.matrix(x.view(), x.view());
        let PivotedFactor { factor, pivots } = factor(&x, 20, 2);
        assert_eq!((factor.dim(), pivots.len()), ((60, 20), 20));
        for &pivot in &pivots {
            let diagonal = left.diag().to_owned();
            assert!(diagonal.iter().all(|&entry| entry <= diagonal[pivot] * (1.0 + 1e-12)));
            let column = left.column(pivot).to_owned();
            left.indexed_iter_mut()
                .for_each(|((i, j), entry)| *entry -= column[i] * column[j] / diagonal[pivot]);
            left[(pivot, pivot)] = 0.0;
        }
        let rest = kernel.matrix(x.view(), x.view()) - factor.dot(&factor.t()) - &left;
        assert!(rest.iter().all(|entry| entry.abs() < 1e-10));
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let x = Streams::new(5, &[]).normals("x", 2 * ROWS + 77, 3);
        let [one, three] = [1, 3].map(|threads| factor(&x, 40, threads));
        assert_eq!((one.pivots, one.factor), (three.pivots, three.factor));
    }

    #[test]
    fn repeated_rows_are_taken_once() {
        let x = Array2::from_shape_fn((40, 1), |(row, _)| (row / 4) as f64);
        let pivots = factor(&x, 40, 1).pivots;
        assert_eq!(pivots.len(), 10);
        assert!(pivots.iter().all(|row| row % 4 == 0), "{pivots:?}");
    }
}
