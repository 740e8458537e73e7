//! The entries of one tile, in registers from the inputs to the covariance.

use std::marker::PhantomData;

use pulp::Simd;

use super::points::{GROUP, Part};
use crate::simd::{Lanes, Real, Work};

/// A correlation as a function of the squared scaled distance, several at a time, in two steps: what it decays
/// with, and how.
pub(crate) trait Correlation {
    /// What the correlation decays with: half the squared distance, or a multiple of the distance.
    fn argument<S: Simd, E: Lanes<S>, const M: usize>(simd: S, r2: [E::V; M]) -> [E::V; M];

    /// The correlation, from its argument.
    fn of<S: Simd, E: Lanes<S>, const M: usize>(simd: S, a: [E::V; M]) -> [E::V; M];

    /// The same, and `-2 dk/d(r^2)`, by which a length scale enters: `dk/dl = slope (x - z)^2 / l^3`.
    fn with_slope<S: Simd, E: Lanes<S>, const M: usize>(simd: S, a: [E::V; M]) -> [[E::V; M]; 2];

    /// One, without vectors.
    fn at(r2: f64) -> f64 {
        let argument = Self::argument::<_, f64, 1>(pulp::Scalar, [r2]);
        Self::of::<_, f64, 1>(pulp::Scalar, argument)[0]
    }
}

pub(crate) struct Rbf;
pub(crate) struct Matern12;
pub(crate) struct Matern32;
pub(crate) struct Matern52;

impl Correlation for Rbf {
    #[inline(always)]
    fn argument<S: Simd, E: Lanes<S>, const M: usize>(simd: S, r2: [E::V; M]) -> [E::V; M] {
        let half = E::splat(simd, 0.5);
        let mut a = r2;
        for a in &mut a {
            *a = E::mul(simd, half, *a);
        }
        a
    }

    #[inline(always)]
    fn of<S: Simd, E: Lanes<S>, const M: usize>(simd: S, a: [E::V; M]) -> [E::V; M] {
        E::exp_minus(simd, a)
    }

    #[inline(always)]
    fn with_slope<S: Simd, E: Lanes<S>, const M: usize>(simd: S, a: [E::V; M]) -> [[E::V; M]; 2] {
        [Self::of::<S, E, M>(simd, a); 2]
    }
}

impl Correlation for Matern12 {
    #[inline(always)]
    fn argument<S: Simd, E: Lanes<S>, const M: usize>(simd: S, r2: [E::V; M]) -> [E::V; M] {
        roots::<S, E, M>(simd, 1.0, r2)
    }

    #[inline(always)]
    fn of<S: Simd, E: Lanes<S>, const M: usize>(simd: S, a: [E::V; M]) -> [E::V; M] {
        E::exp_minus(simd, a)
    }

    /// The slope is `k / r`, without bound at 0, where it is multiplied by 0: it is bent to 0 below 1e-6.
    #[inline(always)]
    fn with_slope<S: Simd, E: Lanes<S>, const M: usize>(simd: S, a: [E::V; M]) -> [[E::V; M]; 2] {
        let decay = E::exp_minus(simd, a);
        let mut slope = decay;
        for (slope, r) in slope.iter_mut().zip(a) {
            let r2 = E::at_least(simd, 1e-12, E::mul(simd, r, r));
            *slope = E::div(simd, E::mul(simd, *slope, r), r2);
        }
        [decay, slope]
    }
}

impl Correlation for Matern32 {
    #[inline(always)]
    fn argument<S: Simd, E: Lanes<S>, const M: usize>(simd: S, r2: [E::V; M]) -> [E::V; M] {
        roots::<S, E, M>(simd, 3.0, r2)
    }

    #[inline(always)]
    fn of<S: Simd, E: Lanes<S>, const M: usize>(simd: S, a: [E::V; M]) -> [E::V; M] {
        let mut decay = E::exp_minus(simd, a);
        for (decay, a) in decay.iter_mut().zip(a) {
            *decay = E::mul_add(simd, a, *decay, *decay);
        }
        decay
    }

    #[inline(always)]
    fn with_slope<S: Simd, E: Lanes<S>, const M: usize>(simd: S, a: [E::V; M]) -> [[E::V; M]; 2] {
        let mut k = E::exp_minus(simd, a);
        let mut slope = k;
        for ((k, slope), a) in k.iter_mut().zip(&mut slope).zip(a) {
            *slope = E::mul(simd, E::splat(simd, 3.0), *k);
            *k = E::mul_add(simd, a, *k, *k);
        }
        [k, slope]
    }
}

impl Correlation for Matern52 {
    #[inline(always)]
    fn argument<S: Simd, E: Lanes<S>, const M: usize>(simd: S, r2: [E::V; M]) -> [E::V; M] {
        roots::<S, E, M>(simd, 5.0, r2)
    }

    #[inline(always)]
    fn of<S: Simd, E: Lanes<S>, const M: usize>(simd: S, a: [E::V; M]) -> [E::V; M] {
        let mut decay = E::exp_minus(simd, a);
        for (decay, a) in decay.iter_mut().zip(a) {
            let one = E::splat(simd, 1.0);
            let slope = E::mul_add(simd, a, E::splat(simd, 1.0 / 3.0), one);
            *decay = E::mul(simd, E::mul_add(simd, a, slope, one), *decay);
        }
        decay
    }

    #[inline(always)]
    fn with_slope<S: Simd, E: Lanes<S>, const M: usize>(simd: S, a: [E::V; M]) -> [[E::V; M]; 2] {
        let mut k = E::exp_minus(simd, a);
        let mut slope = k;
        for ((k, slope), a) in k.iter_mut().zip(&mut slope).zip(a) {
            let one = E::splat(simd, 1.0);
            let third = E::mul_add(simd, a, E::splat(simd, 1.0 / 3.0), one);
            let factor = E::mul_add(simd, a, E::splat(simd, 5.0 / 3.0), E::splat(simd, 5.0 / 3.0));
            *slope = E::mul(simd, factor, *k);
            *k = E::mul(simd, E::mul_add(simd, a, third, one), *k);
        }
        [k, slope]
    }
}

/// `sqrt(factor r2)`.
#[inline(always)]
fn roots<S: Simd, E: Lanes<S>, const M: usize>(simd: S, factor: f64, r2: [E::V; M]) -> [E::V; M] {
    let factor = E::splat(simd, factor);
    let mut roots = r2;
    for root in &mut roots {
        *root = E::sqrt(simd, E::mul(simd, factor, *root));
    }
    roots
}

/// A squared scaled distance, or any other sum over pairs of coordinates.
pub(crate) trait Distance {
    /// One coordinate's part of the sum.
    fn add<S: Simd, E: Lanes<S>>(simd: S, x: E::V, z: E::V, sum: E::V) -> E::V;
    /// The distance, from the sum and the squared norms.
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
    /// Strips of rows; in each, column after column.
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
        // Eight sums at a time keep both multipliers of a processor busy.
        match E::STRIP / E::LANES {
            1 => self.columns::<S, 1, 8, 8>(simd),
            2 => self.columns::<S, 2, 4, 8>(simd),
            4 => self.columns::<S, 4, 2, 8>(simd),
            8 => self.columns::<S, 8, 1, 8>(simd),
            _ => self.columns::<S, 16, 1, 16>(simd),
        }
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
            for out in out.as_chunks_mut::<TOGETHER>().0 {
                *out = C::of::<S, E, TOGETHER>(simd, *out);
                for out in out {
                    *out = E::mul(simd, variance, *out);
                }
            }
        }
    }
}

/// Arguments of the correlation for a strip of rows and all columns. In a loop of its own: roots then take their
/// time beside the next sums, and the correlations, which come after it, have registers enough.
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

/// Sums over coordinates for a strip of rows and the `NJ` columns of a group that begin at `first`.
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

/// Distances in place of the sums of products or of squared differences.
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

/// Correlations that are evaluated together: enough to hide the time that each takes, few enough for the registers.
pub(super) const TOGETHER: usize = 4;
