//! Tiles of the whole product that stay in memory from one product to the next.
//!
//! As many as fit into what is allowed, the first ones in the order of pairs, in the
//! precision of the first product. A kept tile has the bits of one evaluated afresh,
//! so that results do not depend on how many there are.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::TILE;
use crate::aligned::Aligned;
use crate::simd::Real;
use crate::tile::tile_len;

/// Room for some tiles.
#[derive(Debug, Default)]
pub(super) struct Cache {
    /// Bytes that tiles may take.
    capacity: usize,
    tiles: OnceLock<Tiles>,
    /// Entries of the tiles that are there.
    entries: AtomicUsize,
}

#[derive(Debug)]
struct Tiles {
    /// Bytes of an entry.
    precision: usize,
    /// Tile (i, j), i <= j, at `j (j + 1) / 2 + i`, once it is there.
    slots: Vec<OnceLock<Aligned>>,
}

impl Cache {
    pub(super) fn new(capacity: usize) -> Cache {
        Cache { capacity, ..Cache::default() }
    }

    /// Bytes of the tiles that are kept, or will be: at most the capacity.
    pub(super) fn bytes(&self) -> usize {
        self.tiles.get().map_or(0, |tiles| tiles.slots.len() * bytes(tiles.precision))
    }

    /// Tile (i, j), i <= j, of so many blocks, from memory or by `evaluate`; none if there is no room for it.
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

    /// Entries that a product in this precision finds in memory.
    pub(super) fn entries<E: Real>(&self) -> usize {
        match self.tiles.get() {
            Some(tiles) if tiles.precision == size_of::<E>() => self.entries.load(Ordering::Relaxed),
            _ => 0,
        }
    }
}

/// Bytes of a tile whose entries have so many.
fn bytes(precision: usize) -> usize {
    tile_len(TILE, TILE) * precision
}
