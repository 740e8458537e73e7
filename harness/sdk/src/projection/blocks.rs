//! Blocks of rows, on which the system is solved exactly.

use ndarray::{Array2, Axis, ShapeBuilder};
use rand::seq::SliceRandom;

use crate::{Operator, Purpose, Result, Workers, lapack};

/// Right-hand sides solved together: enough for matrix products, and the same for any number of threads.
const WIDTH: usize = 8;

crate::choices! {
    /// Rows that share a block.
    pub enum Partition {
        /// Rows drawn at random, by the solver's seed.
        Random = "random",
        /// Rows that follow each other in the data.
        Contiguous = "contiguous",
    }
}

/// All rows in blocks, with the Cholesky factor of A between the rows of each.
#[derive(Debug, Default)]
pub struct Blocks(Vec<Block>);

#[derive(Debug)]
struct Block {
    /// Ascending.
    rows: Vec<usize>,
    /// L in the lower triangle of a column-major square: A\[rows, rows\] = L L^T.
    factor: Array2<f64>,
}

impl Blocks {
    /// Splits the rows into blocks of `block_size`, the last one smaller, and factorises A on each. Counts the squares
    /// of the blocks' sizes in entries.
    pub fn factorise(
        operator: Operator<'_>,
        block_size: usize,
        partition: Partition,
        seed: u64,
        workers: Workers<'_>,
    ) -> Result<Blocks> {
        operator.require_square()?;
        let mut blocks = Vec::new();
        for rows in split(operator.n(), block_size, partition, seed) {
            let mut factor = Array2::zeros((rows.len(), rows.len()).f());
            operator.block(&rows[..], &rows[..], &mut factor)?;
            blocks.push(Block { rows, factor });
        }
        let outcomes = workers.map(&mut blocks, |block| Ok(lapack::cholesky(&mut block.factor)?));
        outcomes.into_iter().collect::<Result<()>>()?;
        Ok(Blocks(blocks))
    }

    /// Number of blocks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no blocks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Rows of a block, ascending.
    ///
    /// # Panics
    /// If there is no such block.
    #[must_use]
    pub fn rows(&self, block: usize) -> &[usize] {
        &self.0[block].rows
    }

    /// A\[rows, rows\]^-1 b in place of b, |rows| x s and column-major, for the rows of a block.
    pub(super) fn solve(&self, block: usize, b: &mut Array2<f64>, workers: Workers<'_>) -> Result<()> {
        let factor = &self.0[block].factor;
        let groups = b.axis_chunks_iter_mut(Axis(1), WIDTH);
        let outcomes = workers.map(groups, |mut group| Ok(lapack::cholesky_solve(factor, &mut group)?));
        outcomes.into_iter().collect()
    }
}

/// Splits n rows into blocks of `block_size`, the last one smaller.
fn split(n: usize, block_size: usize, partition: Partition, seed: u64) -> Vec<Vec<usize>> {
    let mut rows: Vec<usize> = (0..n).collect();
    if partition == Partition::Random {
        rows.shuffle(&mut Purpose::Rows.generator(seed, 0));
    }
    // In order within a block, so that rows are read in their order in memory.
    rows.chunks_mut(block_size).for_each(<[usize]>::sort_unstable);
    rows.chunks(block_size).map(<[usize]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contiguous_blocks_follow_each_other() {
        assert_eq!(split(5, 2, Partition::Contiguous, 1), [vec![0, 1], vec![2, 3], vec![4]]);
        assert_eq!(split(4, 2, Partition::Contiguous, 1), [[0, 1], [2, 3]]);
        assert_eq!(split(3, 9, Partition::Contiguous, 1), [[0, 1, 2]]);
    }

    #[test]
    fn random_blocks_hold_every_row_once_and_depend_on_the_seed_alone() {
        let blocks = split(103, 10, Partition::Random, 1);
        assert!(blocks.iter().all(|rows| rows.is_sorted()));
        assert_eq!((blocks.len(), blocks[10].len()), (11, 3));
        let mut rows = blocks.concat();
        assert_ne!(rows[..10], *split(103, 10, Partition::Contiguous, 1)[0]);
        rows.sort_unstable();
        assert_eq!(rows, Vec::from_iter(0..103));
        assert_eq!(blocks, split(103, 10, Partition::Random, 1));
        assert_ne!(blocks, split(103, 10, Partition::Random, 2));
    }
}
