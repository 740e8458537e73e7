//! A block of points, each with the weights of a sample of its own.

use std::ops::Range;

use ndarray::ArrayView2;

use crate::tile::Points;
use gpbench_numerics::packed::padded;

/// Points of one column of tiles.
#[derive(Debug)]
pub(super) struct Block<'a> {
    /// All points, in the units of the kernel's terms and of the prior's.
    pub(super) kernel: &'a Points,
    pub(super) prior: &'a Points,
    /// Indices of the points of the block.
    pub(super) range: Range<usize>,
    /// Samples of the block, each once.
    samples: Vec<usize>,
    /// Index in `samples` of each point's sample, padding included.
    pub(super) of: Vec<usize>,
}

impl<'a> Block<'a> {
    /// The points of `range`, of samples `owner`.
    pub(super) fn new(
        kernel: &'a Points,
        prior: &'a Points,
        range: Range<usize>,
        owner: &[usize],
    ) -> Block<'a> {
        let owner = &owner[range.clone()];
        let mut samples = owner.to_vec();
        samples.sort_unstable();
        samples.dedup();
        let place = |owner| samples.binary_search(owner).expect("a sample of the block");
        let mut of: Vec<usize> = owner.iter().map(place).collect();
        of.resize(padded(range.len()), 0);
        Block { kernel, prior, range, samples, of }
    }

    /// Number of weights for `rows` rows.
    pub(super) fn weights_len(&self, rows: usize) -> usize {
        self.samples.len() * padded(rows)
    }

    /// Copies the weights of the block's samples from all weights `v` of some rows, padded with 0.
    pub(super) fn copy_weights(&self, v: ArrayView2<f64>, weights: &mut [f64]) {
        for (to, &sample) in weights.chunks_exact_mut(padded(v.nrows())).zip(&self.samples) {
            let (to, padding) = to.split_at_mut(v.nrows());
            to.iter_mut().zip(v.column(sample)).for_each(|(to, &from)| *to = from);
            padding.fill(0.0);
        }
    }
}
