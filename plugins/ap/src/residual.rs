//! The residual, and how much of it lies in each block.

use gpbench_sdk::ndarray::{Array2, ArrayView1, Axis, ShapeBuilder};
use gpbench_sdk::{Error, Problem, Result, Workers};

use crate::block::Block;

/// The residual of the problem's `x`, relative to the right-hand sides' norms.
#[derive(Debug)]
pub(crate) struct Residual {
    /// n x s.
    pub(crate) r: Array2<f64>,
    /// Norms of the right-hand sides.
    pub(crate) scales: Vec<f64>,
    /// Squared norms, one row a block and one column a right-hand side.
    squares: Array2<f64>,
}

impl Residual {
    /// The residual of the iterate that `x` holds: one product with A, unless that is zero.
    pub(crate) fn of(problem: &mut Problem<'_>, blocks: &[Block]) -> Result<Residual> {
        let (operator, b) = (problem.operator(), problem.rhs());
        let mut r = Array2::zeros(b.dim().f());
        if problem.x().iter().any(|&x| x != 0.0) {
            operator.apply(&problem.x(), &mut r)?;
        }
        r.zip_mut_with(&b, |r, b| *r = b - *r);
        let scales: Vec<f64> = b.columns().into_iter().map(norm).collect();
        for (j, mut r) in r.columns_mut().into_iter().enumerate() {
            if scales[j] > 0.0 {
                r /= scales[j];
            } else {
                // Nothing to solve, and nothing to be relative to.
                r.fill(0.0);
                problem.x_mut().column_mut(j).fill(0.0);
            }
        }
        let squares = Array2::zeros((blocks.len(), scales.len()).f());
        let mut residual = Residual { r, scales, squares };
        residual.measure(blocks, problem.workers());
        Ok(residual)
    }

    /// Takes the norms anew after a change of `r`.
    pub(crate) fn measure(&mut self, blocks: &[Block], workers: Workers<'_>) {
        let columns = self.r.columns().into_iter().zip(self.squares.columns_mut());
        workers.for_each(columns, |(r, squares)| {
            for (block, square) in blocks.iter().zip(squares) {
                *square = block.rows.iter().map(|&row| r[row] * r[row]).sum();
            }
        });
    }

    /// Norms relative to the right-hand sides', one a column.
    pub(crate) fn norms(&self) -> Vec<f64> {
        self.squares.sum_axis(Axis(0)).iter().map(|square| square.sqrt()).collect()
    }

    /// The block with the largest squared norm, summed over all columns; the first among equals.
    pub(crate) fn largest_block(&self) -> Result<usize> {
        let sums = self.squares.sum_axis(Axis(1));
        let largest = sums.iter().enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best });
        largest.map(|(block, _)| block).ok_or_else(|| Error::new("there is no block"))
    }
}

fn norm(column: ArrayView1<'_, f64>) -> f64 {
    column.iter().map(|entry| entry * entry).sum::<f64>().sqrt()
}
