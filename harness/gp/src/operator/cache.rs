//! Tiles of H that stay in memory from one product to the next.
//!
//! The first tiles in the order of pairs are stored, as many as fit into the capacity. A stored tile has the bits of a
//! new evaluation, so that results do not depend on the capacity.
//!
//! All stored tiles have one precision, that of the first product. The first product in single precision replaces
//! tiles in double precision, because a solver in mixed precision takes several products in single precision for each
//! residual in double precision.
//!
//! Only products with all of H use stored tiles. A tile contains only a few of the rows or columns of a random
//! selection. Reading them takes one cache line per entry of a row or per strip of a column, which is not faster than
//! evaluating them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::TILE;
use crate::scratch::UNPOISONED;
use crate::tile::tile_len;
use gpbench_numerics::Aligned;
use gpbench_numerics::simd::Real;

/// Stored tiles.
#[derive(Debug, Default)]
pub(super) struct Cache {
    /// Largest number of bytes of tiles.
    capacity: usize,
    /// The tiles stored for the next product.
    tiles: Mutex<Option<Arc<Tiles>>>,
    /// Number of entries that products have read from stored tiles.
    found: AtomicUsize,
}

/// Tiles in one precision.
#[derive(Debug)]
struct Tiles {
    /// Bytes of an entry.
    precision: usize,
    /// Tile (i, j), i <= j, at `j (j + 1) / 2 + i`, once it is evaluated.
    slots: Vec<OnceLock<Aligned>>,
}

/// The stored tiles of one product.
pub(super) struct Stored<'c> {
    tiles: Option<Arc<Tiles>>,
    found: &'c AtomicUsize,
}

impl Cache {
    pub(super) fn new(capacity: usize) -> Cache {
        Cache { capacity, ..Cache::default() }
    }

    /// Bytes of the tiles that are or will be stored: at most the capacity.
    pub(super) fn bytes(&self) -> usize {
        let tiles = self.tiles.lock().expect(UNPOISONED);
        tiles.as_ref().map_or(0, |tiles| tiles.slots.len() * bytes(tiles.precision))
    }

    /// Number of entries that products have read from stored tiles.
    pub(super) fn found(&self) -> usize {
        self.found.load(Ordering::Relaxed)
    }

    /// The stored tiles for a product that begins, with `blocks` x `blocks` tiles of numbers `E`.
    pub(super) fn begin<E: Real>(&self, blocks: usize) -> Stored<'_> {
        let tiles = (self.capacity > 0).then(|| self.tiles::<E>(blocks)).flatten();
        Stored { tiles, found: &self.found }
    }

    fn tiles<E: Real>(&self, blocks: usize) -> Option<Arc<Tiles>> {
        let precision = size_of::<E>();
        let mut stored = self.tiles.lock().expect(UNPOISONED);
        if stored.as_ref().is_none_or(|tiles| precision < tiles.precision) {
            let count = (self.capacity / bytes(precision)).min(blocks * (blocks + 1) / 2);
            // Freed first: both may not fit into memory.
            *stored = None;
            let slots = (0..count).map(|_| OnceLock::new()).collect();
            *stored = Some(Arc::new(Tiles { precision, slots }));
        }
        stored.clone().filter(|tiles| tiles.precision == precision)
    }
}

impl Stored<'_> {
    /// Tile (i, j), i <= j, with `entries` entries, from memory or by `evaluate`; `None` if it is not to be stored.
    pub(super) fn tile<E: Real>(
        &self,
        (i, j): (usize, usize),
        entries: usize,
        evaluate: impl FnOnce(&mut [E]),
    ) -> Option<&[E]> {
        let slot = self.tiles.as_ref()?.slots.get(j * (j + 1) / 2 + i)?;
        if slot.get().is_some() {
            self.found.fetch_add(entries, Ordering::Relaxed);
        }
        let tile = slot.get_or_init(|| {
            let mut tile = Aligned::zeroed::<E>(tile_len(TILE, TILE));
            evaluate(tile.numbers_mut());
            tile
        });
        Some(tile.numbers())
    }
}

/// Bytes of a tile with entries of `precision` bytes.
fn bytes(precision: usize) -> usize {
    tile_len(TILE, TILE) * precision
}
