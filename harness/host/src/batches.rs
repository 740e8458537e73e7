//! Minibatches: rows drawn by the host from streams that are keyed by the fit's key and the stream's number.
//!
//! The rule is [`gpbench_abi::Batches`].

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use gpbench_abi::{self as abi, Position};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The positions of all streams that have been drawn from.
pub(crate) type BatchPositions = BTreeMap<u32, BatchPosition>;

/// How far a stream has been drawn: complete shuffles, and rows of the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct BatchPosition(u64, u64);

/// All streams of a fit.
#[derive(Debug)]
pub(crate) struct Batches {
    n: usize,
    generator: ChaCha8Rng,
    streams: BTreeMap<u32, abi::Batches>,
}

impl Batches {
    /// Streams over `n` rows, at their beginning. Other keys give other rows.
    pub(crate) fn new(n: usize, key: u64) -> Batches {
        Batches { n, generator: ChaCha8Rng::seed_from_u64(key), streams: BTreeMap::new() }
    }

    /// How far each stream has been drawn.
    pub(crate) fn positions(&self) -> BatchPositions {
        let position =
            |stream: &abi::Batches| BatchPosition(stream.position().shuffles, stream.position().given);
        self.streams.iter().map(|(number, stream)| (*number, position(stream))).collect()
    }

    /// Streams over the same number of rows, at these positions. `None` if a position is impossible.
    pub(crate) fn at(&self, positions: &BatchPositions) -> Option<Batches> {
        let stream = |(number, BatchPosition(shuffles, given)): (&u32, &BatchPosition)| {
            let position = Position { shuffles: *shuffles, given: *given };
            let stream = abi::Batches::at(self.n, *number, position, |of| words(&self.generator, of))?;
            Some((*number, stream))
        };
        let streams = positions.iter().map(stream).collect::<Option<_>>()?;
        Some(Batches { n: self.n, generator: self.generator.clone(), streams })
    }

    /// The next rows of a stream: `want` of them, or fewer at the end of a pass.
    ///
    /// # Errors
    /// If there is no such stream.
    pub(crate) fn draw(&mut self, stream: u32, want: usize) -> Result<&[i64], String> {
        let generator = &self.generator;
        let drawn = match self.streams.entry(stream) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let made = abi::Batches::new(self.n, stream);
                let rule = "it is a number below 65536, plus one of the bits of `GPB_STREAM_*` at most";
                unknown.insert(made.ok_or_else(|| format!("`stream` is {stream:#x}; {rule}"))?)
            }
        };
        Ok(drawn.draw(want, |of| words(generator, of)))
    }
}

/// The random words of a stream.
fn words(generator: &ChaCha8Rng, stream: u64) -> impl FnMut() -> u64 + use<> {
    let mut generator = generator.clone();
    generator.set_stream(stream);
    move || generator.next_u64()
}

#[cfg(test)]
mod tests {
    use gpbench_abi::stream::{INDEPENDENT, SAME_EACH_PASS};

    use super::*;

    fn batches(key: u64) -> Batches {
        Batches::new(10, key)
    }

    #[test]
    fn streams_depend_on_the_key_and_go_on_from_their_positions() {
        for stream in [0, 5, SAME_EACH_PASS | 1, INDEPENDENT | 2] {
            let (mut whole, mut other) = (batches(3), batches(4));
            let firsts = [&mut whole, &mut other].map(|of| of.draw(stream, 10).unwrap().to_vec());
            assert_ne!(firsts[0], firsts[1]);
            whole.draw(stream, 7).unwrap();
            let mut resumed = batches(3).at(&whole.positions()).unwrap();
            for _ in 0..5 {
                assert_eq!(whole.draw(stream, 7).unwrap(), resumed.draw(stream, 7).unwrap());
                assert_eq!(whole.positions(), resumed.positions());
            }
        }
    }

    #[test]
    fn streams_that_are_none_are_refused() {
        let mut batches = batches(1);
        assert!(batches.draw(1 << 16, 1).is_err());
        assert!(batches.draw(SAME_EACH_PASS | INDEPENDENT, 1).is_err());
        assert!(batches.at(&BatchPositions::from([(0, BatchPosition(0, 10))])).is_none());
    }
}
