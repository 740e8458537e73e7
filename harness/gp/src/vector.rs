//! Correlation functions written so that the compiler vectorises them.
//!
//! No branches, no table, no library call: a loop over a slice becomes straight
//! SIMD code for whatever instruction set [`pulp`] finds at run time. Fused
//! multiply-add is left out on purpose, so that every instruction set rounds
//! alike and a result does not depend on the machine's vector width.

/// `1.5 * 2^52`: adding it rounds to an integer, which then stands in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// High part of `ln 2`: 32 significant bits, so that products with an exponent are exact.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
/// `ln 2 - LN2_HIGH`.
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Below this the result would be subnormal; it is 0 instead.
const SMALLEST: f64 = -708.0;
/// `1/2!, 1/3!, ... 1/13!`. On `|r| <= ln(2) / 2` the rest of the series is below 5e-18.
const TAYLOR: [f64; 12] = [
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

/// `exp(x)` for `x <= 0`, to 2 units in the last place; 0 below -708; NaN stays NaN.
///
/// Cody and Waite's reduction `x = n ln 2 + r`, the Taylor polynomial of `exp(r)`,
/// and `2^n` put together from its bits.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let mut tail = TAYLOR[11];
    tail = tail * r + TAYLOR[10];
    tail = tail * r + TAYLOR[9];
    tail = tail * r + TAYLOR[8];
    tail = tail * r + TAYLOR[7];
    tail = tail * r + TAYLOR[6];
    tail = tail * r + TAYLOR[5];
    tail = tail * r + TAYLOR[4];
    tail = tail * r + TAYLOR[3];
    tail = tail * r + TAYLOR[2];
    tail = tail * r + TAYLOR[1];
    tail = tail * r + TAYLOR[0];
    let mantissa = 1.0 + (r + (r * r) * tail);
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    if x < SMALLEST { 0.0 } else { mantissa * power }
}

/// Correlation of [`crate::Family::Rbf`] at squared scaled distance `r2`.
#[inline(always)]
pub(crate) fn rbf(r2: f64) -> f64 {
    exp(-0.5 * r2)
}

/// Correlation of [`crate::Family::Matern12`] at squared scaled distance `r2`.
#[inline(always)]
pub(crate) fn matern12(r2: f64) -> f64 {
    exp(-r2.sqrt())
}

/// Correlation of [`crate::Family::Matern32`] at squared scaled distance `r2`.
#[inline(always)]
pub(crate) fn matern32(r2: f64) -> f64 {
    let a = (3.0 * r2).sqrt();
    (1.0 + a) * exp(-a)
}

/// Correlation of [`crate::Family::Matern52`] at squared scaled distance `r2`.
#[inline(always)]
pub(crate) fn matern52(r2: f64) -> f64 {
    let a = (5.0 * r2).sqrt();
    (1.0 + a * (1.0 + a * (1.0 / 3.0))) * exp(-a)
}

/// The instruction set that tiles are evaluated with: `avx512`, `avx2` or `portable`.
pub fn cpu_dispatch() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    match pulp::Arch::new() {
        pulp::Arch::V4(_) => return "avx512",
        pulp::Arch::V3(_) => return "avx2",
        _ => {}
    }
    "portable"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance in units in the last place between two positive numbers.
    fn ulps(a: f64, b: f64) -> u64 {
        a.to_bits().abs_diff(b.to_bits())
    }

    #[test]
    fn exp_is_within_two_ulp() {
        let mut worst = 0;
        for i in 0..2_000_000u64 {
            // Irrational step, so that every reduced argument is met.
            let x = -((i as f64 * 0.618_033_988_749_894_9).fract()) * 708.0;
            worst = worst.max(ulps(exp(x), x.exp()));
            let near = x / 708.0;
            worst = worst.max(ulps(exp(near), near.exp()));
        }
        // The library's own exp is within half a unit or a little more.
        assert!(worst <= 1, "{worst} ulp from the library's exp");
    }

    #[test]
    fn exp_at_its_ends() {
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-0.0), 1.0);
        assert_eq!(exp(-1e-300), 1.0);
        assert!(exp(-708.0) > 0.0);
        assert_eq!(exp((-708.0_f64).next_down()), 0.0);
        assert_eq!(exp(-1e6), 0.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert!(exp(f64::NAN).is_nan());
    }

    struct All<'a> {
        family: crate::Family,
        r2: &'a [f64],
    }

    impl pulp::WithSimd for All<'_> {
        type Output = Vec<u64>;

        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, _: S) -> Vec<u64> {
            let mut out = self.r2.to_vec();
            match self.family {
                crate::Family::Rbf => out.iter_mut().for_each(|v| *v = rbf(*v)),
                crate::Family::Matern12 => out.iter_mut().for_each(|v| *v = matern12(*v)),
                crate::Family::Matern32 => out.iter_mut().for_each(|v| *v = matern32(*v)),
                crate::Family::Matern52 => out.iter_mut().for_each(|v| *v = matern52(*v)),
            }
            out.iter().map(|v| v.to_bits()).collect()
        }
    }

    #[test]
    fn vectorised_and_scalar_results_are_the_same_bits() {
        let r2: Vec<f64> = (0..1003).map(|i| 0.37 * f64::from(i)).collect();
        for family in crate::Family::ALL {
            let scalar: Vec<u64> = r2.iter().map(|&r2| family.correlation(r2).to_bits()).collect();
            let vectorised = pulp::Arch::new().dispatch(All { family, r2: &r2 });
            assert_eq!(scalar, vectorised, "{family}");
        }
    }
}
