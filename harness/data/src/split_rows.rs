//! The rows of a split, and how rows are drawn.

use gpbench_gp::seed;
use rand::RngExt;

/// The rows of a split, each list in the order of the file.
pub(crate) struct SplitRows {
    pub(crate) train: Vec<usize>,
    pub(crate) validation: Vec<usize>,
    pub(crate) test: Vec<usize>,
}

/// Training rows of a drawn split of n rows: all but a tenth, which is rounded and at least one.
pub fn drawn_training_rows(n: usize) -> usize {
    let n_test = (n as f64 / 10.0).round().max(1.0) as usize;
    n.saturating_sub(n_test)
}

/// Draws `count` different numbers below `n` by the first steps of a Fisher-Yates shuffle.
pub(crate) fn draw(n: usize, count: usize, seed: u64, purpose: &str) -> Vec<usize> {
    let mut rng = seed::stream(seed, &[purpose]);
    let mut rows: Vec<usize> = (0..n).collect();
    for place in 0..count {
        // u64 rather than usize, so that 32-bit machines draw the same rows.
        let other = rng.random_range(place as u64..n as u64) as usize;
        rows.swap(place, other);
    }
    rows.truncate(count);
    rows
}
