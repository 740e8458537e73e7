//! The squared exponential: `k = exp(-r^2 / 2)`.

use pulp::Simd;

use super::correlation::Correlation;
use gpbench_numerics::simd::Lanes;

/// The formulae of [`Family::Rbf`](crate::Family::Rbf).
pub(crate) struct Rbf;

impl Correlation for Rbf {
    const SPECTRAL_DEGREES_OF_FREEDOM: Option<f64> = None;
    const IS_SMOOTH_AT_ZERO: bool = true;

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
    fn from_argument<S: Simd, E: Lanes<S>, const M: usize>(simd: S, a: [E::V; M]) -> [E::V; M] {
        E::exp_minus(simd, a)
    }

    #[inline(always)]
    fn with_slope<S: Simd, E: Lanes<S>, const M: usize>(simd: S, a: [E::V; M]) -> [[E::V; M]; 2] {
        [Self::from_argument::<S, E, M>(simd, a); 2]
    }

    /// `k`.
    fn slope(r2: f64) -> f64 {
        Self::correlation(r2)
    }
}
