//! Random blocks of rows.

use gpbench_sdk::Purpose;
use gpbench_sdk::minibatch::Batches;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1};

/// The stream of weighted blocks among those of groups of rows; the first one is that of [`Batches`].
const STREAM: u64 = 1;

/// An infinite sequence of independent blocks, each of distinct rows.
#[derive(Debug, Clone)]
pub enum BlockDraws {
    /// All sets of rows are equally likely.
    Uniform(Batches),
    /// A block's rows are drawn one after the other, by the weights of the rows that are left.
    Weighted {
        /// Weights, above 0, one a row.
        weights: Vec<f64>,
        /// Rows in a block.
        size: usize,
        /// Source of the draws.
        rng: ChaCha8Rng,
    },
}

impl BlockDraws {
    /// Blocks of `size` out of n equally likely rows.
    #[must_use]
    pub fn uniform(n: usize, size: usize, seed: u64) -> BlockDraws {
        BlockDraws::Uniform(Batches::new(n, size, seed))
    }

    /// Blocks of `size` rows, by their weights.
    #[must_use]
    pub fn weighted(weights: Vec<f64>, size: usize, seed: u64) -> BlockDraws {
        let size = size.min(weights.len());
        BlockDraws::Weighted { weights, size, rng: Purpose::Rows.generator(seed, STREAM) }
    }

    /// The next block, ascending, so that rows are read in their order in memory.
    pub fn draw(&mut self) -> Vec<usize> {
        let mut rows = match self {
            BlockDraws::Uniform(batches) => batches.draw().to_vec(),
            BlockDraws::Weighted { weights, size, rng } => weighted(weights, *size, rng),
        };
        rows.sort_unstable();
        rows
    }
}

/// Draws without repeats: an exponential waiting time for each row, with its weight as the rate, and the rows that come
/// first (Efraimidis and Spirakis 2006).
fn weighted(weights: &[f64], size: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut times: Vec<(f64, usize)> = weights
        .iter()
        .enumerate()
        .map(|(row, weight)| {
            let time: f64 = Exp1.sample(rng);
            (time / weight, row)
        })
        .collect();
    if size < times.len() {
        times.select_nth_unstable_by(size, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }
    times[..size].iter().map(|(_, row)| *row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(mut draws: BlockDraws, n: usize, rounds: usize) -> Vec<f64> {
        let mut counts = vec![0.0; n];
        for _ in 0..rounds {
            let block = draws.draw();
            assert!(block.windows(2).all(|pair| pair[0] < pair[1]), "{block:?}");
            block.iter().for_each(|&row| counts[row] += 1.0 / rounds as f64);
        }
        counts
    }

    #[test]
    fn uniform_blocks_have_distinct_rows() {
        let shares = counts(BlockDraws::uniform(10, 3, 1), 10, 3000);
        assert!(shares.iter().all(|share| (share - 0.3).abs() < 0.04), "{shares:?}");
    }

    #[test]
    fn weighted_blocks_follow_their_weights() {
        let weights = vec![1.0, 2.0, 3.0, 4.0];
        let one = counts(BlockDraws::weighted(weights.clone(), 1, 1), 4, 10_000);
        // The second of two, given the first: p_i (1 + sum over j != i of p_j / (1 - p_j)).
        let two = counts(BlockDraws::weighted(weights.clone(), 2, 2), 4, 10_000);
        for (i, weight) in weights.iter().enumerate() {
            let p = weight / 10.0;
            let others: f64 =
                weights.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, w)| w / (10.0 - w)).sum();
            assert!((one[i] - p).abs() < 0.02, "{one:?}");
            assert!((two[i] - p * (1.0 + others)).abs() < 0.02, "{two:?}");
        }
    }

    #[test]
    fn a_block_is_at_most_all_rows_and_depends_on_the_seed_alone() {
        for size in [3, 9] {
            assert_eq!(BlockDraws::weighted(vec![1.0, 1e-12, 5.0], size, 0).draw(), [0, 1, 2]);
            assert_eq!(BlockDraws::uniform(3, size, 0).draw(), [0, 1, 2]);
        }
        let draw = |seed| BlockDraws::weighted((1..100).map(f64::from).collect(), 9, seed).draw();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
