//! Dense tiles of a kernel matrix: all entries are evaluated and used here.
//!
//! Squared distances come either from products of coordinates, `|x|^2 + |z|^2 - 2 x.z`, which take one multiply-add
//! an input but have an error of about `eps |x|^2`, or from differences of coordinates, which take two instructions
//! an input. Differences are used
//!
//! - for few inputs, where they cost little,
//! - where the error of products would matter: for the Matérn-1/2 correlation, which is `1 - r` near 0, so that an
//!   error `e` in `r^2` becomes `sqrt(e)`; and for tight clusters far apart with little noise,
//! - for factorisations.
//!
//! A tile is stored as strips of as many rows as fit into a cache line, each strip column by column: its product and
//! its transposed product then both read whole cache lines in order.

mod distance;
mod evaluate;
mod parts;
mod points;
mod sampled;
mod strips;
mod waves;
mod weigh;

use std::marker::PhantomData;
use std::ops::Range;

use ndarray::ArrayViewMut2;

use self::distance::{Differences, Distance, Products};
use self::evaluate::Evaluate;
pub use self::parts::{TileParts, tile_parts};
pub(crate) use self::points::{Factors, Points};
pub(crate) use self::sampled::{RowWeights, Sampled, VectorSums};
pub(crate) use self::waves::{Waves, angles};
use self::weigh::Weigh;
use crate::kernel::{Correlation, with_family};
use crate::{Family, Kernel};
pub(crate) use gpbench_numerics::packed::tile_len;
use gpbench_numerics::packed::{CountLanes, padded, position};
use gpbench_numerics::simd::{self, Real};

/// Up to this many inputs differences are as fast as products.
const FEW_INPUTS: usize = 6;
/// Largest error of distances by products, as a share of the noise variance. A larger error would act like additional
/// noise between rows that nearly coincide.
const PRODUCT_ERROR: f64 = 1e-4;
/// The same in single precision, as a share of the signal variance: about the rounding error of the entries.
const SINGLE_PRODUCT_ERROR: f64 = 1e-5;

/// The training row of each point. The entry between a training row and itself is set to `s^2 + noise^2` rather
/// than computed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Identity<'a> {
    /// Point `i` is training row `i`.
    Training,
    /// Point `i` is training row `rows[i]`.
    Selected(&'a [usize]),
    /// No point counts as a training row.
    Foreign,
}

/// A set of points, and the training rows that they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) points: &'a Points,
    pub(crate) identity: Identity<'a>,
}

/// Evaluates tiles of `s^2 k`, plus the noise variance between a training row and itself.
#[derive(Debug, Clone)]
pub(crate) struct Tiles {
    family: Family,
    variance: f64,
    /// Entry between a training row and itself: `s^2 + noise^2`.
    diagonal: f64,
    /// Whether squared distances come from products, in double and in single precision.
    products: bool,
    single_products: bool,
}

impl Tiles {
    /// Tiles of H by the fastest way that is accurate for points of squared norms up to `largest_norm`.
    pub(crate) fn new(kernel: &Kernel, noise_scale: f64, largest_norm: f64) -> Self {
        let (variance, noise) = (kernel.variance(), noise_scale * noise_scale);
        let smooth = kernel.d() > FEW_INPUTS && kernel.is_smooth_at_zero();
        let products = smooth && f64::EPSILON * largest_norm * variance <= PRODUCT_ERROR * noise;
        let single_products = smooth && f64::from(f32::EPSILON) * largest_norm <= SINGLE_PRODUCT_ERROR;
        let diagonal = variance + noise;
        Tiles { family: kernel.family, variance, diagonal, products, single_products }
    }

    /// Tiles of H from differences of coordinates, for any family.
    pub(crate) fn accurate(kernel: &Kernel, noise_scale: f64) -> Self {
        Tiles { products: false, single_products: false, ..Tiles::new(kernel, noise_scale, 0.0) }
    }

    pub(crate) fn diagonal(&self) -> f64 {
        self.diagonal
    }

    /// Whether squared distances of numbers `E` come from products.
    fn products<E: Real>(&self) -> bool {
        if size_of::<E>() == size_of::<f64>() { self.products } else { self.single_products }
    }

    /// `H[rows of a, cols of b]`, in the order of tiles. Both ranges start at whole strips and are padded to whole
    /// strips with arbitrary entries.
    pub(crate) fn evaluate<E: Real>(
        &self,
        a: Side<'_>,
        rows: &Range<usize>,
        b: Side<'_>,
        cols: &Range<usize>,
        tile: &mut [E],
    ) {
        let work = Part { tiles: self, a, rows, b, cols };
        with_family!(self.family, C => match self.products::<E>() {
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
    pub(crate) fn weigh<E: Real>(
        &self,
        points: &Points,
        rows: &Range<usize>,
        cols: &Range<usize>,
        factors: &Factors<E>,
        out: Weighed<'_, E>,
    ) -> f64 {
        with_family!(self.family, C => match self.products::<E>() {
            true => out.fill::<Products, C>(points, rows, cols, factors),
            false => out.fill::<Differences, C>(points, rows, cols, factors),
        })
    }

    /// `out = H[rows of a, cols of b]`; `tile` is memory for the tile.
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

/// Memory for the results of [`Tiles::weigh`].
pub(crate) struct Weighed<'a, E> {
    pub(crate) tile: &'a mut [E],
    pub(crate) row_sums: &'a mut [E],
    pub(crate) column_sums: &'a mut [E],
}

impl<E: Real> Weighed<'_, E> {
    fn fill<D: Distance, C: Correlation>(
        self,
        points: &Points,
        rows: &Range<usize>,
        cols: &Range<usize>,
        factors: &Factors<E>,
    ) -> f64 {
        let Weighed { tile, row_sums, column_sums } = self;
        let (left, right, s) = (factors.left(rows), factors.right(cols), factors.s());
        let (width, d) = (padded(cols.len()), points.d());
        let lanes = E::dispatch(simd::arch(), CountLanes);
        let mut vectors = [[E::from_f64(0.0); MOST_LANES]; MOST_COLUMNS];
        let vectors = vectors.as_flattened_mut();
        let work = Weigh {
            rows: points.part(rows),
            cols: points.part(cols),
            d,
            left,
            right,
            s,
            tile: &mut tile[..tile_len(rows.len(), cols.len())],
            row_sums,
            column_sums: &mut vectors[..width * lanes],
            how: PhantomData::<(D, C)>,
        };
        let total = E::dispatch(simd::arch(), work);
        for (sum, vector) in column_sums.iter_mut().zip(vectors.chunks_exact(lanes)) {
            *sum = E::from_f64(vector.iter().map(|part| part.to_f64()).sum());
        }
        total
    }
}

/// Largest number of rows and of columns of a tile in [`Tiles::weigh`], and of numbers of a vector.
const MOST_COLUMNS: usize = 128;
const MOST_LANES: usize = 16;

/// The rows and columns of one tile.
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

/// Positions (i, j) inside a tile whose row and column are the same training row.
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
