//! Streams of random numbers, one for each purpose.
//!
//! A solver has one seed. Numbers for two purposes that come from one stream are dependent: a truncation drawn from
//! the stream of the preconditioner's pivots follows from the first pivot, and an estimate that is unbiased for each
//! preconditioner is biased on average. Each purpose therefore has streams of its own.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Bits of a stream's number within its purpose.
const BITS: u32 = 48;

/// Purposes of random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Groups of rows: minibatches and partitions.
    Rows = 0,
    /// Seeds of random features.
    Features = 1,
    /// Truncations of series.
    Truncation = 2,
    /// Pivots of a partial Cholesky factor.
    Pivots = 3,
    /// The Gaussian matrix of a sketch, a stream for each column.
    Sketch = 4,
}

impl Purpose {
    /// The ChaCha8 generator of this seed and of the stream `number`, below 2^48, of this purpose.
    #[must_use]
    pub fn generator(self, seed: u64, number: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(((self as u64) << BITS) | number);
        rng
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;

    #[test]
    fn purposes_and_numbers_have_their_own_streams() {
        let purposes =
            [Purpose::Rows, Purpose::Features, Purpose::Truncation, Purpose::Pivots, Purpose::Sketch];
        let mut first: Vec<u64> = Vec::new();
        for purpose in purposes {
            first.extend((0..3).map(|number| purpose.generator(7, number).random::<u64>()));
            assert_eq!(first.last(), Some(&purpose.generator(7, 2).random()));
        }
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), 15);
    }
}
