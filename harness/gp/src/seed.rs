//! Random streams keyed by name.
//!
//! A stream is determined by a seed and a list of names (case axes, purpose, column), not by the order of draws: more
//! columns, or another order, change no other number. The key of ChaCha8 is the SHA-256 digest of
//!
//! ```text
//! "gpbench.stream/1" | seed | length of key 1 | key 1 | length of key 2 | key 2 ...
//! ```
//!
//! with integers as eight little-endian bytes: the same on every platform.

use ndarray::{Array2, ShapeBuilder};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use sha2::{Digest, Sha256};

/// The stream of `seed` under `keys`.
pub fn stream(seed: u64, keys: &[&str]) -> ChaCha8Rng {
    let mut hash = Sha256::new();
    hash.update(b"gpbench.stream/1");
    hash.update(seed.to_le_bytes());
    for key in keys {
        hash.update((key.len() as u64).to_le_bytes());
        hash.update(key.as_bytes());
    }
    ChaCha8Rng::from_seed(hash.finalize().into())
}

/// Streams of one seed that depend on the same case axes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Streams {
    seed: u64,
    axes: Vec<String>,
}

impl Streams {
    /// Streams that depend on `seed` and on `axes` (for instance a data set and a split).
    pub fn new(seed: u64, axes: &[&str]) -> Self {
        Streams { seed, axes: axes.iter().map(|&axis| axis.to_owned()).collect() }
    }

    /// Streams that depend on one more axis.
    pub fn further(&self, axis: &str) -> Self {
        let axes = self.axes.iter().cloned().chain([axis.to_owned()]);
        Streams { seed: self.seed, axes: axes.collect() }
    }

    /// The stream of a purpose.
    pub fn stream(&self, purpose: &str) -> ChaCha8Rng {
        let mut keys: Vec<&str> = self.axes.iter().map(String::as_str).collect();
        keys.push(purpose);
        stream(self.seed, &keys)
    }

    /// Standard normal numbers, `n x columns`, column-major; column `c` comes from the stream `purpose/c`.
    pub fn normals(&self, purpose: &str, n: usize, columns: usize) -> Array2<f64> {
        let mut out = Array2::zeros((n, columns).f());
        for (c, mut column) in out.columns_mut().into_iter().enumerate() {
            let mut rng = self.stream(&format!("{purpose}/{c}"));
            column.iter_mut().for_each(|value| *value = rng.sample(StandardNormal));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;

    #[test]
    fn a_stream_never_changes() {
        let mut rng = stream(7, &["pol", "probes"]);
        let first: [u64; 2] = [rng.next_u64(), rng.next_u64()];
        assert_eq!(first, KNOWN, "{first:#x?}");
    }

    /// Expected values, from an independent computation of the key and of ChaCha8.
    const KNOWN: [u64; 2] = [0x0257_4f9f_fa9d_d45f, 0x1a59_9d41_5a1c_8703];

    #[test]
    fn keys_with_the_same_text_but_other_boundaries_differ() {
        let first = |keys: &[&str]| stream(1, keys).next_u64();
        assert_ne!(first(&["ab", "c"]), first(&["a", "bc"]));
        assert_ne!(first(&["ab"]), first(&["ab", ""]));
        assert_ne!(stream(1, &["a"]).next_u64(), stream(2, &["a"]).next_u64());
    }

    #[test]
    fn a_column_does_not_depend_on_how_many_are_drawn() {
        let streams = Streams::new(3, &["bike", "0"]);
        let few = streams.normals("probes", 50, 2);
        let many = streams.normals("probes", 50, 5);
        assert_eq!(few, many.slice(ndarray::s![.., ..2]));
        assert_ne!(many.column(0), many.column(1));
    }
}
