//! The part of one tile in the derivatives of `sum_ij G_ij s^2 k_ij`, with `G = U W^T` given by its factors.
//!
//! The derivative by a length scale is `dk_ij/dl_c = slope_ij (x_ic - z_jc)^2 / l_c`, for inputs in units of the
//! length scales. So the derivatives by all length scales follow from the sums over rows and over columns of M,
//! with `M_ij = G_ij slope_ij`, and from its product with the inputs.

use std::marker::PhantomData;

use pulp::Simd;

use super::evaluate::{BATCH, Distance, Products, arguments, by_registers, pair_sums};
use super::points::{GROUP, Part};
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
    /// Memory for the entries of G of one strip.
    pub(crate) weights: &'a mut [E],
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
    fn columns<S: Simd, const NV: usize, const NJ: usize, const SUMS: usize>(self, simd: S) -> f64
    where
        E: Lanes<S>,
    {
        let Weigh { rows, cols, d, left, right, s, tile, weights, row_sums, column_sums, how: _ } = self;
        let width = cols.norms.len();
        let (norms_x, _) = bytemuck::cast_slice::<E, E::V>(rows.norms).as_chunks::<NV>();
        let points = bytemuck::cast_slice::<E::Strip, E::V>(rows.strips).as_chunks::<NV>().0;
        let factors = bytemuck::cast_slice::<E::Strip, E::V>(left).as_chunks::<NV>().0;
        let tile = bytemuck::cast_slice_mut::<E, E::V>(tile);
        let (row_sums, _) = bytemuck::cast_slice_mut::<E, E::V>(row_sums).as_chunks_mut::<NV>();
        let column_sums = bytemuck::cast_slice_mut::<E, E::V>(column_sums);
        let weights = bytemuck::cast_slice_mut::<E, E::V>(weights);
        let mut total = 0.0;
        let strips = tile.chunks_exact_mut(width * NV).zip(norms_x).zip(row_sums).enumerate();
        for (strip, ((out, norm_x), row_sums)) in strips {
            let (x, u) = (&points[strip * d..(strip + 1) * d], &factors[strip * s..(strip + 1) * s]);
            let mut weighted = [E::splat(simd, 0.0); BATCH];
            // Distances and weights in separate loops: a loop with both has too few registers.
            arguments::<S, E, D, C, NV, NJ, SUMS>(simd, x, norm_x, cols, out);
            for (g, weights) in weights.chunks_exact_mut(GROUP * NV).enumerate() {
                let w = &right[g * s..(g + 1) * s];
                for (part, weights) in weights.as_chunks_mut::<SUMS>().0.iter_mut().enumerate() {
                    *weights = pair_sums::<S, E, Products, NV, NJ, SUMS>(simd, u, w, part * NJ);
                }
            }
            let parts = out.as_chunks_mut::<BATCH>().0.iter_mut();
            for (out, weights) in parts.zip(weights.as_chunks::<BATCH>().0) {
                let [k, slope] = C::with_slope::<S, E, BATCH>(simd, *out);
                for i in 0..BATCH {
                    weighted[i] = E::mul_add(simd, weights[i], k[i], weighted[i]);
                    out[i] = E::mul(simd, weights[i], slope[i]);
                }
            }
            let mut sums = *row_sums;
            for (column, m) in column_sums.iter_mut().zip(out.as_chunks::<NV>().0) {
                for (sum, &m) in sums.iter_mut().zip(m) {
                    *sum = E::add(simd, *sum, m);
                    *column = E::add(simd, *column, m);
                }
            }
            *row_sums = sums;
            for weighted in weighted {
                let mut sum = [0.0; 16];
                E::add_to(simd, weighted, &mut sum[..E::LANES]);
                total += sum.iter().sum::<f64>();
            }
        }
        total
    }
}
