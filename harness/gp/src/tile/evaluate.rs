//! Evaluates the entries of one tile, from the inputs to the covariances, in registers.

use std::marker::PhantomData;

use pulp::Simd;

use super::points::{GROUP, Part};
use crate::kernel::Correlation;
use gpbench_numerics::simd::{Lanes, Real, Work};

/// Calls `columns` of some work of numbers `$real` with the shape of its sums for the vectors of `$simd_type`: NV vectors of a
/// strip times NJ columns, which are SUMS sums, as many as the registers hold.
macro_rules! by_registers {
    ($real:ident, $simd_type:ident, $work:expr, $simd:expr) => {
        match $real::STRIP / $real::LANES {
            1 => $work.columns::<$simd_type, 1, 8, 8>($simd),
            2 => $work.columns::<$simd_type, 2, 4, 8>($simd),
            4 => $work.columns::<$simd_type, 4, 2, 8>($simd),
            8 => $work.columns::<$simd_type, 8, 1, 8>($simd),
            _ => $work.columns::<$simd_type, 16, 1, 16>($simd),
        }
    };
}
pub(super) use by_registers;

/// A squared scaled distance, or any other sum over pairs of coordinates.
pub(crate) trait Distance {
    /// Adds the term of one coordinate to the sum.
    fn add<S: Simd, E: Lanes<S>>(simd: S, x: E::V, z: E::V, sum: E::V) -> E::V;
    /// The squared distance, from the sum and the squared norms.
    fn finish<S: Simd, E: Lanes<S>>(simd: S, sum: E::V, norm_x: E::V, norm_z: E::V) -> E::V;
}

/// `|x|^2 + |z|^2 - 2 x.z`, at least 0.
pub(crate) struct Products;
/// `sum_k (x_k - z_k)^2`.
pub(crate) struct Differences;

impl Distance for Products {
    #[inline(always)]
    fn add<S: Simd, E: Lanes<S>>(simd: S, x: E::V, z: E::V, sum: E::V) -> E::V {
        E::mul_add(simd, x, z, sum)
    }

    #[inline(always)]
    fn finish<S: Simd, E: Lanes<S>>(simd: S, sum: E::V, norm_x: E::V, norm_z: E::V) -> E::V {
        let norms = E::add(simd, norm_x, norm_z);
        let r2 = E::negate_mul_add(simd, E::splat(simd, 2.0), sum, norms);
        E::at_least(simd, 0.0, r2)
    }
}

impl Distance for Differences {
    #[inline(always)]
    fn add<S: Simd, E: Lanes<S>>(simd: S, x: E::V, z: E::V, sum: E::V) -> E::V {
        let difference = E::sub(simd, x, z);
        E::mul_add(simd, difference, difference, sum)
    }

    #[inline(always)]
    fn finish<S: Simd, E: Lanes<S>>(_: S, sum: E::V, _: E::V, _: E::V) -> E::V {
        sum
    }
}

/// Fills a tile with `variance * correlation(distance)`.
pub(crate) struct Evaluate<'a, E: Real, D, C> {
    pub(crate) rows: Part<'a, E>,
    pub(crate) cols: Part<'a, E>,
    pub(crate) d: usize,
    pub(crate) variance: f64,
    /// Strips of rows, each column by column.
    pub(crate) tile: &'a mut [E],
    pub(crate) how: PhantomData<(D, C)>,
}

impl<E: Real, D: Distance, C: Correlation> Work<E> for Evaluate<'_, E, D, C> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S)
    where
        E: Lanes<S>,
    {
        // Eight sums at a time keep both multiply-add units of a processor busy.
        by_registers!(E, S, self, simd)
    }
}

impl<E: Real, D: Distance, C: Correlation> Evaluate<'_, E, D, C> {
    /// Strips of `NV` vectors, `NJ` columns at a time: `SUMS = NV NJ` vectors.
    #[inline(always)]
    fn columns<S: Simd, const NV: usize, const NJ: usize, const SUMS: usize>(self, simd: S)
    where
        E: Lanes<S>,
    {
        let Evaluate { rows, cols, d, variance, tile, how: _ } = self;
        let variance = E::splat(simd, variance);
        let width = cols.norms.len();
        let (norms_x, _) = bytemuck::cast_slice::<E, E::V>(rows.norms).as_chunks::<NV>();
        let strips = bytemuck::cast_slice::<E::Strip, E::V>(rows.strips).as_chunks::<NV>().0;
        let tile = bytemuck::cast_slice_mut::<E, E::V>(tile);
        for (s, (out, norm_x)) in tile.chunks_exact_mut(width * NV).zip(norms_x).enumerate() {
            let x = &strips[s * d..(s + 1) * d];
            arguments::<S, E, D, C, NV, NJ, SUMS>(simd, x, norm_x, cols, out);
            for out in out.as_chunks_mut::<BATCH>().0 {
                *out = C::from_argument::<S, E, BATCH>(simd, *out);
                for out in out {
                    *out = E::mul(simd, variance, *out);
                }
            }
        }
    }
}

/// Arguments of the correlation for a strip of rows and all columns. They are computed in a separate loop, so that
/// square roots overlap with the next sums, and the exponentials that follow have enough registers.
#[inline(always)]
pub(super) fn arguments<
    S: Simd,
    E: Lanes<S>,
    D: Distance,
    C: Correlation,
    const NV: usize,
    const NJ: usize,
    const SUMS: usize,
>(
    simd: S,
    x: &[[E::V; NV]],
    norm_x: &[E::V; NV],
    cols: Part<'_, E>,
    out: &mut [E::V],
) {
    let d = x.len();
    let norms = cols.norms.as_chunks::<GROUP>().0;
    for (g, (out, norm_z)) in out.chunks_exact_mut(GROUP * NV).zip(norms).enumerate() {
        let z = &cols.groups[g * d..(g + 1) * d];
        for (part, out) in out.as_chunks_mut::<SUMS>().0.iter_mut().enumerate() {
            let first = part * NJ;
            let mut sums = pair_sums::<S, E, D, NV, NJ, SUMS>(simd, x, z, first);
            finish::<S, E, D, NV, SUMS>(simd, &mut sums, norm_x, norm_z, first);
            *out = C::argument::<S, E, SUMS>(simd, sums);
        }
    }
}

/// Sums over coordinates for a strip of rows and `NJ` columns of a group, from column `first` on.
#[inline(always)]
pub(super) fn pair_sums<
    S: Simd,
    E: Lanes<S>,
    D: Distance,
    const NV: usize,
    const NJ: usize,
    const SUMS: usize,
>(
    simd: S,
    x: &[[E::V; NV]],
    z: &[[E; GROUP]],
    first: usize,
) -> [E::V; SUMS] {
    assert!(first + NJ <= GROUP, "parts of a group");
    let mut sums = [E::splat(simd, 0.0); SUMS];
    for (x, z) in x.iter().zip(z) {
        for j in 0..NJ {
            let z = E::broadcast(simd, z[first + j]);
            for v in 0..NV {
                sums[j * NV + v] = D::add::<S, E>(simd, x[v], z, sums[j * NV + v]);
            }
        }
    }
    sums
}

/// Replaces sums of products or of squared differences by squared distances.
#[inline(always)]
fn finish<S: Simd, E: Lanes<S>, D: Distance, const NV: usize, const SUMS: usize>(
    simd: S,
    sums: &mut [E::V; SUMS],
    norm_x: &[E::V; NV],
    norm_z: &[E; GROUP],
    first: usize,
) {
    for (i, sum) in sums.iter_mut().enumerate() {
        let norm_z = E::broadcast(simd, norm_z[first + i / NV]);
        *sum = D::finish::<S, E>(simd, *sum, norm_x[i % NV], norm_z);
    }
}

/// Vectors of correlations that are evaluated together: enough to hide the latency of each, few enough for the
/// registers.
pub(super) const BATCH: usize = 4;
