//! The product with all of H: each tile of one triangle serves both.
//!
//! Tile (i, j) adds to blocks i and j of the result. In round `r` the tiles with
//! `i + j = r (mod blocks)` are evaluated in parallel: no two of them share a
//! block, every pair occurs in exactly one round, and each block receives its
//! sums in the order of the rounds. So there is no accumulator per thread, and
//! no sum depends on which thread is faster.

use std::sync::Mutex;

use ndarray::{ArrayView2, ArrayViewMut2};
use rayon::prelude::*;

use super::{KernelOperator, LinearOperator, TILE};
use crate::aligned::Aligned;
use crate::simd::{self, Real};
use crate::tile::{Forward, Layout, Transposed, padded};

impl KernelOperator {
    /// `out = H v` with tiles of numbers `E`.
    pub(super) fn multiply_symmetric<E: Real>(&self, v: ArrayView2<f64>, out: ArrayViewMut2<f64>) {
        assert_eq!(v.nrows(), self.n(), "right-hand sides have n rows");
        assert_eq!(v.dim(), out.dim(), "the result has the shape of the right-hand sides");
        if v.is_empty() {
            return;
        }
        let layout = Layout::new::<E>(self.n(), v.ncols(), TILE);
        self.pool.install(|| {
            let packed = layout.pack::<E>(v);
            let v: Vec<&[E]> = packed.numbers()[..layout.len()].chunks(layout.block_len()).collect();
            let mut sums = Aligned::zeroed::<f64>(layout.len());
            let blocks = sums.numbers_mut()[..layout.len()].chunks_mut(layout.block_len());
            let blocks: Vec<Mutex<&mut [f64]>> = blocks.map(Mutex::new).collect();
            for round in 0..v.len() {
                let pairs = disjoint_pairs(round, v.len()).into_par_iter().with_max_len(1);
                pairs.for_each(|(i, j)| self.add_tile(i, j, &v, &blocks));
            }
            layout.unpack(sums.numbers(), out, |to, sum| *to = sum);
        });
    }

    /// Evaluates tile (i, j) and adds its products to blocks i and j.
    fn add_tile<E: Real>(&self, i: usize, j: usize, v: &[&[E]], sums: &[Mutex<&mut [f64]>]) {
        let range = |block: usize| block * TILE..self.n().min((block + 1) * TILE);
        let (rows, cols) = (range(i), range(j));
        let evaluate =
            |tile: &mut [E]| self.tiles.evaluate(self.training(), &rows, self.training(), &cols, tile);
        let multiply = |tile: &[E]| {
            let (rows, cols) = (padded(rows.len()), padded(cols.len()));
            let tile = &tile[..rows * cols];
            let mut out = sums[i].lock().expect(NO_PANIC);
            E::dispatch(simd::arch(), Forward { tile, rows, cols, v: v[j], out: &mut out });
            if i != j {
                let mut out = sums[j].lock().expect(NO_PANIC);
                E::dispatch(simd::arch(), Transposed { tile, rows, cols, v: v[i], out: &mut out });
            }
        };
        match self.cache.tile((i, j), sums.len(), rows.len() * cols.len(), evaluate) {
            Some(tile) => multiply(tile),
            None => self.scratch.with(|tile| {
                evaluate(tile);
                multiply(tile);
            }),
        }
    }
}

/// Pairs `i <= j` of round `round`: `i + j = round (mod blocks)`.
fn disjoint_pairs(round: usize, blocks: usize) -> Vec<(usize, usize)> {
    (0..blocks).map(|i| (i, (round + blocks - i) % blocks)).filter(|(i, j)| i <= j).collect()
}

const NO_PANIC: &str = "a tile that panics ends the product";

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::disjoint_pairs;

    #[test]
    fn every_pair_occurs_once_and_rounds_are_disjoint() {
        for blocks in 1..12 {
            let mut seen = HashSet::new();
            for round in 0..blocks {
                let mut busy = HashSet::new();
                for (i, j) in disjoint_pairs(round, blocks) {
                    assert!(busy.insert(i), "block {i} twice in round {round} of {blocks}");
                    assert!(i == j || busy.insert(j), "block {j} twice in round {round} of {blocks}");
                    assert!(seen.insert((i, j)));
                }
            }
            assert_eq!(seen.len(), blocks * (blocks + 1) / 2);
        }
    }
}
