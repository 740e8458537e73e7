//! The part of one tile in prior draws of random features, `sum_p u_p sin(t_p) + w_p cos(t_p)` with the angles
//! `t_p = x . omega_p`, and in their gradients, `sum_p (u_p cos(t_p) - w_p sin(t_p)) omega_p`.

use std::ops::Range;

use pulp::Simd;

use super::distance::Products;
use super::points::{GROUP, Part, Points};
use super::sampled::{RowWeights, Sampled};
use super::strips::{by_registers, pair_sums, put, together, vectors};
use super::tile_len;
use gpbench_numerics::packed::padded;
use gpbench_numerics::simd::{self, Lanes, Real, Work};

/// Fills a tile with the inner products of the rows of `a` with the columns of `b`.
pub(crate) fn angles(
    (a, rows): (&Points, &Range<usize>),
    (b, cols): (&Points, &Range<usize>),
    tile: &mut [f64],
) {
    let tile = &mut tile[..tile_len(rows.len(), cols.len())];
    f64::dispatch(simd::arch(), Angles { rows: a.part(rows), cols: b.part(cols), d: a.d(), tile });
}

/// Fills a tile with inner products.
pub(super) struct Angles<'a, E: Real> {
    pub(super) rows: Part<'a, E>,
    pub(super) cols: Part<'a, E>,
    pub(super) d: usize,
    pub(super) tile: &'a mut [E],
}

impl<E: Real> Work<E> for Angles<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S)
    where
        E: Lanes<S>,
    {
        by_registers!(E, S, self, simd)
    }
}

impl<E: Real> Angles<'_, E> {
    #[inline(always)]
    fn columns<S: Simd, const NS: usize, const NV: usize, const NJ: usize>(mut self, simd: S)
    where
        E: Lanes<S>,
    {
        let (together, rest) = together::<E, NS>(self.rows.norms.len());
        for first in together {
            self.strips::<S, NS, NV, NJ>(simd, first);
        }
        for first in rest {
            self.strips::<S, 1, NV, NJ>(simd, first);
        }
    }

    /// The `NS` strips from strip `first` on.
    #[inline(always)]
    fn strips<S: Simd, const NS: usize, const NV: usize, const NJ: usize>(&mut self, simd: S, first: usize)
    where
        E: Lanes<S>,
    {
        let (d, width) = (self.d, self.cols.norms.len());
        let x = vectors::<S, E, NS, NV>(self.rows.strips, d, first);
        let tile = bytemuck::cast_slice_mut::<E, E::V>(self.tile);
        let out = &mut tile[first * width * NV..][..NS * width * NV];
        for group in 0..width / GROUP {
            let z = &self.cols.groups[group * d..(group + 1) * d];
            for part in 0..GROUP / NJ {
                let sums = pair_sums::<S, E, Products, NS, NV, NJ>(simd, x, z, part * NJ);
                put::<S, E, NS, NV, NJ>(&sums, out, group * GROUP + part * NJ);
            }
        }
    }
}

/// A tile of sines and cosines: rows are frequencies, columns points with weights of their own.
pub(crate) struct Waves<'a> {
    /// Frequencies and points of the tile.
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// Weights of the sines and of the cosines, for the same columns.
    pub(crate) sines: RowWeights<'a>,
    pub(crate) cosines: &'a [f64],
    /// Cosines, in the order of tiles.
    pub(crate) cosine: &'a [f64],
}

impl Waves<'_> {
    /// Adds values to their sums, and replaces the tile of sines by the weights of frequencies in the gradient; there
    /// are no sums of slopes.
    pub(crate) fn add(self, out: Sampled<'_>) {
        let Waves { rows, cols, sines, cosines, cosine } = self;
        let len = tile_len(rows, cols);
        let work = Add {
            height: len / padded(cols),
            of: sines.of,
            of_sines: sines.distinct,
            of_cosines: cosines,
            sines: &mut out.tile[..len],
            cosines: &cosine[..len],
            values: out.values.numbers_mut(),
        };
        f64::dispatch(simd::arch(), work);
    }
}

struct Add<'a, E> {
    height: usize,
    of: &'a [usize],
    of_sines: &'a [E],
    of_cosines: &'a [E],
    sines: &'a mut [E],
    cosines: &'a [E],
    values: &'a mut [E],
}

impl<E: Real> Work<E> for Add<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S)
    where
        E: Lanes<S>,
    {
        let Add { height, of, of_sines, of_cosines, sines, cosines, values } = self;
        let vectors = E::STRIP / E::LANES;
        let (height, width) = (height / E::STRIP, of.len());
        let of_sines = bytemuck::cast_slice::<E, E::V>(of_sines);
        let of_cosines = bytemuck::cast_slice::<E, E::V>(of_cosines);
        let sines = bytemuck::cast_slice_mut::<E, E::V>(sines).chunks_exact_mut(width * vectors);
        let cosines = bytemuck::cast_slice::<E, E::V>(cosines).chunks_exact(width * vectors);
        let values = bytemuck::cast_slice_mut::<E, E::V>(values);
        for (strip, (sines, cosines)) in sines.zip(cosines).enumerate() {
            let columns = sines.chunks_exact_mut(vectors).zip(cosines.chunks_exact(vectors));
            for ((sines, cosines), (&of, value)) in columns.zip(of.iter().zip(&mut *values)) {
                let first = (of * height + strip) * vectors;
                let weights =
                    of_sines[first..first + vectors].iter().zip(&of_cosines[first..first + vectors]);
                for ((sine, &cosine), (&u, &w)) in sines.iter_mut().zip(cosines).zip(weights) {
                    *value = E::mul_add(simd, u, *sine, *value);
                    *value = E::mul_add(simd, w, cosine, *value);
                    *sine = E::negate_mul_add(simd, w, *sine, E::mul(simd, u, cosine));
                }
            }
        }
    }
}
