//! Evaluates the entries of one tile, from the inputs to the covariances.

use std::marker::PhantomData;

use pulp::Simd;

use super::distance::Distance;
use super::points::Part;
use super::strips::{BATCH, Place, Step, by_registers, each_batch};
use crate::kernel::Correlation;
use gpbench_numerics::simd::{Lanes, Real, Work};

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

impl<S: Simd, E, C, const NV: usize, const NJ: usize> Step<S, E, NV, NJ> for Scaled<C>
where
    E: Lanes<S>,
    C: Correlation,
{
    #[inline(always)]
    fn batch(&mut self, simd: S, _: Place, entries: &mut [E::V; BATCH]) {
        let variance = E::splat(simd, self.variance);
        *entries = C::from_argument::<S, E, BATCH>(simd, *entries);
        for entry in entries {
            *entry = E::mul(simd, variance, *entry);
        }
    }
}
