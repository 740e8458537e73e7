//! The part of one tile in samples `f_c(x) = sum_j v_jc k(x, x_j)` and in their gradients, where each column of the
//! tile is a point x with the weights of its own sample c.
//!
//! With `a_j = v_jc slope(x, x_j)` and inputs in units of the length scales, the gradient is
//! `sum_j a_j x_j - x sum_j a_j`: it follows from the sums of `a_j`, and from the transposed product of the tile, filled
//! with `a_j`, with the points `x_j`. Rows of the tile are the points `x_j`, so that vectors run along the weights of
//! one sample.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;
use pulp::Simd;

use super::distance::{Differences, Distance, Products};
use super::points::{Part, Points};
use super::strips::{BATCH, Place, Step, by_registers, each_batch};
use super::{Tiles, tile_len};
use crate::kernel::{Correlation, with_family};
use gpbench_numerics::Aligned;
use gpbench_numerics::packed::{CountLanes, padded};
use gpbench_numerics::simd::{self, Lanes, Real, Work};

/// The weights of the rows of a tile, for each of its columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowWeights<'a> {
    /// The distinct columns of weights, one after the other, padded with 0 to the rows of the tile.
    pub(crate) distinct: &'a [f64],
    /// Index in `distinct` of the weights of each column of the tile, padding included.
    pub(crate) of: &'a [usize],
}

/// A vector of sums for each column of a tile.
#[derive(Debug)]
pub(crate) struct VectorSums {
    numbers: Aligned,
    len: usize,
}

impl VectorSums {
    /// Sums of 0 for `columns` columns.
    pub(crate) fn new(columns: usize) -> VectorSums {
        let len = padded(columns) * f64::dispatch(simd::arch(), CountLanes);
        VectorSums { numbers: Aligned::zeroed::<f64>(len), len }
    }

    pub(super) fn numbers_mut(&mut self) -> &mut [f64] {
        &mut self.numbers.numbers_mut()[..self.len]
    }

    /// The sum of each column, padding included.
    pub(crate) fn each(&self) -> impl Iterator<Item = f64> {
        let vectors =
            self.numbers.numbers()[..self.len].chunks_exact(f64::dispatch(simd::arch(), CountLanes));
        vectors.map(|vector| vector.iter().sum())
    }
}

/// Sums of samples over the tiles so far.
pub(crate) struct Sampled<'a> {
    /// The tile, which is filled with `a_j`.
    pub(crate) tile: &'a mut [f64],
    /// Sums of `v_j k_j`.
    pub(crate) values: &'a mut VectorSums,
    /// Sums of `a_j`.
    pub(crate) slopes: &'a mut VectorSums,
}

impl Tiles {
    /// Adds a tile between the rows of `points` and the columns of `at` to the sums, and fills the tile; without the
    /// signal variance.
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
    let work = Add {
        rows: points.part(rows),
        cols: at.part(cols),
        d: points.d(),
        weights: weights.distinct,
        of: weights.of,
        tile: &mut out.tile[..tile_len(rows.len(), cols.len())],
        values: out.values.numbers_mut(),
        slopes: out.slopes.numbers_mut(),
        how: PhantomData::<(D, C)>,
    };
    f64::dispatch(simd::arch(), work);
}

/// Adds one tile.
pub(super) struct Add<'a, E: Real, D, C> {
    pub(super) rows: Part<'a, E>,
    pub(super) cols: Part<'a, E>,
    pub(super) d: usize,
    pub(super) weights: &'a [E],
    pub(super) of: &'a [usize],
    pub(super) tile: &'a mut [E],
    pub(super) values: &'a mut [E],
    pub(super) slopes: &'a mut [E],
    pub(super) how: PhantomData<(D, C)>,
}

impl<E: Real, D: Distance, C: Correlation> Work<E> for Add<'_, E, D, C> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S)
    where
        E: Lanes<S>,
    {
        by_registers!(E, S, self, simd)
    }
}

impl<E: Real, D: Distance, C: Correlation> Add<'_, E, D, C> {
    #[inline(always)]
    fn columns<S: Simd, const NS: usize, const NV: usize, const NJ: usize>(self, simd: S)
    where
        E: Lanes<S>,
    {
        let Add { rows, cols, d, weights, of, tile, values, slopes, how: _ } = self;
        let mut step = Sums {
            height: rows.norms.len() / E::STRIP,
            weights: bytemuck::cast_slice::<E, E::V>(weights).as_chunks::<NV>().0,
            of,
            values: bytemuck::cast_slice_mut::<E, E::V>(values),
            slopes: bytemuck::cast_slice_mut::<E, E::V>(slopes),
            how: PhantomData::<C>,
        };
        each_batch::<S, E, D, C, _, NS, NV, NJ>(simd, (rows, cols), d, tile, &mut step);
    }
}

/// Replaces arguments by `a_j`, and adds up the sums of each column.
struct Sums<'a, V, C, const NV: usize> {
    /// Strips of each distinct column of weights.
    height: usize,
    weights: &'a [[V; NV]],
    of: &'a [usize],
    values: &'a mut [V],
    slopes: &'a mut [V],
    how: PhantomData<C>,
}

impl<S: Simd, E, V, C, const NV: usize, const NJ: usize> Step<S, E, NV, NJ> for Sums<'_, V, C, NV>
where
    E: Lanes<S, V = V>,
    V: Pod,
    C: Correlation,
{
    #[inline(always)]
    fn batch(&mut self, simd: S, Place { strip, vector }: Place, entries: &mut [V; BATCH]) {
        let [k, slope] = C::with_slope::<S, E, BATCH>(simd, *entries);
        let (mut weights, mut a) = (k, slope);
        for i in 0..BATCH {
            let (column, v) = ((vector + i) / NV, (vector + i) % NV);
            weights[i] = self.weights[self.of[column] * self.height + strip][v];
            a[i] = E::mul(simd, weights[i], slope[i]);
        }
        // One loop for each kind of sums, so that vectors of the same column are added in a register.
        for i in 0..BATCH {
            let sum = &mut self.values[(vector + i) / NV];
            *sum = E::mul_add(simd, weights[i], k[i], *sum);
        }
        for (i, &a) in a.iter().enumerate() {
            let sum = &mut self.slopes[(vector + i) / NV];
            *sum = E::add(simd, *sum, a);
        }
        *entries = a;
    }
}
