//! The Matérn family of smoothness 5/2: `k = (1 + a + a^2 / 3) exp(-a)` with `a = sqrt(5) r`.

use pulp::Simd;

use super::correlation::{Correlation, scaled_root};
use gpbench_numerics::simd::Lanes;

/// The formulae of [`Family::Matern52`](crate::Family::Matern52).
pub(crate) struct Matern52;

impl Correlation for Matern52 {
    const SPECTRAL_DEGREES_OF_FREEDOM: Option<f64> = Some(5.0);
    const IS_SMOOTH_AT_ZERO: bool = true;

    #[inline(always)]
    fn argument<S: Simd, E: Lanes<S>, const M: usize>(simd: S, r2: [E::V; M]) -> [E::V; M] {
        scaled_root::<S, E, M>(simd, 5.0, r2)
    }

    #[inline(always)]
    fn from_argument<S: Simd, E: Lanes<S>, const M: usize>(simd: S, a: [E::V; M]) -> [E::V; M] {
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

    /// `5/3 (1 + a) exp(-a)`.
    fn slope(r2: f64) -> f64 {
        let a = (5.0 * r2).sqrt();
        5.0 / 3.0 * (1.0 + a) * (-a).exp()
    }
}
