//! Square roots by multiply-adds, for processors that do little else while they take a root.

use std::any::Any;
use std::sync::LazyLock;

use pulp::Simd;
use pulp::x86::V4;

use super::Lanes;

/// Whether vectors of 512 bits have their roots sooner by multiply-adds than by the processor's instruction.
///
/// On Cascade Lake the instruction takes 9.2 ns for eight doubles and hardly overlaps with other work; multiply-adds take 4.6 ns.
/// Other processors of Intel are taken to be alike. On AMD's, where roots overlap, multiply-adds have not been measured.
static IS_SLOW: LazyLock<bool> = LazyLock::new(|| {
    let vendor = std::arch::x86_64::__cpuid(0);
    [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).as_flattened() == b"GenuineIntel"
});

/// The instruction set of `simd`, where its roots are slow.
#[inline(always)]
pub(super) fn slow<S: Simd>(simd: S) -> Option<V4> {
    let simd = (&simd as &dyn Any).downcast_ref::<V4>()?;
    IS_SLOW.then_some(*simd)
}

/// One in this many vectors has its roots by the instruction, whose unit works beside those of multiply-adds.
pub(super) const SHARED: usize = 4;

/// Numbers whose roots AVX-512 estimates.
pub(super) trait Estimate: Lanes<V4> {
    /// Steps of Newton's method from the estimate to an error below one unit in the last place.
    const STEPS: usize;

    /// `1 / sqrt(a)` to a relative 2^-14.
    fn inverse_root(simd: V4, a: Self::V) -> Self::V;

    /// `a` where it is zero or positive infinity, else `root`.
    fn limits(simd: V4, root: Self::V, a: Self::V) -> Self::V;
}

/// What the instruction `fixupimm` answers, four bits for each class of the second operand: 1 for that operand, where it is zero
/// or positive infinity, and 0 for the first.
const LIMITS: i32 = 0x0010_0100;

impl Estimate for f64 {
    const STEPS: usize = 2;

    #[inline(always)]
    fn inverse_root(simd: V4, a: Self::V) -> Self::V {
        pulp::cast(simd.avx512f._mm512_rsqrt14_pd(pulp::cast(a)))
    }

    #[inline(always)]
    fn limits(simd: V4, root: Self::V, a: Self::V) -> Self::V {
        let answers = simd.avx512f._mm512_set1_epi64(i64::from(LIMITS));
        pulp::cast(simd.avx512f._mm512_fixupimm_pd::<0>(pulp::cast(root), pulp::cast(a), answers))
    }
}

impl Estimate for f32 {
    const STEPS: usize = 1;

    #[inline(always)]
    fn inverse_root(simd: V4, a: Self::V) -> Self::V {
        pulp::cast(simd.avx512f._mm512_rsqrt14_ps(pulp::cast(a)))
    }

    #[inline(always)]
    fn limits(simd: V4, root: Self::V, a: Self::V) -> Self::V {
        let answers = simd.avx512f._mm512_set1_epi32(LIMITS);
        pulp::cast(simd.avx512f._mm512_fixupimm_ps::<0>(pulp::cast(root), pulp::cast(a), answers))
    }
}

/// Square roots, correctly rounded unless `a` is so small that a unit in its last place is subnormal: below 1e-290, or 1e-30
/// in single precision.
///
/// The last sum is rounded once, and what it rounds is within 2^-51 units in the last place of the root. Where the root itself is that
/// close to the middle between two numbers, the tests show that it rounds correctly.
#[inline(always)]
pub(super) fn refined<E: Estimate>(simd: V4, a: E::V) -> E::V {
    let (half, estimate) = (E::splat(simd, 0.5), E::inverse_root(simd, a));
    // g approaches sqrt(a) and h 1 / (2 sqrt(a)): a step squares their relative errors.
    let (mut g, mut h) = (E::mul(simd, a, estimate), E::mul(simd, half, estimate));
    for _ in 0..E::STEPS {
        let error = E::negate_mul_add(simd, g, h, half);
        g = E::mul_add(simd, g, error, g);
        h = E::mul_add(simd, h, error, h);
    }
    // Exact, since g is within a unit in the last place.
    let remainder = E::negate_mul_add(simd, g, g, a);
    E::limits(simd, E::mul_add(simd, remainder, h, g), a)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Roots, refined on any processor with AVX-512, of as many numbers as fill whole vectors.
    fn roots<E: Estimate>(numbers: &[E]) -> Option<Vec<E>> {
        let Some(simd) = V4::try_new() else {
            eprintln!("this processor has no AVX-512: its roots are not tested");
            return None;
        };
        let mut roots = numbers.to_vec();
        roots.resize(numbers.len().next_multiple_of(E::STRIP), E::from_f64(1.0));
        simd.vectorize(
            #[inline(always)]
            || {
                for vector in bytemuck::cast_slice_mut::<E, E::V>(&mut roots) {
                    *vector = refined::<E>(simd, *vector);
                }
            },
        );
        roots.truncate(numbers.len());
        Some(roots)
    }

    fn assert_correct(numbers: &[f64]) {
        for (number, root) in numbers.iter().zip(roots(numbers).unwrap_or_default()) {
            assert_eq!(root.to_bits(), number.sqrt().to_bits(), "sqrt({number:e}) = {root:e}");
        }
    }

    /// An odd number whose square is `residue` modulo `2^bits`. The residue is 1 modulo 8.
    fn root_modulo(residue: i128, bits: u32) -> i128 {
        // If the square of a number is right modulo 2^k, that of it or of its sum with 2^(k - 1) is right modulo 2^(k + 1).
        (3..bits).fold(1, |root, k| {
            let is_right = (root * root - residue).trailing_zeros() > k;
            if is_right { root } else { root + (1 << (k - 1)) }
        })
    }

    /// The numbers within 1 and 4 whose roots are closest to the middle between two doubles.
    ///
    /// A middle is `m / 2^53` with an odd m. Its square differs from a double `a / 2^52` below 2 by `r / 2^106` where
    /// m^2 = 2^54 a + r, and from a double `a / 2^51` from 2 on where m^2 = 2^55 a + r.
    fn roots_near_middles() -> Vec<f64> {
        let mut found = Vec::new();
        for (bits, unit) in [(54, 2.0_f64.powi(-52)), (55, 2.0_f64.powi(-51))] {
            for residue in (-4095..4096).step_by(8) {
                let (root, modulus) = (root_modulo(residue, bits), 1 << bits);
                let all = [root, -root, root + modulus / 2, modulus / 2 - root];
                for m in all.map(|root: i128| root.rem_euclid(modulus)) {
                    let a = (m * m - residue) >> bits;
                    if (1 << 53..1 << 54).contains(&m) && (1 << 52..1 << 53).contains(&a) {
                        found.push(a as f64 * unit);
                    }
                }
            }
        }
        found
    }

    #[test]
    fn roots_near_middles_round_correctly() {
        let numbers = roots_near_middles();
        assert!(numbers.len() > 1000, "{}", numbers.len());
        assert_correct(&numbers);
    }

    #[test]
    fn roots_of_any_numbers_round_correctly() {
        let fractions = (0..100_000).map(|i| (f64::from(i) * 0.618_033_988_749_894_9).fract());
        let mut numbers: Vec<f64> = fractions.flat_map(|f| [1.0 + 3.0 * f, f * 1e-280, f * 1e300]).collect();
        numbers.extend([0.0, -0.0, 1e-290, f64::MAX, f64::INFINITY]);
        assert_correct(&numbers);
    }

    #[test]
    fn all_single_roots_round_correctly() {
        let numbers: Vec<f32> = (1.0_f32.to_bits()..4.0_f32.to_bits()).map(f32::from_bits).collect();
        let limits = [0.0, -0.0, 1e-30, f32::MAX, f32::INFINITY];
        let numbers = [&numbers[..], &limits].concat();
        for (number, root) in numbers.iter().zip(roots(&numbers).unwrap_or_default()) {
            assert_eq!(root.to_bits(), number.sqrt().to_bits(), "sqrt({number:e}) = {root:e}");
        }
    }

    #[test]
    fn roots_of_what_has_none() {
        let roots = roots(&[-1.0, f64::NEG_INFINITY, f64::NAN]).unwrap_or_default();
        assert!(roots.iter().all(|root| root.is_nan()), "{roots:?}");
    }
}
