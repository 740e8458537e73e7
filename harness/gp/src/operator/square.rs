//! The product with all of H, in which each tile of one triangle serves both triangles.
//!
//! The matrix is cut into squares of a few tiles a side. Square (i, j) adds to parts i and j of the result, which
//! stay in a core's cache during this, with their right-hand sides. Round `r` consists of the squares with `i + j = r
//! (mod parts)`: no two of them share a part, every pair occurs in exactly one round, and each part of the result
//! takes its sums in the order of the rounds. So threads need no accumulators of their own, and no sum depends on
//! which thread is faster. A thread that has finished takes the next square, and waits only until earlier rounds
//! have reached its parts.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};

use ndarray::{ArrayView2, ArrayViewMut2};

use super::cache::Stored;
use super::{KernelOperator, TILE};
use crate::KernelMatrix;
use crate::threads::Here;
use gpbench_numerics::packed::{Layout, TileProduct, padded};
use gpbench_numerics::simd::Real;

/// Largest number of tiles on a side of a square, and smallest number of squares on a side of the matrix (where it has
/// as many tiles), which is enough for many threads.
const SIDE: usize = 4;
const PARTS: usize = 24;

impl KernelOperator {
    /// `out = H v` with tiles of numbers `E`.
    pub(super) fn multiply_symmetric<E: Real>(&self, v: ArrayView2<f64>, out: ArrayViewMut2<f64>) {
        assert_eq!(v.nrows(), self.n(), "right-hand sides have n rows");
        assert_eq!(v.dim(), out.dim(), "the result has the shape of the right-hand sides");
        if v.is_empty() {
            return;
        }
        let layout = Layout::new::<E>(self.n(), v.ncols(), TILE);
        self.with_packed(layout, v, layout.len(), |v: &[&[E]], sums| {
            let side = (v.len() / PARTS).clamp(1, SIDE);
            let parts: Vec<Part> = sums.chunks_mut(side * layout.block_len()).map(Part::new).collect();
            let squares = squares(parts.len());
            let next = AtomicUsize::new(0);
            let stored = self.cache.begin::<E>(v.len());
            rayon::broadcast(|_| {
                while let Some(square) = squares.get(next.fetch_add(1, Ordering::Relaxed)) {
                    self.add_square(square, side, v, layout.block_len(), &parts, &stored);
                }
            });
            layout.unpack(sums, out, |to, sum| *to = sum, &Here);
        });
    }

    /// Evaluates the tiles of a square, and adds their products to its parts of the result.
    fn add_square<E: Real>(
        &self,
        square: &Square,
        side: usize,
        v: &[&[E]],
        block: usize,
        parts: &[Part],
        stored: &Stored<'_>,
    ) {
        let blocks = |part: usize| part * side..v.len().min((part + 1) * side);
        let (rows, cols) = (blocks(square.row), blocks(square.col));
        let mut above = parts[square.row].take(square.round);
        let mut below = (square.row != square.col).then(|| parts[square.col].take(square.round));
        for i in rows.clone() {
            for j in cols.start.max(i)..cols.end {
                self.with_tile(i, j, stored, |tile: &[E]| {
                    let (height, width) =
                        (padded(self.rows_of_block(i).len()), padded(self.rows_of_block(j).len()));
                    let tile = &tile[..height * width];
                    let out = above.block(i - rows.start, block);
                    TileProduct { transposed: false, tile, rows: height, cols: width, v: v[j], out }.add();
                    if i != j {
                        let out = below.as_mut().unwrap_or(&mut above).block(j - cols.start, block);
                        TileProduct { transposed: true, tile, rows: height, cols: width, v: v[i], out }.add();
                    }
                });
            }
        }
    }

    /// Calls `work` with tile (i, j), from memory or evaluated anew.
    fn with_tile<E: Real>(&self, i: usize, j: usize, stored: &Stored<'_>, mut work: impl FnMut(&[E])) {
        let (rows, cols) = (self.rows_of_block(i), self.rows_of_block(j));
        let evaluate =
            |tile: &mut [E]| self.tiles.evaluate(self.training(), &rows, self.training(), &cols, tile);
        match stored.tile((i, j), rows.len() * cols.len(), evaluate) {
            Some(tile) => work(tile),
            None => self.with_scratch(|tile| {
                evaluate(tile);
                work(tile);
            }),
        }
    }
}

/// The square of parts `row <= col`, and the round in which it is added.
struct Square {
    round: usize,
    row: usize,
    col: usize,
}

/// All squares, in the order of their rounds: `row + col = round (mod parts)`.
fn squares(parts: usize) -> Vec<Square> {
    let in_round = |round| {
        let squares = (0..parts).map(move |row| Square { round, row, col: (round + parts - row) % parts });
        squares.filter(|square| square.row <= square.col)
    };
    (0..parts).flat_map(in_round).collect()
}

/// A part of the result, which takes its sums in the order of the rounds.
struct Part<'a> {
    sums: Mutex<Sums<'a>>,
    changed: Condvar,
}

struct Sums<'a> {
    /// The round whose sums are added next.
    round: usize,
    numbers: &'a mut [f64],
}

/// Permission to add the sums of one round. Dropping it, also in a panic, admits the next round.
struct Taken<'a, 'b> {
    sums: MutexGuard<'a, Sums<'b>>,
    changed: &'a Condvar,
}

impl<'b> Part<'b> {
    /// The content of `numbers` is arbitrary.
    fn new(numbers: &'b mut [f64]) -> Part<'b> {
        Part { sums: Mutex::new(Sums { round: 0, numbers }), changed: Condvar::new() }
    }

    /// Waits until `round` may add its sums. Each part has one square in each round, and squares start in the order
    /// of the rounds, so that the earliest running square never waits.
    fn take(&self, round: usize) -> Taken<'_, 'b> {
        let sums = self.sums.lock().expect(NO_PANIC);
        let mut sums = self.changed.wait_while(sums, |sums| sums.round != round).expect(NO_PANIC);
        if round == 0 {
            sums.numbers.fill(0.0);
        }
        Taken { sums, changed: &self.changed }
    }
}

impl Taken<'_, '_> {
    /// Block `index` of the part; a block has `len` numbers.
    fn block(&mut self, index: usize, len: usize) -> &mut [f64] {
        self.sums.numbers.chunks_mut(len).nth(index).expect("a block of the part")
    }
}

impl Drop for Taken<'_, '_> {
    fn drop(&mut self) {
        self.sums.round += 1;
        self.changed.notify_all();
    }
}

const NO_PANIC: &str = "a tile that panics ends the product";

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::squares;

    #[test]
    fn every_pair_occurs_once_and_each_part_once_in_each_round() {
        for parts in 1..12 {
            let (mut pairs, mut turns) = (HashSet::new(), HashSet::new());
            for square in squares(parts) {
                assert!(pairs.insert((square.row, square.col)), "{} {}", square.row, square.col);
                for part in HashSet::from([square.row, square.col]) {
                    assert!(
                        turns.insert((square.round, part)),
                        "part {part} twice in round {}",
                        square.round
                    );
                }
            }
            assert_eq!(pairs.len(), parts * (parts + 1) / 2);
            assert_eq!(turns.len(), parts * parts);
        }
    }
}
