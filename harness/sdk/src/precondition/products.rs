//! Products and divisions of tall matrices, n x k with k far below n, on several threads.
//!
//! Work is cut into blocks and pieces, each for single-threaded calls of BLAS, whose sizes depend on the shapes alone.
//! Sums over pieces are added in the order of the rows, so no sum depends on the number of threads.

use std::ops::Range;

use gpbench_numerics::factor::{multiply_alone, triangle};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayRef2, ArrayViewMut2, Axis, LinalgScalar, ShapeBuilder, s};

use super::ROWS;
use crate::{Result, Workers, lapack};

/// Rows and columns of a block of A^T B, for tall A and B. BLAS copies two numbers for that many multiply-adds.
const BLOCK: usize = 256;

/// Fewest rows of a piece of tall matrices.
const PIECE: usize = 512;

/// Number of tasks of a product, where its shape allows this number: enough for many threads.
const TASKS: usize = 32;

const SHAPES_FIT: &str = "blocks of column-major matrices have fitting shapes";

/// The lower triangle of A^T A, for a column-major A; 0 above the diagonal.
pub(super) fn gram(a: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
    let mut gram = Array2::zeros((a.ncols(), a.ncols()).f());
    let mut stripes: Vec<_> = gram.axis_chunks_iter_mut(Axis(1), BLOCK).collect();
    let mut blocks = blocks_of(&mut stripes);
    blocks.retain(|((i, j), _)| i >= j);
    // Blocks on the diagonal take half of the time, so that threads finish together if these are last.
    blocks.sort_by_key(|((i, j), _)| i == j);
    sum_blocks(blocks, a.nrows(), workers, |(i, j), rows, mut block| {
        let left = a.slice(s![rows.clone(), i..i + block.nrows()]);
        if i == j {
            lapack::symmetric_product(1.0, &left, true, 0.0, &mut block).expect(SHAPES_FIT);
        } else {
            let right = a.slice(s![rows, j..j + block.ncols()]);
            general_mat_mul(1.0, &left.t(), &right, 0.0, &mut block);
        }
    });
    gram
}

/// A block of a product: the indices of its first row and column, and its entries.
type Block<'a, F> = ((usize, usize), ArrayViewMut2<'a, F>);

/// The blocks of a product, given as stripes of [`BLOCK`] columns.
fn blocks_of<'a, F>(stripes: &'a mut [ArrayViewMut2<'_, F>]) -> Vec<Block<'a, F>> {
    let blocks = stripes.iter_mut().enumerate().flat_map(|(j, stripe)| {
        let blocks = stripe.axis_chunks_iter_mut(Axis(0), BLOCK).enumerate();
        blocks.map(move |(i, block)| ((i * BLOCK, j * BLOCK), block))
    });
    blocks.collect()
}

/// Computes blocks of a product of matrices with `rows` rows: `multiply` replaces a block by what a range of these rows
/// contributes to it.
///
/// Where blocks are too few to occupy many threads, rows are cut into pieces too. The parts of a block are added in the
/// order of the rows, and pieces depend on the shapes alone, so that no sum depends on the number of threads.
fn sum_blocks<F: LinalgScalar + Send + Sync>(
    mut blocks: Vec<Block<'_, F>>,
    rows: usize,
    workers: Workers<'_>,
    multiply: impl Fn((usize, usize), Range<usize>, ArrayViewMut2<'_, F>) + Sync,
) {
    let height = piece_rows(rows, blocks.len());
    let others = 1..rows.div_ceil(height);
    let parts = blocks.iter().map(|(_, block)| {
        let part = |_| Array2::zeros(block.dim().f());
        others.clone().map(part).collect::<Vec<Array2<F>>>()
    });
    let mut parts: Vec<_> = parts.collect();
    let tasks = blocks.iter_mut().zip(&mut parts).flat_map(|((place, block), parts)| {
        let place = *place;
        let targets = std::iter::once(block.view_mut()).chain(parts.iter_mut().map(|part| part.view_mut()));
        targets.enumerate().map(move |(piece, target)| (place, piece * height, target))
    });
    // All blocks of one piece, which stays in the last-level cache, before the next piece.
    let mut tasks: Vec<_> = tasks.collect();
    tasks.sort_by_key(|(_, first, _)| *first);
    workers.for_each(tasks, |(place, first, target)| {
        multiply(place, first..rows.min(first + height), target);
    });
    workers.for_each(blocks.into_iter().zip(parts), |((_, mut block), parts)| {
        parts.iter().for_each(|part| block.zip_mut_with(part, |sum, &part| *sum = *sum + part));
    });
}

/// Rows of a piece of matrices with `rows` rows, for a product with this number of blocks.
pub(super) fn piece_rows(rows: usize, blocks: usize) -> usize {
    rows.div_ceil(TASKS.div_ceil(blocks.max(1))).max(PIECE)
}

/// A L^-T in place of A, m x k and column-major, for a lower triangle L.
pub(super) fn divide_by_transposed(
    a: &mut ArrayRef2<f64>,
    lower: &ArrayRef2<f64>,
    workers: Workers<'_>,
) -> Result<()> {
    let tiles = a.axis_chunks_iter_mut(Axis(0), ROWS);
    let outcomes = workers.map(tiles, |mut tile| Ok(triangle::divide_transposed(&mut tile, lower)?));
    outcomes.into_iter().collect()
}

/// A B, with A tall.
pub(super) fn multiply(a: &ArrayRef2<f64>, b: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
    let mut product = Array2::zeros((a.nrows(), b.ncols()).f());
    let tiles = product.axis_chunks_iter_mut(Axis(0), ROWS).zip(a.axis_chunks_iter(Axis(0), ROWS));
    workers.for_each(tiles, |(mut tile, a)| general_mat_mul(1.0, &a, b, 0.0, &mut tile));
    product
}

/// A^T B, with A and B tall.
pub(super) fn multiply_transposed<F: LinalgScalar + Send + Sync>(
    a: &ArrayRef2<F>,
    b: &ArrayRef2<F>,
    workers: Workers<'_>,
) -> Array2<F> {
    let mut product = Array2::zeros((a.ncols(), b.ncols()).f());
    let mut stripes: Vec<_> = product.axis_chunks_iter_mut(Axis(1), BLOCK).collect();
    sum_blocks(blocks_of(&mut stripes), a.nrows(), workers, |(i, j), rows, mut block| {
        let left = a.slice(s![rows.clone(), i..i + block.nrows()]);
        let right = b.slice(s![rows, j..j + block.ncols()]);
        multiply_alone(F::one(), &left.t(), &right, F::zero(), &mut block);
    });
    product
}

#[cfg(test)]
mod tests {
    use gpbench_testing::scattered;

    use super::*;

    fn scattered_columns(m: usize, k: usize) -> Array2<f64> {
        Array2::from_shape_fn((m, k).f(), |(i, j)| scattered(i, j))
    }

    fn largest(a: &Array2<f64>) -> f64 {
        a.iter().fold(0.0, |largest: f64, entry| largest.max(entry.abs()))
    }

    /// Products over one and several blocks and pieces, with whole and with partial ones at their ends.
    #[test]
    fn products_of_any_shape_have_the_same_bits_on_any_number_of_threads() {
        let shapes = [(1, 1, 1), (7, 3, 1), (1024, 256, 2), (1025, 257, 1), (2049, 300, 65), (2600, 70, 257)];
        for (m, k, s) in shapes {
            let (a, b) = (scattered_columns(m, k), scattered_columns(m, s));
            let tolerance = 1e-15 * (m as f64 + 1.0);
            let [one, two, five] = [1, 2, 5].map(|threads| {
                let workers = Workers { threads, pool: None };
                (multiply_transposed(&a, &b, workers), gram(&a, workers))
            });
            assert!(largest(&(&one.0 - &a.t().dot(&b))) < tolerance, "{m} {k} {s}");
            let mut square = a.t().dot(&a);
            square.indexed_iter_mut().filter(|((i, j), _)| i < j).for_each(|(_, entry)| *entry = 0.0);
            assert!(largest(&(&one.1 - &square)) < tolerance, "{m} {k}");
            assert_eq!(one, two);
            assert_eq!(one, five);
        }
    }
}
