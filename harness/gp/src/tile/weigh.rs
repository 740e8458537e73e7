//! The part of one tile in the derivatives of `sum_ij G_ij s^2 k_ij`, with `G = U W^T` given by its factors.
//!
//! The derivative by a length scale is `dk_ij/dl_c = slope_ij (x_ic - z_jc)^2 / l_c`, for inputs in units of the
//! length scales. So the derivatives by all length scales follow from the sums over rows and over columns of M,
//! with `M_ij = G_ij slope_ij`, and from its product with the inputs.

use std::marker::PhantomData;

use bytemuck::Pod;
use pulp::Simd;

use super::MOST_COLUMNS;
use super::distance::{Distance, Products};
use super::points::{GROUP, Part};
use super::strips::{BATCH, Place, Step, by_registers, each_batch, pair_sums, vectors};
use crate::kernel::Correlation;
use gpbench_numerics::simd::{Lanes, Real, Work};

/// Fills a tile with M and adds up its sums.
pub(crate) struct Weigh<'a, E: Real, D, C> {
    pub(crate) rows: Part<'a, E>,
    pub(crate) cols: Part<'a, E>,
    pub(crate) d: usize,
    /// Rows of U as strips and of W as groups, `s` numbers each.
    pub(crate) left: &'a [E::Strip],
    pub(crate) right: &'a [[E; GROUP]],
    pub(crate) s: usize,
    /// M, in the order of tiles.
    pub(crate) tile: &'a mut [E],
    /// Sums of M over columns, one per row, to which those of the tile are added.
    pub(crate) row_sums: &'a mut [E],
    /// Sums of M over the tile's rows: one vector per column, whose numbers the caller sums.
    pub(crate) column_sums: &'a mut [E],
    pub(crate) how: PhantomData<(D, C)>,
}

impl<E: Real, D: Distance, C: Correlation> Work<E> for Weigh<'_, E, D, C> {
    /// Sum of `G_ij k_ij`.
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> f64
    where
        E: Lanes<S>,
    {
        by_registers!(E, S, self, simd)
    }
}

impl<E: Real, D: Distance, C: Correlation> Weigh<'_, E, D, C> {
    #[inline(always)]
    fn columns<S: Simd, const NS: usize, const NV: usize, const NJ: usize>(self, simd: S) -> f64
    where
        E: Lanes<S>,
    {
        let Weigh { rows, cols, d, left, right, s, tile, row_sums, column_sums, how: _ } = self;
        let zero = E::splat(simd, 0.0);
        let mut step = Weighted {
            left,
            right,
            s,
            first: 0,
            weights: [[[zero; NV]; GROUP]; NS],
            totals: [[zero; BATCH]; MOST_STRIPS],
            row_sums: bytemuck::cast_slice_mut::<E, E::V>(row_sums).as_chunks_mut::<NV>().0,
            column_sums: bytemuck::cast_slice_mut::<E, E::V>(column_sums),
            how: PhantomData::<C>,
        };
        each_batch::<S, E, D, C, _, NS, NV, NJ>(simd, (rows, cols), d, tile, &mut step);
        let mut total = 0.0;
        for &vector in step.totals[..rows.norms.len() / E::STRIP].as_flattened() {
            let mut sum = [0.0; 16];
            E::add_to(simd, vector, &mut sum[..E::LANES]);
            total += sum.iter().sum::<f64>();
        }
        total
    }
}

/// Largest number of strips of a tile. The shortest strips, those of double precision, have 8 rows.
const MOST_STRIPS: usize = MOST_COLUMNS / 8;

/// Replaces arguments by entries of M and adds these up, for `NS` strips at a time.
struct Weighted<'a, E: Real, V, C, const NS: usize, const NV: usize> {
    left: &'a [E::Strip],
    right: &'a [[E; GROUP]],
    s: usize,
    /// The first of the strips whose entries of G are in `weights`, for one group of columns.
    first: usize,
    weights: [[[V; NV]; GROUP]; NS],
    /// Sums of `G_ij k_ij` of each strip.
    totals: [[V; BATCH]; MOST_STRIPS],
    row_sums: &'a mut [[V; NV]],
    column_sums: &'a mut [V],
    how: PhantomData<C>,
}

impl<S: Simd, E, V, C, const NS: usize, const NV: usize, const NJ: usize> Step<S, E, NV, NJ>
    for Weighted<'_, E, V, C, NS, NV>
where
    E: Lanes<S, V = V>,
    V: Pod,
    C: Correlation,
{
    #[inline(always)]
    fn begin<const STRIPS: usize>(&mut self, simd: S, first: usize, group: usize) {
        self.first = first;
        let u = vectors::<S, E, STRIPS, NV>(self.left, self.s, first);
        let w = &self.right[group * self.s..(group + 1) * self.s];
        for part in 0..GROUP / NJ {
            let sums = pair_sums::<S, E, Products, STRIPS, NV, NJ>(simd, u, w, part * NJ);
            for (weights, sums) in self.weights.iter_mut().zip(&sums) {
                weights.as_chunks_mut::<NJ>().0[part] = *sums;
            }
        }
    }

    #[inline(always)]
    fn batch(&mut self, simd: S, Place { strip, vector }: Place, entries: &mut [V; BATCH]) {
        let weights = self.weights[strip - self.first].as_flattened().as_chunks::<BATCH>().0;
        let weights = &weights[vector % (GROUP * NV) / BATCH];
        let [k, slope] = C::with_slope::<S, E, BATCH>(simd, *entries);
        let total = &mut self.totals[strip];
        let mut m = slope;
        for i in 0..BATCH {
            total[i] = E::mul_add(simd, weights[i], k[i], total[i]);
            m[i] = E::mul(simd, weights[i], slope[i]);
        }
        let row_sums = &mut self.row_sums[strip];
        for (i, &m) in m.iter().enumerate() {
            let sum = &mut row_sums[(vector + i) % NV];
            *sum = E::add(simd, *sum, m);
        }
        for (i, &m) in m.iter().enumerate() {
            let sum = &mut self.column_sums[(vector + i) / NV];
            *sum = E::add(simd, *sum, m);
        }
        *entries = m;
    }
}
