//! Products of tiles of a matrix with blocks of few columns, in the order in which processors read them.
//!
//! A tile is stored as strips of as many rows as fit into a cache line, each strip column by column: its product and
//! its transposed product then both read whole cache lines in order. Columns that are multiplied, and results, are stored in
//! panels, see [`Layout`]. BLAS would copy both factors of each product into an order of its own; here many products share
//! these copies.

mod layout;
mod product;
mod tile;
mod tiled;

pub use layout::{CountLanes, Layout};
pub use product::TileProduct;
pub use tile::TILE;
pub use tiled::{Tiled, add_product};

use crate::simd::Real;

/// Numbers of rows and columns of a tile are padded to a multiple of this.
pub const PAD: usize = 16;

/// `n` rounded up to whole strips.
pub fn padded(n: usize) -> usize {
    n.next_multiple_of(PAD)
}

/// Number of entries of a tile, padding included.
pub fn tile_len(rows: usize, cols: usize) -> usize {
    padded(rows) * padded(cols)
}

/// Position of entry (i, j) in a tile of `width` columns, padding included.
pub fn position<E: Real>(width: usize, i: usize, j: usize) -> usize {
    (i / E::STRIP * width + j) * E::STRIP + i % E::STRIP
}
