//! Sine and cosine, written so that the compiler vectorises them.
//!
//! Without branches, tables and library calls, a loop over a slice becomes SIMD code for the instruction set that
//! [`pulp`] finds at run time. Multiply-adds are not fused, so that every instruction set gives the same bits.

use gpbench_numerics::simd;

/// `1.5 * 2^52`: adding it rounds to an integer, which is then in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// `pi / 2` in three parts, the first two of 33 significant bits.
const HALF_PI: [f64; 3] = [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_6e-21];
/// Largest angle whose number of quarter turns times a part of `pi / 2` is exact.
const LARGEST_ANGLE: f64 = (1 << 20) as f64;
/// `-1/3!, 1/5!, ... 1/17!`. On `|r| <= pi / 4` the remainder of the series is below 1e-19.
const SINE: [f64; 8] = [
    -1.0 / 6.0,
    1.0 / 120.0,
    -1.0 / 5_040.0,
    1.0 / 362_880.0,
    -1.0 / 39_916_800.0,
    1.0 / 6_227_020_800.0,
    -1.0 / 1_307_674_368_000.0,
    1.0 / 355_687_428_096_000.0,
];
/// `1/4!, -1/6!, ... -1/18!`, with as small a remainder.
const COSINE: [f64; 8] = [
    1.0 / 24.0,
    -1.0 / 720.0,
    1.0 / 40_320.0,
    -1.0 / 3_628_800.0,
    1.0 / 479_001_600.0,
    -1.0 / 87_178_291_200.0,
    1.0 / 20_922_789_888_000.0,
    -1.0 / 6_402_373_705_728_000.0,
];

/// Sine and cosine of `x`, to 2e-16, for `|x| <= LARGEST_ANGLE`; arbitrary for larger angles.
///
/// Cody and Waite's reduction `x = n pi / 2 + r`, then the Taylor polynomials of `sin(r)` and `cos(r)`, exchanged and
/// negated according to the low bits of `n`.
#[inline(always)]
fn reduced_sin_cos(x: f64) -> (f64, f64) {
    let shifted = x * std::f64::consts::FRAC_2_PI + ROUND;
    let n = shifted - ROUND;
    let r = ((x - n * HALF_PI[0]) - n * HALF_PI[1]) - n * HALF_PI[2];
    let r2 = r * r;
    let series = |terms: &[f64; 8]| {
        let mut sum = terms[7];
        sum = sum * r2 + terms[6];
        sum = sum * r2 + terms[5];
        sum = sum * r2 + terms[4];
        sum = sum * r2 + terms[3];
        sum = sum * r2 + terms[2];
        sum = sum * r2 + terms[1];
        sum * r2 + terms[0]
    };
    let sine = (r + r * r2 * series(&SINE)).to_bits();
    let cosine = (1.0 - (0.5 * r2 - r2 * r2 * series(&COSINE))).to_bits();
    let quarter = shifted.to_bits();
    let exchange = 0_u64.wrapping_sub(quarter & 1);
    let sign = |turns: u64| (turns & 2) << 62;
    let sin = ((sine & !exchange) | (cosine & exchange)) ^ sign(quarter);
    let cos = ((cosine & !exchange) | (sine & exchange)) ^ sign(quarter.wrapping_add(1));
    (f64::from_bits(sin), f64::from_bits(cos))
}

/// Sine and cosine of any `x`, to 2e-16.
#[inline(always)]
fn sin_cos(x: f64) -> (f64, f64) {
    // The condition is false for NaN.
    if x.abs() <= LARGEST_ANGLE { reduced_sin_cos(x) } else { x.sin_cos() }
}

/// Replaces `angles` by `scale` times their sines, and `cosines` by `scale` times their cosines.
pub(crate) fn sines_and_cosines(angles: &mut [f64], cosines: &mut [f64], scale: f64) {
    simd::arch().dispatch(SinesAndCosines { angles, cosines, scale });
}

struct SinesAndCosines<'a> {
    angles: &'a mut [f64],
    cosines: &'a mut [f64],
    scale: f64,
}

impl pulp::WithSimd for SinesAndCosines<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let SinesAndCosines { angles, cosines, scale } = self;
        // Larger angles are rare, and a test of each would prevent vectorisation of the loop.
        let within = angles.iter().fold(true, |within, angle| within & (angle.abs() <= LARGEST_ANGLE));
        let pairs = angles.iter_mut().zip(cosines);
        let put = |(angle, cosine): (&mut f64, &mut f64), (sin, cos): (f64, f64)| {
            *angle = scale * sin;
            *cosine = scale * cos;
        };
        if within {
            pairs.for_each(|pair| {
                let values = reduced_sin_cos(*pair.0);
                put(pair, values);
            });
        } else {
            pairs.for_each(|pair| {
                let values = sin_cos(*pair.0);
                put(pair, values);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sine_and_cosine_agree_with_the_library() {
        let mut worst: f64 = 0.0;
        for i in 0..1_000_000_u64 {
            let turn = (i as f64 * 0.618_033_988_749_894_9).fract() - 0.5;
            // Near zero, over a few turns, and up to twice the largest angle; a multiple of pi / 2.
            let quarter = (i % 1000) as f64 * std::f64::consts::FRAC_PI_2;
            for x in [turn, 50.0 * turn, 2.0 * LARGEST_ANGLE * turn, quarter] {
                let ((sin, cos), (expected_sin, expected_cos)) = (sin_cos(x), x.sin_cos());
                worst = worst.max((sin - expected_sin).abs()).max((cos - expected_cos).abs());
            }
        }
        assert!(worst <= 2.3e-16, "{worst:e}");
    }

    #[test]
    fn sine_and_cosine_of_extreme_angles() {
        assert_eq!(sin_cos(0.0), (0.0, 1.0));
        assert_eq!(sin_cos(1e-300), (1e-300, 1.0));
        assert_eq!(sin_cos(1e12), 1e12_f64.sin_cos());
        for x in [f64::INFINITY, f64::NAN] {
            assert!(sin_cos(x).0.is_nan() && sin_cos(x).1.is_nan());
        }
    }

    #[test]
    fn an_angle_does_not_depend_on_its_neighbours() {
        let angles: Vec<f64> = (0..103).map(|i| 0.37 * f64::from(i) - 7.0).collect();
        let bits = |mut angles: Vec<f64>| -> Vec<u64> {
            let mut cosines = vec![0.0; angles.len()];
            sines_and_cosines(&mut angles, &mut cosines, 0.3);
            angles.iter().chain(&cosines).map(|v| v.to_bits()).collect()
        };
        let vectorised = bits(angles.clone());
        let scalar = |i: usize, part: fn((f64, f64)) -> f64| (0.3 * part(sin_cos(angles[i]))).to_bits();
        let expected = (0..103).map(|i| scalar(i, |it| it.0)).chain((0..103).map(|i| scalar(i, |it| it.1)));
        assert_eq!(vectorised, expected.collect::<Vec<_>>());
        // With one larger angle, the others keep their bits.
        let mut with_large = bits([angles, vec![1e9]].concat());
        with_large.remove(207);
        with_large.remove(103);
        assert_eq!(with_large, vectorised);
    }
}
