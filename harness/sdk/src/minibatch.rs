//! Random minibatches of rows, for solvers that use some rows of A at each step.
//!
//! Solvers with the same seed and batch size get the same batches, so that only their steps differ.

mod residual;

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

pub use residual::{ColumnEstimate, ResidualEstimate};

use crate::Purpose;

/// An infinite sequence of minibatches. Each is a set of distinct rows, and all sets of that size are equally
/// likely.
///
/// Rows are distinct within a batch, as in the published algorithm, but batches are independent: the batches of an
/// epoch miss some rows and contain others twice. The random stream is that of
/// [`Purpose::Rows`], the same on every machine.
#[derive(Debug, Clone)]
pub struct Batches {
    rng: ChaCha8Rng,
    /// The rows, in the order that the last draw left.
    order: Vec<usize>,
    size: usize,
}

impl Batches {
    /// Batches of `size` out of `n` rows, or of all rows if there are fewer.
    #[must_use]
    pub fn new(n: usize, size: usize, seed: u64) -> Batches {
        Batches::of_stream(n, size, seed, 0)
    }

    /// As [`new`](Self::new), from another stream of the same purpose: sets of rows that are independent of the
    /// batches.
    #[must_use]
    pub fn of_stream(n: usize, size: usize, seed: u64, number: u64) -> Batches {
        Batches { rng: Purpose::Rows.generator(seed, number), order: (0..n).collect(), size: size.min(n) }
    }

    /// Rows in a batch.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The next batch, by a partial Fisher-Yates shuffle, which may start from any order.
    pub fn draw(&mut self) -> &[usize] {
        self.order.partial_shuffle(&mut self.rng, self.size).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_distinct_and_equally_likely() {
        let (n, size, draws) = (10, 3, 3000);
        let mut batches = Batches::new(n, size, 1);
        let mut count = [0; 10];
        for _ in 0..draws {
            let mut batch = batches.draw().to_vec();
            batch.sort_unstable();
            batch.dedup();
            assert_eq!(batch.len(), size);
            batch.iter().for_each(|&row| count[row] += 1);
        }
        // 900 expected, with a standard deviation of 25.
        assert!(count.iter().all(|count| (775..1025).contains(count)), "{count:?}");
    }

    #[test]
    fn a_stream_never_changes() {
        let draw = |seed| {
            let mut batches = Batches::new(100, 5, seed);
            [batches.draw().to_vec(), batches.draw().to_vec()]
        };
        assert_eq!(draw(7), KNOWN);
        assert_ne!(draw(8), KNOWN);
    }

    /// Draws that must never change.
    const KNOWN: [[usize; 5]; 2] = [[36, 30, 84, 13, 38], [89, 28, 2, 18, 52]];

    #[test]
    fn a_batch_larger_than_the_data_is_all_of_it() {
        let mut batches = Batches::new(4, 500, 0);
        assert_eq!(batches.size(), 4);
        for _ in 0..3 {
            let mut batch = batches.draw().to_vec();
            batch.sort_unstable();
            assert_eq!(batch, [0, 1, 2, 3]);
        }
    }
}
