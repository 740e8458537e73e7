//! Greedy selection of inducing points: the pivots of a Cholesky factorisation of K.
//!
//! Burt, Rasmussen and van der Wilk 2020, *Convergence of Sparse Variational Inference in Gaussian Processes Regression*
//! (JMLR 21): each point is the row with the largest variance given the points before it, so that the trace of what
//! they leave unexplained falls fast. With F the factor so far and d the variances that remain:
//!
//! ```text
//! p = argmax d, ties to the first;   c = k(X, x_p) - F F_p^T;   F_j = c / sqrt(d_p);   d = max(d - F_j^2, 0), d_p = 0
//! ```
//!
//! M points take M n kernel entries and M^2 n operations.

use gpbench_sdk::Workers;
use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::ndarray::{Array1, Array2, ArrayRef2, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis, s};

/// Rows of a tile, which one thread works on.
const ROWS: usize = 512;

/// Share of the prior variance below which what remains on average is rounding error.
const NEGLIGIBLE: f64 = 1e-12;

/// Chosen rows.
#[derive(Debug, Clone, PartialEq)]
pub struct GreedySelection {
    /// The rows, in the order of their choice.
    pub rows: Vec<usize>,
    /// Sum of the variances that remain after each choice.
    pub remaining: Vec<f64>,
}

/// Chooses `count` rows of `x`, or fewer if nothing remains to be explained, and at least one.
///
/// # Panics
/// If `x` has no rows.
pub fn select(kernel: &Kernel, x: &ArrayRef2<f64>, count: usize, workers: Workers<'_>) -> GreedySelection {
    let n = x.nrows();
    let count = count.min(n);
    let mut remaining = kernel.diagonal(x);
    let negligible = NEGLIGIBLE * remaining.sum();
    // Row-major, so that the factor's part of a row is in one piece.
    let mut factor = Array2::zeros((n, count));
    let mut selection =
        GreedySelection { rows: Vec::with_capacity(count), remaining: Vec::with_capacity(count) };
    for step in 0..count {
        let pivot = largest(&remaining);
        let square = remaining[pivot];
        if step > 0 && !(remaining.sum() > negligible && square > 0.0) {
            break;
        }
        let point = x.slice(s![pivot..pivot + 1, ..]);
        let of_pivot = factor.slice(s![pivot, ..step]).to_owned();
        let tiles = factor.axis_chunks_iter_mut(Axis(0), ROWS).zip(x.axis_chunks_iter(Axis(0), ROWS));
        let tiles = tiles.zip(remaining.axis_chunks_iter_mut(Axis(0), ROWS));
        workers.for_each(tiles, |((factor, x), remaining)| {
            eliminate(kernel, (x, point), &of_pivot, square.sqrt(), factor, remaining);
        });
        remaining[pivot] = 0.0;
        selection.rows.push(pivot);
        selection.remaining.push(remaining.sum());
    }
    selection
}

/// Position of the largest entry, the first of equal ones.
fn largest(values: &Array1<f64>) -> usize {
    let larger = |best: usize, i: usize| if values[i] > values[best] { i } else { best };
    (1..values.len()).fold(0, larger)
}

/// Adds a column to a tile of the factor, and takes what it explains from the remaining variances.
fn eliminate(
    kernel: &Kernel,
    (x, point): (ArrayView2<'_, f64>, ArrayView2<'_, f64>),
    of_pivot: &Array1<f64>,
    root: f64,
    mut factor: ArrayViewMut2<'_, f64>,
    mut remaining: ArrayViewMut1<'_, f64>,
) {
    let step = of_pivot.len();
    let entries = kernel.gram(&x, &point, Workers::new(1));
    let rows = factor.rows_mut().into_iter().zip(entries.column(0)).zip(&mut remaining);
    for ((mut row, entry), left) in rows {
        let column = (entry - row.slice(s![..step]).dot(of_pivot)) / root;
        row[step] = column;
        *left = (*left - column * column).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use gpbench_sdk::Family;
    use gpbench_testing::{scattered, scattered_inputs};

    use super::*;

    fn kernel() -> Kernel {
        Kernel { family: Family::Matern32.into(), signal_scale: 1.3, length_scale: vec![0.4, 0.7] }
    }

    #[test]
    fn pivots_are_those_of_the_remainder_computed_as_a_whole() {
        let x = scattered_inputs(60);
        let mut left = kernel().gram(&x, &x, Workers::new(1));
        let selection = select(&kernel(), &x, 20, Workers::new(2));
        assert_eq!((selection.rows.len(), selection.remaining.len()), (20, 20));
        for (&row, &remaining) in selection.rows.iter().zip(&selection.remaining) {
            // The diagonal is constant at first, and the first row is taken.
            assert_eq!(row, largest(&left.diag().to_owned()));
            let (column, square) = (left.column(row).to_owned(), left[[row, row]]);
            left.indexed_iter_mut().for_each(|((i, j), entry)| *entry -= column[i] * column[j] / square);
            left[[row, row]] = 0.0;
            assert!((left.diag().sum() - remaining).abs() < 1e-10, "{remaining}");
        }
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let x = scattered_inputs(1300);
        let one = select(&kernel(), &x, 40, Workers::new(1));
        assert_eq!(one, select(&kernel(), &x, 40, Workers::new(3)));
    }

    #[test]
    fn repeated_rows_are_chosen_once() {
        let x = Array2::from_shape_fn((40, 2), |(i, j)| scattered(i / 4, j));
        let rows = select(&kernel(), &x, 40, Workers::new(1)).rows;
        assert_eq!(rows.len(), 10);
        assert!(rows.iter().all(|row| row % 4 == 0), "{rows:?}");
        assert_eq!(select(&kernel(), &Array2::zeros((5, 2)), 5, Workers::new(1)).rows, [0]);
    }
}
