//! Tiles of H that stay in memory from one product to the next.
//!
//! The cache stores the first tiles in the order of pairs, as many as fit into its capacity, in the precision of the
//! first product. A stored tile has the bits of a new evaluation, so that results do not depend on the capacity.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::TILE;
use crate::aligned::Aligned;
use crate::simd::Real;
use crate::tile::tile_len;

/// Stored tiles.
#[derive(Debug, Default)]
pub(super) struct Cache {
    /// Most bytes of tiles.
    capacity: usize,
    tiles: OnceLock<Tiles>,
    /// Entries of the tiles that are stored so far.
    entries: AtomicUsize,
}

#[derive(Debug)]
struct Tiles {
    /// Bytes of an entry.
    precision: usize,
    /// Tile (i, j), i <= j, at `j (j + 1) / 2 + i`, once it is evaluated.
    slots: Vec<OnceLock<Aligned>>,
}

impl Cache {
    pub(super) fn new(capacity: usize) -> Cache {
        Cache { capacity, ..Cache::default() }
    }

    /// Bytes of the tiles that are or will be stored: at most the capacity.
    pub(super) fn bytes(&self) -> usize {
        self.tiles.get().map_or(0, |tiles| tiles.slots.len() * bytes(tiles.precision))
    }

    /// Tile (i, j), i <= j, of `blocks` x `blocks`, from memory or by `evaluate`; `None` if it is not to be stored.
    pub(super) fn tile<E: Real>(
        &self,
        (i, j): (usize, usize),
        blocks: usize,
        entries: usize,
        evaluate: impl FnOnce(&mut [E]),
    ) -> Option<&[E]> {
        if self.capacity == 0 {
            return None;
        }
        let tiles = self.tiles.get_or_init(|| {
            let count = (self.capacity / bytes(size_of::<E>())).min(blocks * (blocks + 1) / 2);
            Tiles { precision: size_of::<E>(), slots: (0..count).map(|_| OnceLock::new()).collect() }
        });
        if tiles.precision != size_of::<E>() {
            return None;
        }
        let slot = tiles.slots.get(j * (j + 1) / 2 + i)?;
        let tile = slot.get_or_init(|| {
            let mut tile = Aligned::zeroed::<E>(tile_len(TILE, TILE));
            evaluate(tile.numbers_mut());
            self.entries.fetch_add(entries, Ordering::Relaxed);
            tile
        });
        Some(tile.numbers())
    }

    /// Stored entries that a product in this precision uses.
    pub(super) fn entries<E: Real>(&self) -> usize {
        match self.tiles.get() {
            Some(tiles) if tiles.precision == size_of::<E>() => self.entries.load(Ordering::Relaxed),
            _ => 0,
        }
    }
}

/// Bytes of a tile with entries of `precision` bytes.
fn bytes(precision: usize) -> usize {
    tile_len(TILE, TILE) * precision
}
