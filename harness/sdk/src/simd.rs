//! Elementary functions of vectors of doubles, for whatever instruction set the machine has.
//!
//! Everything is `inline(always)`, since a function that is not inlined would be compiled for the oldest
//! processor. Multiply-adds are fused where the processor can: the last bits of a result depend on the
//! instruction set, but never on the number of threads or on the position of an entry in a vector.

use std::sync::OnceLock;

use pulp::bytemuck::cast_slice_mut;
use pulp::{Arch, Simd, WithSimd};

/// Runs `work` compiled for the machine's instruction set.
pub(crate) fn dispatch<W: WithSimd>(work: W) -> W::Output {
    static BEST: OnceLock<Arch> = OnceLock::new();
    let best = BEST.get_or_init(Arch::new);
    #[cfg(test)]
    let best = &tests::FORCED.get().unwrap_or(*best);
    best.dispatch(work)
}

/// 1.5 * 2^52: adding it rounds to an integer, which is then in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts, the first of 32 significant bits, so that its products with an exponent are exact.
const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
/// Largest argument: beyond it the result would be subnormal.
const MOST: f64 = 708.0;
/// 1/k! for k = 2, 3, ... 13, even and odd ones in turn. On |r| <= ln(2) / 2 the remainder of the series is
/// below 1e-17.
const SERIES: [(f64, f64); 6] = [
    (1.0 / 2.0, 1.0 / 6.0),
    (1.0 / 24.0, 1.0 / 120.0),
    (1.0 / 720.0, 1.0 / 5_040.0),
    (1.0 / 40_320.0, 1.0 / 362_880.0),
    (1.0 / 3_628_800.0, 1.0 / 39_916_800.0),
    (1.0 / 479_001_600.0, 1.0 / 6_227_020_800.0),
];

/// exp(-a) for a >= 0, to 2 units in the last place, and about the smallest normal number where it would be
/// smaller; NaN stays NaN.
#[inline(always)]
pub(crate) fn exp_minus<S: Simd>(simd: S, a: S::f64s) -> S::f64s {
    let splat = |value| simd.splat_f64s(value);
    let most = splat(MOST);
    let a = simd.select_f64s(simd.less_than_f64s(most, a), most, a);
    // -a = n ln 2 + r with |r| <= ln(2) / 2.
    let shifted = simd.negate_mul_add_e_f64s(a, splat(std::f64::consts::LOG2_E), splat(ROUND));
    let n = simd.sub_f64s(shifted, splat(ROUND));
    let minus_r = simd.mul_add_e_f64s(n, splat(LN_2[1]), simd.mul_add_e_f64s(n, splat(LN_2[0]), a));
    let square = simd.mul_f64s(minus_r, minus_r);
    let [.., (even, odd)] = SERIES;
    let (mut even, mut odd) = (splat(even), splat(odd));
    for (next_even, next_odd) in SERIES.into_iter().rev().skip(1) {
        even = simd.mul_add_e_f64s(even, square, splat(next_even));
        odd = simd.mul_add_e_f64s(odd, square, splat(next_odd));
    }
    // exp(r) = 1 + r + r^2 (even + r odd)
    let tail = simd.mul_f64s(square, simd.negate_mul_add_e_f64s(minus_r, odd, even));
    let mantissa = simd.add_f64s(splat(1.0), simd.sub_f64s(tail, minus_r));
    // The integer in the low bits becomes the exponent of a power of two.
    let mut power = shifted;
    for bits in cast_slice_mut::<S::f64s, u64>(std::slice::from_mut(&mut power)) {
        *bits = (*bits << 52).wrapping_add(1023 << 52);
    }
    simd.mul_f64s(mantissa, power)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// The instruction set of this thread, in place of the best.
        pub(super) static FORCED: Cell<Option<Arch>> = const { Cell::new(None) };
    }

    /// What `work` gives on one thread with each instruction set that the machine has, the best one first.
    pub(crate) fn on_each<R>(work: impl Fn() -> R) -> Vec<R> {
        let mut sets = vec![Arch::new()];
        #[cfg(target_arch = "x86_64")]
        sets.extend(pulp::x86::V3::try_new().map(Arch::V3));
        sets.push(Arch::Scalar);
        let run = |set| {
            FORCED.set(Some(set));
            work()
        };
        let results = sets.into_iter().map(run).collect();
        FORCED.set(None);
        results
    }

    struct Exponentials<'a>(&'a mut [f64]);

    impl WithSimd for Exponentials<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let (vectors, rest) = S::as_mut_simd_f64s(self.0);
            vectors.iter_mut().for_each(|vector| *vector = exp_minus(simd, *vector));
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn exponentials_agree_with_the_library() {
        let arguments: Vec<f64> = (0..80_000).map(|i| 700.0 * (f64::from(i) / 80_000.0).powi(3)).collect();
        let evaluate = || {
            let mut values = arguments.clone();
            dispatch(Exponentials(&mut values));
            values
        };
        for values in on_each(evaluate) {
            for (value, argument) in values.iter().zip(&arguments) {
                let expected = (-argument).exp();
                assert!((value - expected).abs() <= 5e-16 * expected, "exp(-{argument}): {value} {expected}");
            }
        }
    }

    #[test]
    fn extreme_arguments_neither_overflow_nor_hide() {
        let evaluate = || {
            let mut values = [0.0, 708.0, 1e9, f64::INFINITY, f64::NAN, 1e-300, 0.5, 0.5];
            dispatch(Exponentials(&mut values));
            values
        };
        for values in on_each(evaluate) {
            assert_eq!(values[0], 1.0);
            assert!(values[1..4].iter().all(|&value| value > 0.0 && value < 1e-300));
            assert!(values[4].is_nan());
            assert_eq!(values[5], 1.0);
        }
    }
}
