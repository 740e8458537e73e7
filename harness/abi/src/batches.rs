//! The rule by which a host draws minibatches.
//!
//! Rust only; no part of the C interface. The random words come from the caller, so that this crate needs no
//! generator: the host takes ChaCha8, seeded with the fit's key for batches (`seed_from_u64`) and set to the stream
//! (`set_stream`) that [`Batches::draw`] asks for.

use alloc::vec::Vec;

use crate::stream::{INDEPENDENT, SAME_EACH_PASS};

/// Relative slack of the comparison with the passes, which may be a sum of rounded fractions.
const SLACK: f64 = 1e-12;

/// A stream of minibatches over n rows.
///
/// A pass is a permutation of all rows by the Fisher-Yates shuffle, given in batches; with [`INDEPENDENT`] every
/// batch is the beginning of a shuffle. Each shuffle starts from the rows in order and has random words of its own,
/// so that [`position`](Self::position) is all that has to be kept of a stream.
#[derive(Debug, Clone)]
pub struct Batches {
    stream: u32,
    order: Vec<i64>,
    /// Entries of `order`, from the first on, that the last shuffle has chosen.
    shuffled: usize,
    position: Position,
}

/// Where a stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Position {
    /// Number of completed shuffles.
    pub shuffles: u64,
    /// Rows given of the shuffle under way.
    pub given: u64,
}

impl Batches {
    /// The stream of that number and those bits, see [`crate::stream`], over `n` rows from its beginning. None if the
    /// bits contradict each other, the number is too large or there are no rows.
    pub fn new(n: usize, stream: u32) -> Option<Batches> {
        let both = INDEPENDENT | SAME_EACH_PASS;
        let number = stream & !both;
        let is_sound = n > 0 && number < 1 << 16 && stream & both != both;
        let order = || (0..n as i64).collect();
        is_sound.then(|| Batches { stream, order: order(), shuffled: 0, position: Position::default() })
    }

    /// The stream at a position that it has had before. None if it cannot have been there.
    pub fn at<W: FnMut() -> u64>(
        n: usize,
        stream: u32,
        position: Position,
        words: impl FnOnce(u64) -> W,
    ) -> Option<Batches> {
        let mut batches = Batches::new(n, stream)?;
        batches.position = position;
        if position.given > 0 {
            let is_whole = stream & INDEPENDENT == 0 && position.given < n as u64;
            is_whole.then(|| batches.shuffle(n, words))?;
        }
        Some(batches)
    }

    /// Whether the passes of this stream are those that a budget counts: stream 0, however it is drawn.
    pub fn counts_passes(stream: u32) -> bool {
        stream & !(INDEPENDENT | SAME_EACH_PASS) == 0
    }

    /// Whether `rows` rows of such streams, taken together, are all that a number of passes grants. Those of the last
    /// batch may be more.
    pub fn are_spent(rows: u64, n: usize, passes: f64) -> bool {
        rows as f64 >= passes * n as f64 * (1.0 - SLACK)
    }

    /// Where the stream is.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The next batch: `want` rows, or fewer at the end of a pass, or all rows where `want` is larger; none if
    /// `want` is 0.
    ///
    /// `words` makes a generator of uniformly distributed 64-bit words from the number of its stream.
    pub fn draw<W: FnMut() -> u64>(&mut self, want: usize, words: impl FnOnce(u64) -> W) -> &[i64] {
        let n = self.order.len();
        let want = want.min(n);
        if want == 0 {
            return &[];
        }
        if self.stream & INDEPENDENT != 0 {
            self.shuffle(want, words);
            self.position.shuffles += 1;
            return &self.order[..want];
        }
        if self.position.given == 0 {
            self.shuffle(n, words);
        }
        let from = self.position.given as usize;
        let to = n.min(from + want);
        self.position.given = (to % n) as u64;
        self.position.shuffles += u64::from(to == n);
        &self.order[from..to]
    }

    /// Puts `count` rows, chosen at random, first.
    fn shuffle<W: FnMut() -> u64>(&mut self, count: usize, words: impl FnOnce(u64) -> W) {
        self.restore();
        let shuffle = if self.stream & SAME_EACH_PASS != 0 { 0 } else { self.position.shuffles as u32 };
        let mut words = words((u64::from(self.stream) << 32) | u64::from(shuffle));
        for i in 0..count {
            // The high half of the product is uniform below the number of rows left, but for 2^-64 of their number.
            let left = (self.order.len() - i) as u128;
            let j = i + ((u128::from(words()) * left) >> 64) as usize;
            self.order.swap(i, j);
        }
        self.shuffled = count;
    }

    /// Puts the rows in order. An entry that a shuffle has moved is among those that it chose, or has its row there.
    fn restore(&mut self) {
        for i in 0..self.shuffled {
            let row = self.order[i] as usize;
            if row >= self.shuffled {
                self.order[row] = row as i64;
            }
        }
        for i in 0..self.shuffled {
            self.order[i] = i as i64;
        }
    }
}
