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
