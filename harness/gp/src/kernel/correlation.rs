//! The trait that every kernel family implements.

use pulp::Simd;

use gpbench_numerics::simd::Lanes;

/// The formulae of one family: its correlation k as a function of the squared scaled distance `r^2`, the slope
/// of that function, and its spectral density.
///
/// Tiles evaluate M vectors at a time and in two steps, because square roots overlap with the exponentials and the
/// distances of other entries. The scalar forms are the same code.
pub(crate) trait Correlation {
    /// Degrees of freedom of the spectral density, a multivariate Student t: twice the smoothness of a Matérn
    /// family. `None` where the spectral density is normal.
    const SPECTRAL_DEGREES_OF_FREEDOM: Option<f64>;

    /// Whether k is differentiable in `r^2` at 0. Where it is not, an error e in `r^2` near 0 becomes an error
    /// of `sqrt(e)` in k, so distances are always taken from differences of coordinates.
    const IS_SMOOTH_AT_ZERO: bool;

    /// The argument of the exponential, up to its sign: `r^2 / 2`, or a multiple of r.
    fn argument<S: Simd, E: Lanes<S>, const M: usize>(simd: S, r2: [E::V; M]) -> [E::V; M];

    /// k, from [`Self::argument`].
    fn from_argument<S: Simd, E: Lanes<S>, const M: usize>(simd: S, a: [E::V; M]) -> [E::V; M];

    /// k and its slope `-2 dk/d(r^2)`, from [`Self::argument`].
    fn with_slope<S: Simd, E: Lanes<S>, const M: usize>(simd: S, a: [E::V; M]) -> [[E::V; M]; 2];

    /// k at one `r^2`.
    fn correlation(r2: f64) -> f64 {
        let argument = Self::argument::<_, f64, 1>(pulp::Scalar, [r2]);
        Self::from_argument::<_, f64, 1>(pulp::Scalar, argument)[0]
    }

    /// The slope at one `r^2`, without the guard that [`Self::with_slope`] may need near 0.
    fn slope(r2: f64) -> f64;
}

/// `sqrt(factor r^2)`, the argument of a Matérn family.
#[inline(always)]
pub(super) fn scaled_root<S: Simd, E: Lanes<S>, const M: usize>(
    simd: S,
    factor: f64,
    r2: [E::V; M],
) -> [E::V; M] {
    let factor = E::splat(simd, factor);
    E::sqrt(simd, r2.map(|r2| E::mul(simd, factor, r2)))
}
