//! Rows in pieces of a fixed size, one task each: the order of sums depends on the number of rows alone.

use ndarray::{Array1, ArrayView2, ArrayViewMut2, Axis};
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::blas;

/// Rows of a piece.
const ROWS: usize = 256;

/// `work` on each piece of the rows of `x`, with the number of its first row; the results in the order of the pieces.
pub(crate) fn map<T: Send>(
    x: ArrayView2<f64>,
    pool: &ThreadPool,
    work: impl Fn(usize, ArrayView2<f64>) -> T + Sync,
) -> Vec<T> {
    blas::start_single_threaded();
    let pieces: Vec<_> = x.axis_chunks_iter(Axis(0), ROWS).enumerate().collect();
    pool.install(|| {
        pieces.into_par_iter().with_max_len(1).map(|(index, piece)| work(index * ROWS, piece)).collect()
    })
}

/// Fills `out` piece by piece from the same rows of `x`.
pub(crate) fn fill(
    x: ArrayView2<f64>,
    mut out: ArrayViewMut2<f64>,
    pool: &ThreadPool,
    work: impl Fn(ArrayView2<f64>, ArrayViewMut2<f64>) + Sync,
) {
    blas::start_single_threaded();
    let outputs = out.axis_chunks_iter_mut(Axis(0), ROWS);
    let pieces: Vec<_> = x.axis_chunks_iter(Axis(0), ROWS).zip(outputs).collect();
    pool.install(|| pieces.into_par_iter().with_max_len(1).for_each(|(x, out)| work(x, out)));
}

/// Two numbers for each row, such as a mean and a variance, from those of the pieces.
pub(crate) fn join(pieces: Vec<(Array1<f64>, Array1<f64>)>) -> (Array1<f64>, Array1<f64>) {
    let (first, second): (Vec<_>, Vec<_>) = pieces.into_iter().unzip();
    (first.into_iter().flatten().collect(), second.into_iter().flatten().collect())
}
