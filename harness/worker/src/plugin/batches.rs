//! Minibatches: rows drawn by the host, by streams that are keyed by the case's seed and their own number.
//!
//! The rule is [`gpbench_abi::Batches`], so that learners in the SDK's test host get their rows in the same way.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use gpbench_abi::{self as abi, Position};
use gpbench_gp::seed::Streams;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// The places of all streams that have been drawn from.
pub(crate) type Places = BTreeMap<u32, Place>;

/// How far a stream has been drawn: complete shuffles, and rows of the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Place(u64, u64);

/// All streams of a fit.
#[derive(Debug)]
pub(super) struct Batches {
    n: usize,
    generator: ChaCha8Rng,
    streams: BTreeMap<u32, abi::Batches>,
}

impl Batches {
    /// Streams over `n` rows, at their beginning.
    pub(super) fn new(n: usize, streams: &Streams) -> Batches {
        let key = streams.stream("batch").next_u64();
        Batches { n, generator: ChaCha8Rng::seed_from_u64(key), streams: BTreeMap::new() }
    }

    /// How far each stream has been drawn.
    pub(super) fn places(&self) -> Places {
        let place = |stream: &abi::Batches| Place(stream.position().shuffles, stream.position().given);
        self.streams.iter().map(|(number, stream)| (*number, place(stream))).collect()
    }

    /// Streams over as many rows, at these places. None if a stream cannot be there.
    pub(super) fn at(&self, places: &Places) -> Option<Batches> {
        let stream = |(number, Place(shuffles, given)): (&u32, &Place)| {
            let position = Position { shuffles: *shuffles, given: *given };
            let stream = abi::Batches::at(self.n, *number, position, |of| words(&self.generator, of))?;
            Some((*number, stream))
        };
        let streams = places.iter().map(stream).collect::<Option<_>>()?;
        Some(Batches { n: self.n, generator: self.generator.clone(), streams })
    }

    /// The next rows of a stream: `want` of them, or fewer at the end of a pass.
    ///
    /// # Errors
    /// If there is no such stream.
    pub(super) fn draw(&mut self, stream: u32, want: usize) -> Result<&[i64], String> {
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

    fn batches(seed: u64) -> Batches {
        Batches::new(10, &Streams::new(seed, &["rows"]))
    }

    #[test]
    fn streams_depend_on_the_seed_and_go_on_from_their_places() {
        for stream in [0, 5, SAME_EACH_PASS | 1, INDEPENDENT | 2] {
            let (mut whole, mut other) = (batches(3), batches(4));
            let firsts = [&mut whole, &mut other].map(|of| of.draw(stream, 10).unwrap().to_vec());
            assert_ne!(firsts[0], firsts[1]);
            whole.draw(stream, 7).unwrap();
            let mut resumed = batches(3).at(&whole.places()).unwrap();
            for _ in 0..5 {
                assert_eq!(whole.draw(stream, 7).unwrap(), resumed.draw(stream, 7).unwrap());
                assert_eq!(whole.places(), resumed.places());
            }
        }
    }

    #[test]
    fn streams_that_are_none_are_refused() {
        let mut batches = batches(1);
        assert!(batches.draw(1 << 16, 1).is_err());
        assert!(batches.draw(SAME_EACH_PASS | INDEPENDENT, 1).is_err());
        assert!(batches.at(&Places::from([(0, Place(0, 10))])).is_none());
    }
}
