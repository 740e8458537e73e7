//! The Matérn family of smoothness 3/2: `k = (1 + a) exp(-a)` with `a = sqrt(3) r`.

use pulp::Simd;

use super::correlation::{Correlation, scaled_root};
use gpbench_numerics::simd::Lanes;

/// The formulae of [`Family::Matern32`](crate::Family::Matern32).
pub(crate) struct Matern32;

impl Correlation for Matern32 {
    const SPECTRAL_DEGREES_OF_FREEDOM: Option<f64> = Some(3.0);
    const IS_SMOOTH_AT_ZERO: bool = true;

    #[inline(always)]
    fn argument<S: Simd, E: Lanes<S>, const M: usize>(simd: S, r2: [E::V; M]) -> [E::V; M] {
        scaled_root::<S, E, M>(simd, 3.0, r2)
    }

    #[inline(always)]
    fn from_argument<S: Simd, E: Lanes<S>, const M: usize>(simd: S, a: [E::V; M]) -> [E::V; M] {
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

    /// `3 exp(-a)`.
    fn slope(r2: f64) -> f64 {
        3.0 * (-(3.0 * r2).sqrt()).exp()
    }
}
