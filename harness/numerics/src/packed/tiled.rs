//! Matrices in tiles, and their products.

use std::marker::PhantomData;
use std::ops::Range;

use ndarray::{ArrayRef2, Axis};

use super::product::TileProduct;
use super::tile::{Scratch, TILE, fill_tile};
use super::{padded, position, tile_len};
use crate::Aligned;
use crate::simd::Real;

/// A matrix in tiles of [`TILE`] rows and columns, for many products. The tiles of a row follow each other.
#[derive(Debug, Clone)]
pub struct Tiled<E> {
    tiles: Aligned,
    shape: (usize, usize),
    numbers: PhantomData<E>,
}

impl<E: Real> Tiled<E> {
    /// The same matrix in tiles. Takes as much memory again, and a few rows and columns more.
    pub fn new(a: &ArrayRef2<E>) -> Tiled<E> {
        let shape = a.dim();
        let mut tiles = Aligned::zeroed::<E>(tile_len(shape.0, shape.1));
        let mut rest = tiles.numbers_mut::<E>();
        for rows in a.axis_chunks_iter(Axis(0), TILE) {
            for block in rows.axis_chunks_iter(Axis(1), TILE) {
                let (tile, others) = rest.split_at_mut(tile_len(block.nrows(), block.ncols()));
                fill_tile(&block, tile);
                rest = others;
            }
        }
        Tiled { tiles, shape, numbers: PhantomData }
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }

    /// All numbers, padding included.
    pub fn numbers(&self) -> &[E] {
        self.tiles.numbers()
    }

    /// The matrix of the numbers that `of` returns for the entries.
    pub fn map<F: Real>(&self, of: impl Fn(E) -> F) -> Tiled<F> {
        let mut mapped = Tiled {
            tiles: Aligned::zeroed::<F>(tile_len(self.shape.0, self.shape.1)),
            shape: self.shape,
            numbers: PhantomData,
        };
        let (mut from, mut to) = (self.numbers(), mapped.tiles.numbers_mut::<F>());
        for row in (0..self.shape.0).step_by(TILE) {
            for column in (0..self.shape.1).step_by(TILE) {
                let (rows, cols) =
                    (padded(TILE.min(self.shape.0 - row)), padded(TILE.min(self.shape.1 - column)));
                let (tile, others) = to.split_at_mut(rows * cols);
                for i in 0..rows {
                    for j in 0..cols {
                        tile[position::<F>(cols, i, j)] = of(from[position::<E>(cols, i, j)]);
                    }
                }
                (from, to) = (&from[rows * cols..], others);
            }
        }
        mapped
    }

    /// `out += A v`, or `out += A^T v`, for some rows and columns A of the matrix, which begin with a tile and are whole tiles
    /// except for the last. The blocks `v` and `out` are packed in blocks of [`TILE`] rows.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn add_product(
        &self,
        (rows, columns): (Range<usize>, Range<usize>),
        transposed: bool,
        v: &[E],
        out: &mut [f64],
    ) {
        let (all_rows, all) = self.shape;
        let ranges = [(&rows, all_rows), (&columns, all)];
        let whole = |(range, all): (&Range<usize>, usize)| {
            range.start.is_multiple_of(TILE)
                && (range.end == all || range.end < all && range.end.is_multiple_of(TILE))
        };
        assert!(ranges.into_iter().all(whole), "tiles of the matrix");
        let mut product = Product::new((rows.len(), columns.len()), transposed, v, out);
        for row in rows.clone().step_by(TILE) {
            let height = padded(TILE.min(all_rows - row));
            let tiles = &self.numbers()[row * padded(all)..][..height * padded(all)];
            for column in columns.clone().step_by(TILE) {
                let width = padded(TILE.min(all - column));
                let tile = &tiles[column * height..][..height * width];
                product.add(tile, row - rows.start, column - columns.start, height);
            }
        }
    }
}

/// `out += A v`, or `out += A^T v`, for a stored matrix A of which each tile is copied. The blocks `v` and `out` are packed in
/// blocks of [`TILE`] rows.
///
/// # Panics
/// If the shapes do not fit.
pub fn add_product<E: Real>(a: &ArrayRef2<E>, transposed: bool, v: &[E], out: &mut [f64]) {
    let mut scratch = Scratch::new();
    let mut product = Product::new(a.dim(), transposed, v, out);
    for (i, rows) in a.axis_chunks_iter(Axis(0), TILE).enumerate() {
        for (j, block) in rows.axis_chunks_iter(Axis(1), TILE).enumerate() {
            let tile = scratch.tile(block.dim());
            fill_tile(&block, tile);
            product.add(tile, i * TILE, j * TILE, padded(block.nrows()));
        }
    }
}

/// A product that grows tile by tile.
struct Product<'a, E> {
    transposed: bool,
    v: &'a [E],
    out: &'a mut [f64],
    /// Numbers in a row of `v` and `out`.
    width: usize,
}

impl<'a, E: Real> Product<'a, E> {
    fn new((rows, cols): (usize, usize), transposed: bool, v: &'a [E], out: &'a mut [f64]) -> Self {
        let (inner, outer) = if transposed { (rows, cols) } else { (cols, rows) };
        let width = v.len().checked_div(padded(inner)).unwrap_or(0);
        let lengths = [padded(inner), padded(outer)].map(|rows| rows * width);
        assert_eq!([v.len(), out.len()], lengths, "packed blocks for the shape of the matrix");
        Product { transposed, v, out, width }
    }

    /// Adds what the tile at this position with this padded height contributes.
    fn add(&mut self, tile: &[E], row: usize, column: usize, rows: usize) {
        let cols = tile.len() / rows;
        let (of_rows, of_columns) =
            (row * self.width..(row + rows) * self.width, column * self.width..(column + cols) * self.width);
        let transposed = self.transposed;
        let (inner, outer) = if transposed { (of_rows, of_columns) } else { (of_columns, of_rows) };
        let (v, out) = (&self.v[inner], &mut self.out[outer]);
        TileProduct { transposed, tile, rows, cols, v, out }.add();
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, ShapeBuilder, s};

    use super::*;
    use crate::Alone;
    use crate::fixtures::uniform;
    use crate::layout::column_major;
    use crate::packed::Layout;

    /// What `add` adds to zeros for packed `v`, as a matrix of `rows` rows.
    fn product<E: Real>(v: &ArrayRef2<f64>, rows: usize, add: impl Fn(&[E], &mut [f64])) -> Array2<f64> {
        let layout = Layout::new::<E>(v.nrows(), v.ncols(), TILE);
        let mut packed = vec![E::from_f64(f64::NAN); layout.len()];
        layout.pack(v.view(), &mut packed, &Alone);
        let layout = layout.with_rows(rows);
        let mut sums = vec![0.0; layout.len()];
        add(&packed, &mut sums);
        let mut out = Array2::zeros((rows, v.ncols()));
        layout.unpack(&sums, out.view_mut(), |to: &mut f64, sum| *to = sum, &Alone);
        out
    }

    fn check<E: Real>(tolerance: f64) {
        let close = |a: Array2<f64>, b: Array2<f64>| (a - b).iter().all(|e| e.abs() < tolerance);
        for (rows, cols) in [(300, 400), (128, 256), (130, 17), (1, 129)] {
            let a = column_major(&uniform(rows, cols, 1));
            let mut entries = Array2::from_elem(a.dim().f(), E::from_f64(0.0));
            entries.zip_mut_with(&a, |to, &from| *to = E::from_f64(from));
            let tiled = Tiled::new(&entries);
            for columns in [1, 9, 65] {
                let (b, c) = (uniform(cols, columns, 2), uniform(rows, columns, 3));
                let forward =
                    product::<E>(&b, rows, |v, out| tiled.add_product((0..rows, 0..cols), false, v, out));
                assert_eq!(forward, product::<E>(&b, rows, |v, out| add_product(&entries, false, v, out)));
                assert!(close(forward, a.dot(&b)), "{rows} x {cols}, {columns}");
                let transposed =
                    product::<E>(&c, cols, |v, out| tiled.add_product((0..rows, 0..cols), true, v, out));
                assert_eq!(transposed, product::<E>(&c, cols, |v, out| add_product(&entries, true, v, out)));
                assert!(close(transposed, a.t().dot(&c)), "{rows} x {cols}, {columns}");
                if cols > TILE {
                    let last = product::<E>(&c, cols - TILE, |v, out| {
                        tiled.add_product((0..rows, TILE..cols), true, v, out);
                    });
                    assert!(close(last, a.slice(s![.., TILE..]).t().dot(&c)), "{rows} x {cols}, {columns}");
                }
            }
        }
    }

    #[test]
    fn other_numbers_of_the_same_entries_are_in_their_own_order() {
        for shape in [(300, 150), (17, 1)] {
            let a = column_major(&uniform(shape.0, shape.1, 1));
            let mut single = Array2::from_elem(shape.f(), 0.0_f32);
            single.zip_mut_with(&a, |single, &a| *single = a as f32);
            assert_eq!(Tiled::new(&a).map(|a| a as f32).numbers(), Tiled::new(&single).numbers());
        }
    }

    #[test]
    fn products_by_tiles_are_those_of_the_matrix() {
        check::<f64>(1e-12);
        check::<f32>(1e-3);
    }
}
