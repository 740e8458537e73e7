//! The product with all of H: each tile of one triangle serves both.
//!
//! Tile (i, j) adds to blocks i and j of the result. In round `r` the tiles with
//! `i + j = r (mod blocks)` are evaluated in parallel: no two of them share a
//! block, every pair occurs in exactly one round, and each block receives its
//! sums in the order of the rounds. So there is no accumulator per thread, and
//! no sum depends on which thread is faster.

use std::sync::Mutex;

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder};
use rayon::prelude::*;

use super::{KernelOperator, LinearOperator, TILE, add_product};

impl KernelOperator {
    pub(super) fn multiply_symmetric(&self, v: ArrayView2<f64>, mut out: ArrayViewMut2<f64>) {
        assert_eq!(v.nrows(), self.n(), "right-hand sides have n rows");
        assert_eq!(v.dim(), out.dim(), "the result has the shape of the right-hand sides");
        let parts: Vec<_> = v.axis_chunks_iter(Axis(0), TILE).collect();
        let blocks = parts.len();
        let sums: Vec<_> = parts.iter().map(|part| Mutex::new(Array2::zeros(part.dim().f()))).collect();
        self.pool.install(|| {
            for round in 0..blocks {
                disjoint_pairs(round, blocks)
                    .into_par_iter()
                    .with_max_len(1)
                    .for_each(|(i, j)| self.add_tile(i, j, &parts, &sums));
            }
        });
        for (mut to, sum) in out.axis_chunks_iter_mut(Axis(0), TILE).zip(sums) {
            to.assign(&sum.into_inner().expect(NO_PANIC));
        }
    }

    /// Evaluates tile (i, j) and adds its products to blocks i and j.
    fn add_tile(&self, i: usize, j: usize, parts: &[ArrayView2<f64>], sums: &[Mutex<Array2<f64>>]) {
        let rows = i * TILE..i * TILE + parts[i].nrows();
        let cols = j * TILE..j * TILE + parts[j].nrows();
        self.scratch.with(rows.len(), cols.len(), |mut tile| {
            self.tiles.evaluate(self.training(), rows, self.training(), cols, tile.view_mut());
            add_product(tile.view(), parts[j], &mut sums[i].lock().expect(NO_PANIC).view_mut());
            if i != j {
                add_product(tile.t(), parts[i], &mut sums[j].lock().expect(NO_PANIC).view_mut());
            }
        });
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
