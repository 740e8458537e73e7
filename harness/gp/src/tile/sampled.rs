//! The part of one tile in samples `f_c(x) = sum_j v_jc s^2 k(x, x_j)` and in their gradients, where each column of
//! the tile is a point x of one sample c.
//!
//! With `a_j = v_jc slope(x, x_j)` and inputs in units of the length scales, the gradient is
//! `s^2 (sum_j a_j x_j - x sum_j a_j)`: it follows from the sums of `a_j` and from the transposed product of the tile,
//! filled with `a_j`, with the points `x_j`. Rows of the tile are the points `x_j`, so that vectors run along the weights
//! of one sample.

use std::marker::PhantomData;
use std::ops::Range;

use pulp::Simd;

use super::evaluate::{BATCH, Differences, Distance, Products, arguments};
use super::panels::CountLanes;
use super::points::{Part, Points};
use super::{Tiles, padded, tile_len};
use crate::kernel::{Correlation, with_family};
use crate::simd::{self, Lanes, Real, Work};

/// The weights of the rows of a tile, for each of its columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowWeights<'a> {
    /// The distinct columns of weights, one after the other: each has as many numbers as the tile has rows, those of
    /// padding 0.
    pub(crate) columns: &'a [f64],
    /// Which of them belongs to each column of the tile, padding included.
    pub(crate) of: &'a [usize],
}

/// Sums over all rows, and the last tile.
pub(crate) struct Sampled<'a> {
    /// Filled with `v_j slope_j`.
    pub(crate) tile: &'a mut [f64],
    /// Sums of `v_j k_j`, [`Tiles::sums_len`] numbers.
    pub(crate) values: &'a mut [f64],
    /// Sums of `v_j slope_j`, as many.
    pub(crate) slopes: &'a mut [f64],
}

impl Tiles {
    /// Numbers of the sums for `columns` columns: one vector each.
    pub(crate) fn sums_len(columns: usize) -> usize {
        padded(columns) * f64::dispatch(simd::arch(), CountLanes)
    }

    /// Each column's sum, without the signal variance.
    pub(crate) fn sums(sums: &[f64]) -> impl Iterator<Item = f64> {
        sums.chunks_exact(f64::dispatch(simd::arch(), CountLanes)).map(|vector| vector.iter().sum())
    }

    /// Adds a tile between the rows of `points` and the columns of `at` to the sums, and fills the tile.
    pub(crate) fn add_sampled(
        &self,
        points: (&Points, &Range<usize>),
        at: (&Points, &Range<usize>),
        weights: RowWeights<'_>,
        out: Sampled<'_>,
    ) {
        with_family!(self.family, C => match self.products::<f64>() {
            true => add::<Products, C>(points, at, weights, out),
            false => add::<Differences, C>(points, at, weights, out),
        });
    }
}

fn add<D: Distance, C: Correlation>(
    (points, rows): (&Points, &Range<usize>),
    (at, cols): (&Points, &Range<usize>),
    weights: RowWeights<'_>,
    out: Sampled<'_>,
) {
    let (rows, cols) = (points.part(rows), at.part(cols));
    let Sampled { tile, values, slopes } = out;
    let tile = &mut tile[..tile_len(rows.norms.len(), cols.norms.len())];
    let (d, how) = (points.d(), PhantomData::<(D, C)>);
    let columns = weights.columns;
    f64::dispatch(
        simd::arch(),
        Add { rows, cols, d, weights: columns, of: weights.of, tile, values, slopes, how },
    );
}

/// Adds one tile.
struct Add<'a, E: Real, D, C> {
    rows: Part<'a, E>,
    cols: Part<'a, E>,
    d: usize,
    weights: &'a [E],
    of: &'a [usize],
    tile: &'a mut [E],
    values: &'a mut [E],
    slopes: &'a mut [E],
    how: PhantomData<(D, C)>,
}

impl<E: Real, D: Distance, C: Correlation> Work<E> for Add<'_, E, D, C> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S)
    where
        E: Lanes<S>,
    {
        match E::STRIP / E::LANES {
            1 => self.columns::<S, 1, 8, 8>(simd),
            2 => self.columns::<S, 2, 4, 8>(simd),
            4 => self.columns::<S, 4, 2, 8>(simd),
            8 => self.columns::<S, 8, 1, 8>(simd),
            _ => self.columns::<S, 16, 1, 16>(simd),
        }
    }
}

impl<E: Real, D: Distance, C: Correlation> Add<'_, E, D, C> {
    #[inline(always)]
    fn columns<S: Simd, const NV: usize, const NJ: usize, const SUMS: usize>(self, simd: S)
    where
        E: Lanes<S>,
    {
        let Add { rows, cols, d, weights, of, tile, values, slopes, how: _ } = self;
        let (height, width) = (rows.norms.len() / E::STRIP, cols.norms.len());
        let (norms_x, _) = bytemuck::cast_slice::<E, E::V>(rows.norms).as_chunks::<NV>();
        let points = bytemuck::cast_slice::<E::Strip, E::V>(rows.strips).as_chunks::<NV>().0;
        let weights = bytemuck::cast_slice::<E, E::V>(weights).as_chunks::<NV>().0;
        let tile = bytemuck::cast_slice_mut::<E, E::V>(tile);
        let values = bytemuck::cast_slice_mut::<E, E::V>(values);
        let slopes = bytemuck::cast_slice_mut::<E, E::V>(slopes);
        for (strip, (out, norm_x)) in tile.chunks_exact_mut(width * NV).zip(norms_x).enumerate() {
            let x = &points[strip * d..(strip + 1) * d];
            arguments::<S, E, D, C, NV, NJ, SUMS>(simd, x, norm_x, cols, out);
            for (batch, out) in out.as_chunks_mut::<BATCH>().0.iter_mut().enumerate() {
                let [k, slope] = C::with_slope::<S, E, BATCH>(simd, *out);
                for i in 0..BATCH {
                    let (column, vector) = ((batch * BATCH + i) / NV, (batch * BATCH + i) % NV);
                    let weight = weights[of[column] * height + strip][vector];
                    values[column] = E::mul_add(simd, weight, k[i], values[column]);
                    out[i] = E::mul(simd, weight, slope[i]);
                    slopes[column] = E::add(simd, slopes[column], out[i]);
                }
            }
        }
    }
}
