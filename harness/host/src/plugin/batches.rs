//! Minibatches: rows drawn by the host, by streams that are keyed by the case's seed and their own number.
//!
//! A shuffle is a function of the stream and the pass, so that a place in it is two numbers, and learners of one case
//! get the same rows whatever their batch sizes are.

use std::collections::BTreeMap;

use gpbench_abi::stream::{INDEPENDENT, SAME_EACH_PASS};
use gpbench_gp::seed::Streams;
use rand::seq::{SliceRandom, index};
use serde::{Deserialize, Serialize};

/// The bits of a stream's number that are the number itself.
const NUMBER: u32 = 0xffff;

/// The places of all streams that have been drawn from.
pub(crate) type Places = BTreeMap<u32, Place>;

/// How far a stream has been drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Place {
    /// Complete passes; of independent batches, batches.
    pass: u64,
    /// Rows drawn of the current pass.
    drawn: usize,
}

/// All streams of a fit.
#[derive(Debug)]
pub(super) struct Batches {
    n: usize,
    streams: Streams,
    places: Places,
    /// Permutations of the current passes, made when they are first needed.
    shuffles: BTreeMap<u32, Shuffle>,
}

/// The permutation of a pass.
#[derive(Debug)]
struct Shuffle {
    pass: u64,
    rows: Vec<i64>,
}

impl Batches {
    /// Streams over `n` rows, at their beginning.
    pub(super) fn new(n: usize, streams: &Streams) -> Batches {
        let streams = streams.further("batch");
        Batches { n, streams, places: Places::new(), shuffles: BTreeMap::new() }
    }

    /// How far each stream has been drawn.
    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    /// Goes on from these places.
    pub(super) fn continue_from(&mut self, places: Places) {
        self.places = places;
    }

    /// The next rows of a stream, as many as `out` has room for, or fewer at the end of a pass.
    ///
    /// # Errors
    /// If there is no such stream.
    pub(super) fn draw(&mut self, stream: u32, out: &mut [i64]) -> Result<usize, String> {
        check(stream)?;
        let place = self.places.entry(stream).or_default();
        if stream & INDEPENDENT != 0 {
            let mut rng = self.streams.stream(&format!("{stream}/{}", place.pass));
            let drawn = index::sample(&mut rng, self.n, out.len().min(self.n));
            out.iter_mut().zip(drawn.iter()).for_each(|(row, drawn)| *row = drawn as i64);
            place.pass += 1;
            return Ok(drawn.len());
        }
        let pass = if stream & SAME_EACH_PASS != 0 { 0 } else { place.pass };
        let (n, streams) = (self.n, &self.streams);
        let shuffle = self.shuffles.entry(stream).or_insert_with(|| Shuffle::of(streams, stream, pass, n));
        if shuffle.pass != pass {
            *shuffle = Shuffle::of(streams, stream, pass, n);
        }
        let left = &shuffle.rows[place.drawn..];
        let count = out.len().min(left.len());
        out[..count].copy_from_slice(&left[..count]);
        place.drawn += count;
        if place.drawn == n {
            *place = Place { pass: place.pass + 1, drawn: 0 };
        }
        Ok(count)
    }
}

impl Shuffle {
    fn of(streams: &Streams, stream: u32, pass: u64, n: usize) -> Shuffle {
        let mut rows: Vec<i64> = (0..n as i64).collect();
        rows.shuffle(&mut streams.stream(&format!("{stream}/{pass}")));
        Shuffle { pass, rows }
    }
}

/// Whether a stream counts passes.
pub(super) fn counts_passes(stream: u32) -> bool {
    stream & NUMBER == 0
}

fn check(stream: u32) -> Result<(), String> {
    let bits = stream & !NUMBER;
    if bits & !(SAME_EACH_PASS | INDEPENDENT) != 0 {
        return Err(format!("stream {stream:#x} has bits beside its number that mean nothing"));
    }
    if bits == SAME_EACH_PASS | INDEPENDENT {
        return Err(format!("stream {stream:#x} cannot be both independent and the same each pass"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(n: usize) -> Batches {
        Batches::new(n, &Streams::new(3, &["rows"]))
    }

    fn pass(batches: &mut Batches, stream: u32, size: usize, n: usize) -> Vec<i64> {
        let mut rows = Vec::new();
        while rows.len() < n {
            let mut batch = vec![-1; size];
            let count = batches.draw(stream, &mut batch).unwrap();
            rows.extend(&batch[..count]);
        }
        rows
    }

    #[test]
    fn a_pass_has_every_row_once_and_another_order_the_next_time() {
        let mut batches = batches(10);
        let (first, second) = (pass(&mut batches, 0, 4, 10), pass(&mut batches, 0, 4, 10));
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..10).collect::<Vec<_>>());
        assert_ne!(first, second);
    }

    #[test]
    fn the_order_does_not_depend_on_the_batch_size_or_on_other_streams() {
        let (mut small, mut large) = (batches(10), batches(10));
        pass(&mut large, 1, 3, 10);
        for _ in 0..3 {
            assert_eq!(pass(&mut small, 0, 3, 10), pass(&mut large, 0, 10, 10));
        }
        assert_ne!(pass(&mut small, 2, 10, 10), pass(&mut small, 3, 10, 10));
    }

    #[test]
    fn subsets_stay_and_independent_batches_do_not_repeat_rows() {
        let mut batches = batches(20);
        let (first, second) =
            (pass(&mut batches, SAME_EACH_PASS, 8, 20), pass(&mut batches, SAME_EACH_PASS, 8, 20));
        assert_eq!(first, second);
        let mut seen = Vec::new();
        for _ in 0..50 {
            let mut batch = [0; 8];
            assert_eq!(batches.draw(INDEPENDENT, &mut batch), Ok(8));
            batch.sort_unstable();
            assert!(batch.windows(2).all(|pair| pair[0] < pair[1]), "{batch:?}");
            seen.extend(batch);
        }
        assert!((0..20).all(|row| seen.contains(&row)));
        let mut all = [0; 30];
        assert_eq!(batches.draw(INDEPENDENT, &mut all), Ok(20));
    }

    #[test]
    fn streams_go_on_from_their_places() {
        for stream in [0, 5, SAME_EACH_PASS | 1, INDEPENDENT | 2] {
            let mut whole = batches(10);
            let mut batch = [0; 7];
            for _ in 0..3 {
                whole.draw(stream, &mut batch).unwrap();
            }
            let mut resumed = batches(10);
            resumed.continue_from(whole.places().clone());
            for _ in 0..5 {
                let mut other = [0; 7];
                let counts = (whole.draw(stream, &mut batch), resumed.draw(stream, &mut other));
                assert_eq!((counts.0, batch), (counts.1, other));
            }
        }
    }

    #[test]
    fn unknown_bits_are_refused() {
        let mut batches = batches(4);
        assert!(batches.draw(1 << 16, &mut [0]).is_err());
        assert!(batches.draw(SAME_EACH_PASS | INDEPENDENT, &mut [0]).is_err());
        assert!(counts_passes(SAME_EACH_PASS) && !counts_passes(1));
    }
}
