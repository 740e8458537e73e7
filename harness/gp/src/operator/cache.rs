//! Tiles of H that stay in memory from one product to the next.
//!
//! The first product in a precision stores nothing, since a solver may never multiply in that precision again: one in
//! mixed precision begins a warm start with a residual in double precision. From the second product on, the first tiles
//! in the order of pairs are stored, as many as fit into the capacity. Where products repeat in both precisions, tiles in
//! single precision displace those in double: such a solver takes many products in single precision for each residual in
//! double precision. A stored tile has the bits of a new evaluation, so that results do not depend on the capacity.
//!
//! Only products with all of H use stored tiles. A product with some rows or columns of H would read one number, or one
//! column, of each cache line or strip, which takes longer than evaluating them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::{TILE, UNPOISONED};
use crate::aligned::Aligned;
use crate::simd::Real;
use crate::tile::tile_len;

/// Stored tiles.
#[derive(Debug, Default)]
pub(super) struct Cache {
    /// Most bytes of tiles.
    capacity: usize,
    history: Mutex<History>,
    /// Entries that products have found stored.
    found: AtomicUsize,
}

/// The products so far, and the tiles stored for the next.
#[derive(Debug, Default)]
struct History {
    /// Bytes of an entry in the precisions of these products.
    precisions: Vec<usize>,
    tiles: Option<Arc<Tiles>>,
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
        let history = self.history.lock().expect(UNPOISONED);
        history.tiles.as_ref().map_or(0, |tiles| tiles.slots.len() * bytes(tiles.precision))
    }

    /// Entries that products have found stored.
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
        let mut history = self.history.lock().expect(UNPOISONED);
        if !history.precisions.contains(&precision) {
            history.precisions.push(precision);
            return None;
        }
        if history.tiles.as_ref().is_none_or(|tiles| precision < tiles.precision) {
            let count = (self.capacity / bytes(precision)).min(blocks * (blocks + 1) / 2);
            // Freed first: both may not fit into memory.
            history.tiles = None;
            let slots = (0..count).map(|_| OnceLock::new()).collect();
            history.tiles = Some(Arc::new(Tiles { precision, slots }));
        }
        history.tiles.clone().filter(|tiles| tiles.precision == precision)
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
