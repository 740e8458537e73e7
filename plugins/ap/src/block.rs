//! Blocks of rows, on which the system is solved exactly.

use gpbench_sdk::ndarray::{Array2, Axis, ShapeBuilder};
use gpbench_sdk::{Operator, Result, Workers, lapack};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::Partition;

/// Right-hand sides solved at a time: enough to be a matrix product, and the same for any number of
/// threads.
const WIDTH: usize = 8;

/// A block of rows, with the Cholesky factor of A between them.
#[derive(Debug)]
pub(crate) struct Block {
    /// Ascending.
    pub(crate) rows: Vec<usize>,
    /// L in the lower triangle of a column-major square: A\[rows, rows\] = L L^T.
    factor: Array2<f64>,
}

impl Block {
    /// Factorises A on each set of rows, using the square of its size in entries.
    pub(crate) fn factorise(
        operator: Operator<'_>,
        partition: Vec<Vec<usize>>,
        workers: Workers<'_>,
    ) -> Result<Vec<Block>> {
        let mut blocks = Vec::with_capacity(partition.len());
        for rows in partition {
            let mut factor = Array2::zeros((rows.len(), rows.len()).f());
            operator.block(&rows[..], &rows[..], &mut factor)?;
            blocks.push(Block { rows, factor });
        }
        let mut outcomes: Vec<Result<()>> = blocks.iter().map(|_| Ok(())).collect();
        workers.for_each(blocks.iter_mut().zip(&mut outcomes), |(block, outcome)| {
            *outcome = lapack::cholesky(&mut block.factor);
        });
        outcomes.into_iter().collect::<Result<()>>()?;
        Ok(blocks)
    }

    /// A\[rows, rows\]^-1 b in place of b, |rows| x s and column-major.
    pub(crate) fn solve(&self, b: &mut Array2<f64>, workers: Workers<'_>) -> Result<()> {
        let mut outcomes: Vec<Result<()>> = (0..b.ncols().div_ceil(WIDTH)).map(|_| Ok(())).collect();
        let groups = b.axis_chunks_iter_mut(Axis(1), WIDTH);
        workers.for_each(groups.zip(&mut outcomes), |(mut group, outcome)| {
            *outcome = lapack::cholesky_solve(&self.factor, &mut group);
        });
        outcomes.into_iter().collect()
    }
}

/// Splits n rows into blocks of `block_size`, and one of what is left.
pub(crate) fn split(n: usize, block_size: usize, partition: Partition, seed: u64) -> Vec<Vec<usize>> {
    let mut rows: Vec<usize> = (0..n).collect();
    if partition == Partition::Random {
        rows.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    }
    // In order within a block, so that its rows are read in the order in which they lie in memory.
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
