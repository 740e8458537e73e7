//! Evaluates the entries of one tile, from the inputs to the covariances.

use std::marker::PhantomData;

use pulp::Simd;

use super::points::Part;
use super::strips::{BATCH, Place, Step, by_registers, each_batch};
use crate::kernel::Correlation;
use gpbench_numerics::simd::{Lanes, Real, Work};

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
        by_registers!(E, S, self, simd)
    }
}

impl<E: Real, D: Distance, C: Correlation> Evaluate<'_, E, D, C> {
    #[inline(always)]
    fn columns<S: Simd, const NS: usize, const NV: usize, const NJ: usize>(self, simd: S)
    where
        E: Lanes<S>,
    {
        let Evaluate { rows, cols, d, variance, tile, how: _ } = self;
        let mut step = Scaled { variance, how: PhantomData::<C> };
        each_batch::<S, E, D, C, _, NS, NV, NJ>(simd, (rows, cols), d, tile, &mut step);
    }
}

/// Replaces arguments by `variance * correlation`.
struct Scaled<C> {
    variance: f64,
    how: PhantomData<C>,
}

impl<S: Simd, E: Lanes<S>, C: Correlation, const NV: usize, const NJ: usize> Step<S, E, NV, NJ> for Scaled<C> {
    #[inline(always)]
    fn batch(&mut self, simd: S, _: Place, entries: &mut [E::V; BATCH]) {
        let variance = E::splat(simd, self.variance);
        *entries = C::from_argument::<S, E, BATCH>(simd, *entries);
        for entry in entries {
            *entry = E::mul(simd, variance, *entry);
        }
    }
}
