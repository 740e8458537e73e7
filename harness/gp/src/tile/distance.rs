//! Squared scaled distances as sums over inputs.

use pulp::Simd;

use gpbench_numerics::simd::Lanes;

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
