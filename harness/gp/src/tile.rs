//! Dense tiles of a kernel matrix: where all entries are evaluated and used.
//!
//! Squared distances come either from products, `|x|^2 + |z|^2 - 2 x.z`, which
//! take one multiply-add for each input but lose about `eps |x|^2`, or from direct
//! differences, which take two instructions. Differences are taken where they cost
//! little (few inputs), where the loss would show (a Matérn-1/2 correlation is
//! `1 - r` near 0, so an error `e` in `r^2` becomes `sqrt(e)`; tight clusters far
//! apart beside little noise), and where a factorisation asks for them.
//!
//! A tile is stored as strips of a cache line's worth of rows, and in each strip
//! column after column: both its product and its transposed product then read
//! whole cache lines in order.

mod evaluate;
mod panels;
mod points;
mod product;
mod weigh;

use std::marker::PhantomData;
use std::ops::Range;

use ndarray::ArrayViewMut2;

use self::evaluate::{Differences, Distance, Evaluate, Products};
use self::panels::CountLanes;
pub(crate) use self::panels::Layout;
pub(crate) use self::points::{Factors, Points, padded};
pub(crate) use self::product::{Forward, Transposed};
use self::weigh::Weigh;
use crate::kernel::{Correlation, with_family};
use crate::simd::{self, Real};
use crate::{Family, Kernel};

/// Up to this many inputs direct differences are as fast as a product.
const FEW_INPUTS: usize = 6;
/// Share of the noise variance that the loss of products may come to. Beyond it,
/// rows that nearly coincide would see noise that is not there.
const LOSS: f64 = 1e-4;
/// Loss of products in single precision, relative to the signal's variance, that is within what
/// rounding the entries costs anyway.
const SINGLE_LOSS: f64 = 1e-5;

/// Which training row each point is: an entry where a row meets itself is set,
/// not computed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Identity<'a> {
    /// Point `i` is training row `i`.
    Training,
    /// Point `i` is training row `rows[i]`.
    Selected(&'a [usize]),
    /// No point is a training row.
    Foreign,
}

/// A set of points and who they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) points: &'a Points,
    pub(crate) identity: Identity<'a>,
}

/// Evaluates tiles of `s^2 k`, with another value where a row meets itself.
#[derive(Debug, Clone)]
pub(crate) struct Tiles {
    family: Family,
    variance: f64,
    /// Entry where a training row meets itself: `s^2 + noise^2`.
    diagonal: f64,
    /// Squared distances are taken from products, in double and in single precision.
    products: bool,
    single_products: bool,
}

impl Tiles {
    /// Tiles of H in the fastest accurate way, for points of squared norms up to `largest_norm`.
    pub(crate) fn new(kernel: &Kernel, noise_scale: f64, largest_norm: f64) -> Self {
        let (variance, noise) = (kernel.variance(), noise_scale * noise_scale);
        let smooth = kernel.d() > FEW_INPUTS && kernel.is_smooth_at_zero();
        let products = smooth && f64::EPSILON * largest_norm * variance <= LOSS * noise;
        let single_products = smooth && f64::from(f32::EPSILON) * largest_norm <= SINGLE_LOSS;
        let diagonal = variance + noise;
        Tiles { family: kernel.family, variance, diagonal, products, single_products }
    }

    /// Tiles of H from direct differences, whatever the family.
    pub(crate) fn accurate(kernel: &Kernel, noise_scale: f64) -> Self {
        Tiles { products: false, single_products: false, ..Tiles::new(kernel, noise_scale, 0.0) }
    }

    pub(crate) fn diagonal(&self) -> f64 {
        self.diagonal
    }

    /// `H[rows of a, cols of b]`, in the order of tiles; both ranges start at whole strips, and are made up
    /// to whole strips with entries that mean nothing.
    pub(crate) fn evaluate<E: Real>(
        &self,
        a: Side<'_>,
        rows: &Range<usize>,
        b: Side<'_>,
        cols: &Range<usize>,
        tile: &mut [E],
    ) {
        let work = Part { tiles: self, a, rows, b, cols };
        let products = if size_of::<E>() == size_of::<f64>() { self.products } else { self.single_products };
        with_family!(self.family, C => match products {
            true => work.evaluate::<E, Products, C>(tile),
            false => work.evaluate::<E, Differences, C>(tile),
        });
        let width = padded(cols.len());
        for (i, j) in coincidences(a.identity, rows.clone(), b.identity, cols.clone()) {
            tile[position::<E>(width, i, j)] = E::from_f64(self.diagonal);
        }
    }

    /// Fills a tile with `M = G * slope`, adds its sums over columns to `row_sums`, and puts those over rows
    /// into `column_sums`. Returns the sum of `G_ij k_ij`.
    pub(crate) fn weigh(
        &self,
        points: &Points,
        rows: &Range<usize>,
        cols: &Range<usize>,
        factors: &Factors,
        out: Weighed<'_>,
    ) -> f64 {
        with_family!(self.family, C => match self.products {
            true => out.fill::<Products, C>(points, rows, cols, factors),
            false => out.fill::<Differences, C>(points, rows, cols, factors),
        })
    }

    /// `out = H[rows of a, cols of b]`, by way of `tile`.
    pub(crate) fn evaluate_dense(
        &self,
        a: Side<'_>,
        rows: &Range<usize>,
        b: Side<'_>,
        cols: &Range<usize>,
        tile: &mut [f64],
        mut out: ArrayViewMut2<f64>,
    ) {
        assert_eq!(out.dim(), (rows.len(), cols.len()), "the part has the shape of its ranges");
        self.evaluate(a, rows, b, cols, tile);
        let width = padded(cols.len());
        for (j, mut column) in out.columns_mut().into_iter().enumerate() {
            for (i, value) in column.iter_mut().enumerate() {
                *value = tile[position::<f64>(width, i, j)];
            }
        }
    }
}

/// Where [`Tiles::weigh`] puts its results.
pub(crate) struct Weighed<'a> {
    pub(crate) tile: &'a mut [f64],
    pub(crate) row_sums: &'a mut [f64],
    pub(crate) column_sums: &'a mut [f64],
}

impl Weighed<'_> {
    fn fill<D: Distance, C: Correlation>(
        self,
        points: &Points,
        rows: &Range<usize>,
        cols: &Range<usize>,
        factors: &Factors,
    ) -> f64 {
        let Weighed { tile, row_sums, column_sums } = self;
        let (left, right, s) = (factors.left(rows), factors.right(cols), factors.s());
        let (width, d) = (padded(cols.len()), points.d());
        let lanes = f64::dispatch(simd::arch(), CountLanes);
        let mut vectors = [0.0; MOST_COLUMNS * MOST_LANES];
        let mut weights = [0.0; MOST_COLUMNS * f64::STRIP];
        let work = Weigh {
            rows: points.part(rows),
            cols: points.part(cols),
            d,
            left,
            right,
            s,
            tile: &mut tile[..tile_len(rows.len(), cols.len())],
            weights: &mut weights[..width * f64::STRIP],
            row_sums,
            column_sums: &mut vectors[..width * lanes],
            how: PhantomData::<(D, C)>,
        };
        let total = f64::dispatch(simd::arch(), work);
        for (sum, vector) in column_sums.iter_mut().zip(vectors.chunks_exact(lanes)) {
            *sum = vector.iter().sum();
        }
        total
    }
}

/// Most columns of a tile that is weighed, and most doubles of a vector.
const MOST_COLUMNS: usize = 256;
const MOST_LANES: usize = 8;

/// The number of entries of a tile, those made up included.
pub(crate) fn tile_len(rows: usize, cols: usize) -> usize {
    padded(rows) * padded(cols)
}

/// Where entry (i, j) of a tile of `width` columns stands.
fn position<E: Real>(width: usize, i: usize, j: usize) -> usize {
    (i / E::STRIP * width + j) * E::STRIP + i % E::STRIP
}

/// What one tile is made of.
struct Part<'a> {
    tiles: &'a Tiles,
    a: Side<'a>,
    rows: &'a Range<usize>,
    b: Side<'a>,
    cols: &'a Range<usize>,
}

impl Part<'_> {
    fn evaluate<E: Real, D: Distance, C: Correlation>(&self, tile: &mut [E]) {
        let (rows, cols) = (self.a.points.part::<E>(self.rows), self.b.points.part::<E>(self.cols));
        let (d, variance) = (self.a.points.d(), self.tiles.variance);
        E::dispatch(simd::arch(), Evaluate { rows, cols, d, variance, tile, how: PhantomData::<(D, C)> });
    }
}

/// Positions inside a tile where a training row meets itself.
fn coincidences(
    a: Identity<'_>,
    rows: Range<usize>,
    b: Identity<'_>,
    cols: Range<usize>,
) -> Vec<(usize, usize)> {
    match (a, b) {
        (Identity::Foreign, _) | (_, Identity::Foreign) => Vec::new(),
        (Identity::Training, Identity::Training) => {
            let (start, end) = (rows.start.max(cols.start), rows.end.min(cols.end));
            (start..end).map(|row| (row - rows.start, row - cols.start)).collect()
        }
        (Identity::Training, Identity::Selected(list)) => {
            let inside = list[cols].iter().enumerate().filter(|(_, row)| rows.contains(row));
            inside.map(|(j, row)| (row - rows.start, j)).collect()
        }
        (Identity::Selected(_), Identity::Training) => {
            coincidences(b, cols, a, rows).into_iter().map(|(j, i)| (i, j)).collect()
        }
        (Identity::Selected(left), Identity::Selected(right)) => {
            let mut found = Vec::new();
            for (i, row) in left[rows].iter().enumerate() {
                let matches = right[cols.clone()].iter().enumerate().filter(|(_, other)| *other == row);
                found.extend(matches.map(|(j, _)| (i, j)));
            }
            found
        }
    }
}

#[cfg(test)]
mod tests;
