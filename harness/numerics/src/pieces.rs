//! Work in pieces of fixed size, so that the order of sums does not depend on the number of threads.

use ndarray::{Array1, ArrayView2, ArrayViewMut2, Axis};

use crate::Pool;

/// Number of rows in a piece.
const ROWS: usize = 256;

/// Calls `work` for each piece of the rows of `x`, with the index of its first row. Returns the results in the order
/// of the pieces.
pub fn map<T: Send>(
    x: ArrayView2<'_, f64>,
    pool: impl Pool,
    work: impl Fn(usize, ArrayView2<'_, f64>) -> T + Sync,
) -> Vec<T> {
    pool.map(x.axis_chunks_iter(Axis(0), ROWS).enumerate(), |(index, piece)| work(index * ROWS, piece))
}

/// Fills `out` piece by piece from the same rows of `x`.
pub fn fill(
    x: ArrayView2<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
    pool: impl Pool,
    work: impl Fn(ArrayView2<'_, f64>, ArrayViewMut2<'_, f64>) + Sync,
) {
    let outputs = out.axis_chunks_iter_mut(Axis(0), ROWS);
    pool.for_each(x.axis_chunks_iter(Axis(0), ROWS).zip(outputs), |(x, out)| work(x, out));
}

/// Joins two numbers per row, such as a mean and a variance, from those of the pieces.
pub fn join(pieces: Vec<(Array1<f64>, Array1<f64>)>) -> (Array1<f64>, Array1<f64>) {
    let (first, second): (Vec<_>, Vec<_>) = pieces.into_iter().unzip();
    (first.into_iter().flatten().collect(), second.into_iter().flatten().collect())
}

/// Number of pieces whose results are in memory at a time.
const AT_ONCE: usize = 16;

/// Calls `make` for each piece, on any thread, and `add` with the results, in the order of the pieces.
pub fn in_order<T: Send>(
    count: usize,
    pool: impl Pool,
    make: impl Fn(usize) -> T + Sync,
    mut add: impl FnMut(usize, T),
) {
    for first in (0..count).step_by(AT_ONCE) {
        let parts = pool.map(first..count.min(first + AT_ONCE), &make);
        parts.into_iter().enumerate().for_each(|(i, part)| add(first + i, part));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Threads;

    #[test]
    fn results_come_in_order() {
        for threads in [1, 3] {
            let mut seen = Vec::new();
            in_order(35, Threads(threads), |piece| 2 * piece, |piece, twice| seen.push((piece, twice)));
            assert_eq!(seen, (0..35).map(|piece| (piece, 2 * piece)).collect::<Vec<_>>());
        }
    }
}
