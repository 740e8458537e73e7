//! Cholesky factors in single precision, which precondition: half the memory of a triangle in double precision, and
//! half the time.
//!
//! The lower triangle alone is stored, in strips of rows. All work is cut into pieces of fixed size, by
//! single-threaded BLAS calls, so that the bits do not depend on the number of threads. Many solves share a factor, so what
//! is left of its diagonal blocks is kept in the order in which solves read it.

use std::ops::Range;

use gpbench_numerics::factor::{Elimination, EliminationTask, TriangleBlocks, beyond, substitute};
use gpbench_numerics::layout::zeros;
use gpbench_numerics::packed::Tiled;
use ndarray::{Array2, ArrayRef2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder, s};

use crate::{Error, Result, Workers, lapack};

/// Rows of a strip of a matrix of n rows, and columns that are eliminated together. BLAS copies fewer numbers an operation
/// for high strips; low ones keep more threads busy in a small matrix.
fn height(n: usize) -> usize {
    if n <= 4096 { 256 } else { 512 }
}

/// A = L L^T in single precision: n^2 / 2 numbers of four bytes.
#[derive(Debug, Clone)]
pub struct SingleFactor {
    /// Strip i has the rows from `i height(n)` on, and the columns up to its last row.
    strips: Vec<Strip>,
    n: usize,
}

/// Rows of L.
#[derive(Debug, Clone)]
struct Strip {
    /// What is left of the diagonal block.
    left: Tiled<f32>,
    /// The diagonal block.
    diagonal: Array2<f32>,
}

impl Strip {
    /// The same rows in this form. The strip's own memory is freed, so that no more than this one is stored twice.
    fn new(strip: Array2<f32>) -> Strip {
        let (rows, columns) = strip.dim();
        let (left, diagonal) = strip.view().split_at(Axis(1), columns - rows);
        let mut square = Array2::zeros(diagonal.dim().f());
        square.assign(&diagonal);
        Strip { left: Tiled::new(&left), diagonal: square }
    }
}

impl SingleFactor {
    /// Entries that count as zero, for a diagonal near 1. Products of smaller ones would be subnormal: a factorisation
    /// among them takes five times as long.
    pub const NEGLIGIBLE: f32 = 1e-19;

    /// Bytes of the factor of a matrix of n rows.
    pub fn bytes(n: usize) -> usize {
        SingleFactor::entries(n).saturating_mul(size_of::<f32>())
    }

    /// Entries that [`new`](Self::new) asks for: the lower triangle, and above it what is in a strip's last tile.
    pub fn entries(n: usize) -> usize {
        strips(n).map(|rows| rows.len().saturating_mul(rows.end)).fold(0, usize::saturating_add)
    }

    /// Factorises the matrix of n rows whose entries `fill` writes: tiles (rows, columns) that are column-major and
    /// begin with zeros, at most 512 x 512. The diagonal has to be near 1, see [`NEGLIGIBLE`](Self::NEGLIGIBLE). Takes n^3 / 3
    /// operations.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`](Error::NotPositiveDefinite) if the matrix is not, to single precision;
    /// [`OutOfMemory`](Error::OutOfMemory).
    pub fn new(
        n: usize,
        fill: impl Fn(Range<usize>, Range<usize>, ArrayViewMut2<'_, f32>) + Sync,
        workers: Workers<'_>,
    ) -> Result<SingleFactor> {
        let height = height(n);
        let mut strips = strips(n).map(|rows| empty(&rows, n)).collect::<Result<Vec<_>>>()?;
        let tiles = strips.iter_mut().enumerate().flat_map(|(i, strip)| {
            let tiles = strip.axis_chunks_iter_mut(Axis(1), height).enumerate();
            tiles.map(move |(j, tile)| (i * height, j * height, tile))
        });
        workers.for_each(tiles, |(row, column, tile)| {
            let (rows, columns) = tile.dim();
            fill(row..row + rows, column..column + columns, tile);
        });
        eliminate(&mut strips, height, workers)?;
        Ok(SingleFactor { strips: workers.map(strips, Strip::new), n })
    }

    /// Rows of the matrix.
    pub fn n(&self) -> usize {
        self.n
    }

    /// A^-1 B for B, n x s, up to rounding errors of single precision. Takes 2 n^2 s operations.
    ///
    /// # Panics
    /// If B does not have n rows.
    pub fn solve(&self, b: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
        assert_eq!(b.nrows(), self.n, "as many rows as the factor");
        // Scaled, so that columns of any norm are in the range of single precision.
        let mut scales = vec![1.0; b.ncols()];
        let mut single = Array2::zeros(b.dim().f());
        let columns = single.columns_mut().into_iter().zip(b.columns()).zip(&mut scales);
        workers.for_each(columns, |((mut single, b), scale)| {
            *scale = largest(b.iter());
            single.zip_mut_with(&b, |single, b| *single = (b / *scale) as f32);
        });
        substitute(self, false, &mut single, &workers);
        substitute(self, true, &mut single, &workers);
        let mut x = Array2::zeros(b.dim().f());
        let columns = x.columns_mut().into_iter().zip(single.columns()).zip(&scales);
        workers.for_each(columns, |((mut x, single), scale)| {
            x.zip_mut_with(&single, |x, &single| *x = f64::from(single) * scale);
        });
        x
    }
}

impl TriangleBlocks<f32> for SingleFactor {
    fn n(&self) -> usize {
        self.n
    }

    fn height(&self) -> usize {
        height(self.n)
    }

    fn diagonal(&self, k: usize) -> ArrayView2<'_, f32> {
        self.strips[k].diagonal.view()
    }

    fn add_product(&self, (i, j): (usize, usize), transposed: bool, v: &[f32], out: &mut [f64]) {
        let (height, left) = (height(self.n), &self.strips[i].left);
        left.add_product((0..left.shape().0, j * height..(j + 1) * height), transposed, v, out);
    }
}

/// Sets negligible entries to zero.
fn flush(tile: &mut ArrayRef2<f32>) {
    tile.mapv_inplace(|entry| if entry.abs() < SingleFactor::NEGLIGIBLE { 0.0 } else { entry });
}

/// Rows of the strips of a matrix of n rows.
fn strips(n: usize) -> impl Iterator<Item = Range<usize>> {
    let height = height(n);
    (0..n).step_by(height).map(move |start| start..n.min(start + height))
}

/// Memory for a strip of a matrix of n rows.
fn empty(rows: &Range<usize>, n: usize) -> Result<Array2<f32>> {
    zeros(rows.len(), rows.end).ok_or(Error::OutOfMemory {
        bytes: SingleFactor::bytes(n),
        what: "a Cholesky factor in single precision",
    })
}

/// L in place of the lower triangle, by the tasks of [`factorise`](super::factorise): panels are as wide as strips are
/// high, and each task has the rows of a strip.
fn eliminate(strips: &mut [Array2<f32>], height: usize, workers: Workers<'_>) -> Result<()> {
    if let Some(first) = strips.first_mut() {
        flush(first);
        lapack::cholesky(first)?;
        flush(first);
    }
    for k in 1..strips.len() {
        let (start, end) = ((k - 1) * height, k * height);
        let (upper, below) = strips.split_at_mut(k);
        let own = &upper[k - 1];
        let (lefts, rights): (Vec<_>, Vec<_>) =
            below.iter_mut().map(|strip| strip.view_mut().split_at(Axis(1), start)).unzip();
        let panel = Elimination {
            factor: own.slice(s![.., start..]),
            left: own.slice(s![.., ..start]),
            next: lefts[0].view(),
            preceding: start.saturating_sub(height),
            tidy: flush,
        };
        let mut outcome = Ok(());
        let mut tasks = Vec::with_capacity(lefts.len() + 1);
        let mut parts = lefts.iter().zip(rights).map(|(left, right)| {
            let (rows, later) = right.split_at(Axis(1), height);
            (left.view(), rows, later)
        });
        if let Some((left, rows, diagonal)) = parts.next() {
            tasks.push(EliminationTask::Pivots { rows, left, diagonal, outcome: &mut outcome });
        }
        for (i, (left, rows, later)) in parts.enumerate() {
            let (next, diagonal) = later.split_at(Axis(1), height);
            tasks.push(EliminationTask::Rows { rows, left, next });
            if i == 0 {
                tasks.push(EliminationTask::Ahead { left, diagonal });
            }
        }
        panel.work_on(tasks, &workers);
        outcome.map_err(|error| beyond(end, error))?;
    }
    Ok(())
}

/// The largest absolute value, or 1 if all are zero.
fn largest<'v>(values: impl Iterator<Item = &'v f64>) -> f64 {
    let largest = values.fold(0.0, |largest: f64, value| largest.max(value.abs()));
    if largest > 0.0 { largest } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpbench_testing::{matern32, relative_residuals, scattered_inputs, scattered_right_hand_sides};

    /// A covariance of n scattered points.
    fn covariance(n: usize) -> Array2<f64> {
        matern32(&scattered_inputs(n), 1.0, 0.3, &[0.3, 0.5])
    }

    fn factor(a: &Array2<f64>, threads: usize) -> Result<SingleFactor> {
        let fill = |rows: Range<usize>, columns: Range<usize>, mut tile: ArrayViewMut2<'_, f32>| {
            tile.zip_mut_with(&a.slice(s![rows, columns]), |entry, &value| *entry = value as f32);
        };
        SingleFactor::new(a.nrows(), fill, Workers::new(threads))
    }

    #[test]
    fn solutions_are_those_of_single_precision() {
        // One strip, whole strips, a last one that is narrow, and high strips.
        for n in [1, 100, 256, 512, 700, 4200] {
            let (a, b) = (covariance(n), scattered_right_hand_sides(n, 5));
            let factor = factor(&a, 2).unwrap();
            // Columns of very different norms.
            let scaled = &b * &ndarray::array![[1e-60, 1.0, 1e60, 1e-3, 0.0]];
            let x = factor.solve(&scaled, Workers::new(2));
            let norms = relative_residuals(&a, &x, &scaled);
            assert!(norms[..4].iter().all(|norm| *norm < 1e-4), "n = {n}: {norms:?}");
            assert!(x.column(4).iter().all(|&x| x == 0.0));
        }
    }

    /// Short length scales: entries and fill-in decay to far below what single precision can hold.
    #[test]
    fn no_entry_is_small_enough_to_be_slow() {
        let n = 600;
        let a = matern32(&scattered_inputs(n), 1.0, 0.1, &[0.01, 0.02]);
        assert!(a.iter().any(|entry| (1e-60..1e-30).contains(entry)));
        let (factor, b) = (factor(&a, 2).unwrap(), scattered_right_hand_sides(n, 3));
        for strip in &factor.strips {
            let mut below = strip.left.numbers().iter();
            assert!(below.all(|entry| *entry == 0.0 || entry.abs() >= SingleFactor::NEGLIGIBLE));
        }
        let x = factor.solve(&b, Workers::new(2));
        assert!(relative_residuals(&a, &x, &b).iter().all(|norm| *norm < 1e-5));
    }

    #[test]
    fn threads_give_the_same_bits() {
        let (a, b) = (covariance(900), scattered_right_hand_sides(900, 33));
        let solve = |threads| factor(&a, threads).unwrap().solve(&b, Workers::new(threads));
        let one = solve(1);
        assert_eq!(one, solve(2));
        assert_eq!(one, solve(5));
    }

    #[test]
    fn bytes_are_those_of_the_triangle_and_its_tiles() {
        assert_eq!(SingleFactor::entries(600), 256 * 256 + 256 * 512 + 88 * 600);
        assert_eq!(SingleFactor::bytes(100), 40_000);
        assert_eq!(SingleFactor::bytes(0), 0);
        assert!(SingleFactor::bytes(1 << 40) > 1 << 60);
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_is_named_with_its_minor() {
        for minor in [1, 256, 301, 513, 600] {
            let mut a = covariance(600);
            a[[minor - 1, minor - 1]] = -1.0;
            assert_eq!(factor(&a, 2).unwrap_err(), Error::NotPositiveDefinite { minor });
        }
    }
}
