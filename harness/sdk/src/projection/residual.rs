//! The residual, with its norm on each block.

use ndarray::{Array2, Axis, ShapeBuilder};

use super::Blocks;
use crate::{Error, Problem, Result, Workers};

/// A finished projection.
#[derive(Debug)]
pub struct Projection {
    /// Its block.
    pub block: usize,
    /// The change of the block's rows of the iterate, relative to the right-hand sides' norms.
    pub change: Array2<f64>,
}

/// The residual of the problem's `x`, relative to the right-hand sides' norms.
#[derive(Debug)]
pub struct Residual {
    /// b - A x, n x s and column-major. After changing it, call [`measure`](Self::measure).
    pub r: Array2<f64>,
    /// Norms of the right-hand sides, which `r` is relative to.
    pub scales: Vec<f64>,
    /// Squared norms, one row a block and one column a right-hand side.
    squares: Array2<f64>,
}

impl Residual {
    /// The residual of the iterate in `x`: one product with A, unless the iterate is zero.
    pub fn of(problem: &mut Problem<'_>, blocks: &Blocks) -> Result<Residual> {
        let (r, scales) = problem.relative_residual()?;
        let squares = Array2::zeros((blocks.len(), scales.len()).f());
        let mut residual = Residual { r, scales, squares };
        residual.measure(blocks, problem.workers());
        Ok(residual)
    }

    /// Computes the norms again after a change of `r`.
    pub fn measure(&mut self, blocks: &Blocks, workers: Workers<'_>) {
        let columns = self.r.columns().into_iter().zip(self.squares.columns_mut());
        workers.for_each(columns, |(r, mut squares)| {
            for (block, square) in squares.iter_mut().enumerate() {
                *square = blocks.rows(block).iter().map(|&row| r[row] * r[row]).sum();
            }
        });
    }

    /// Norms relative to the right-hand sides', one a column.
    pub fn norms(&self) -> Vec<f64> {
        self.squares.sum_axis(Axis(0)).iter().map(|square| square.sqrt()).collect()
    }

    /// The block with the largest squared norm, summed over all columns; the first among equals.
    pub fn largest_block(&self) -> Result<usize> {
        let sums = self.squares.sum_axis(Axis(1));
        let largest = sums.iter().enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best });
        largest.map(|(block, _)| block).ok_or_else(|| Error::new("there is no block"))
    }

    /// Solves exactly on the block with the largest residual; counts the entries of its columns. None, without a
    /// change, if the solution is not finite.
    pub fn project(&mut self, problem: &mut Problem<'_>, blocks: &Blocks) -> Result<Option<Projection>> {
        let block = self.largest_block()?;
        let (rows, workers) = (blocks.rows(block), problem.workers());
        let Residual { r, scales, .. } = self;
        // A[i, i]^-1 (-r[i]): negative, since `update_columns` adds to r.
        let mut change = Array2::from_shape_fn((rows.len(), scales.len()).f(), |(k, j)| -r[[rows[k], j]]);
        blocks.solve(block, &mut change, workers)?;
        if change.iter().any(|entry| !entry.is_finite()) {
            return Ok(None);
        }
        // Before x is changed, since the call may be refused.
        problem.operator().update_columns(rows, &change, r)?;
        change.mapv_inplace(|entry| -entry);
        let mut x = problem.x_mut();
        for ((mut x, change), scale) in x.columns_mut().into_iter().zip(change.columns()).zip(scales) {
            rows.iter().zip(change).for_each(|(&row, change)| x[row] += *scale * change);
        }
        self.measure(blocks, workers);
        Ok(Some(Projection { block, change }))
    }
}
