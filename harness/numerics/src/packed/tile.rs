//! Tiles of a stored matrix.

use ndarray::{ArrayRef2, Axis};

use super::{padded, position, tile_len};
use crate::simd::Real;

/// Rows and columns of a whole tile of a stored matrix: it stays in the second-level cache during its product.
pub const TILE: usize = 128;

/// Columns that are copied together, a strip of each at a time: as many as a processor reads ahead in, so that many lines of
/// the tile that follow each other are written.
const COLUMNS: usize = 16;

/// Memory for a tile of doubles or of singles, at the start of a cache line.
#[repr(C, align(64))]
#[derive(Debug, Clone)]
pub(super) struct Scratch([u64; TILE * TILE]);

impl Scratch {
    /// Zeros.
    pub(super) fn new() -> Scratch {
        Scratch([0; TILE * TILE])
    }

    /// As many numbers as there are in a tile of this shape, padding included.
    ///
    /// # Panics
    /// If that is more than a whole tile.
    pub(super) fn tile<E: Real>(&mut self, (rows, cols): (usize, usize)) -> &mut [E] {
        &mut bytemuck::cast_slice_mut(&mut self.0)[..tile_len(rows, cols)]
    }
}

/// Copies the entries of `a` into the order of tiles; padding is 0. Fast where `a` is column-major.
///
/// # Panics
/// If `tile` has not as many numbers as the padded shape.
pub(super) fn fill_tile<E: Real>(a: &ArrayRef2<E>, tile: &mut [E]) {
    let (rows, cols) = a.dim();
    assert_eq!(tile.len(), tile_len(rows, cols), "as many numbers as the padded tile");
    if rows % E::STRIP != 0 || cols != padded(cols) || rows != padded(rows) {
        tile.fill(E::from_f64(0.0));
    }
    let place = |i, j| position::<E>(padded(cols), i, j);
    for (group, columns) in a.axis_chunks_iter(Axis(1), COLUMNS).enumerate() {
        let slices: Option<Vec<&[E]>> =
            columns.columns().into_iter().map(|column| column.to_slice()).collect();
        let first = group * COLUMNS;
        let Some(slices) = slices else {
            columns.indexed_iter().for_each(|((i, j), &entry)| tile[place(i, first + j)] = entry);
            continue;
        };
        let whole = rows / E::STRIP * E::STRIP;
        for start in (0..whole).step_by(E::STRIP) {
            let strip = &mut tile[place(start, first)..][..slices.len() * E::STRIP];
            for (line, column) in bytemuck::cast_slice_mut::<E, E::Strip>(strip).iter_mut().zip(&slices) {
                // Of a known size, so that no function is called for each.
                *line = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&column[start..start + E::STRIP]));
            }
        }
        for (j, column) in slices.iter().enumerate().filter(|_| whole < rows) {
            tile[place(whole, first + j)..][..rows - whole].copy_from_slice(&column[whole..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::uniform;
    use crate::layout::column_major;

    #[test]
    fn any_order_of_entries_fills_the_same_tile() {
        let (by_rows, shape) = (uniform(37, 21, 1), (37, 21));
        let (mut one, mut two) = (Scratch::new(), Scratch::new());
        one.tile::<f64>(shape).fill(f64::NAN);
        fill_tile(&by_rows, one.tile(shape));
        fill_tile(&column_major(&by_rows), two.tile(shape));
        assert_eq!(one.tile::<f64>(shape), two.tile::<f64>(shape));
        let used = one.tile::<f64>(shape).iter().filter(|entry| **entry != 0.0).count();
        assert_eq!(used, 37 * 21, "padding is 0");
    }
}
