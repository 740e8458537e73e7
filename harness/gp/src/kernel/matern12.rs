//! The Matérn family of smoothness 1/2: `k = exp(-r)`.

use pulp::Simd;

use super::correlation::{Correlation, scaled_root};
use gpbench_numerics::simd::Lanes;

/// The formulae of [`Family::Matern12`](crate::Family::Matern12).
pub(crate) struct Matern12;

impl Correlation for Matern12 {
    const SPECTRAL_DEGREES_OF_FREEDOM: Option<f64> = Some(1.0);
    const IS_SMOOTH_AT_ZERO: bool = false;

    #[inline(always)]
    fn argument<S: Simd, E: Lanes<S>, const M: usize>(simd: S, r2: [E::V; M]) -> [E::V; M] {
        scaled_root::<S, E, M>(simd, 1.0, r2)
    }

    #[inline(always)]
    fn from_argument<S: Simd, E: Lanes<S>, const M: usize>(simd: S, a: [E::V; M]) -> [E::V; M] {
        E::exp_minus(simd, a)
    }

    /// The slope `k / r` is unbounded at 0, but callers multiply it by squared differences, which are 0 there:
    /// below r = 1e-6 it is replaced by one that falls to 0.
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

    /// `k / r`, infinite at 0.
    fn slope(r2: f64) -> f64 {
        Self::correlation(r2) / r2.sqrt()
    }
}
