//! Arithmetic on vectors, and the exponential function of them.

use pulp::Simd;

#[cfg(target_arch = "x86_64")]
use super::root;
use super::{Lanes, Real};

/// `exp(r) = 1 + r + r^2 q(r)` on `|r| <= ln(2) / 2`, to a relative 4e-17: coefficients of q, even and odd in turn,
/// interpolated at Chebyshev nodes, the first two rounded to those of the series itself.
const EXP_F64: [(f64, f64); 5] = [
    (0.5, 0.166_666_666_666_666_66),
    (0.041_666_666_666_624_13, 0.008_333_333_333_330_062),
    (0.001_388_888_891_721_371_7, 0.000_198_412_698_630_536_18),
    (2.480_152_129_595_437_6e-5, 2.755_726_845_999_706_4e-6),
    (2.762_008_844_540_974_6e-7, 2.510_038_549_551_032e-8),
];
/// The same for `f32`, relative error 1e-8.
const EXP_F32: [(f64, f64); 3] = [
    (0.5, 0.166_665_769_896_987_75),
    (0.041_666_554_617_204_574, 0.008_363_179_052_722_578),
    (0.001_392_618_358_771_347, 0.0),
];

/// `sum += a`, a vector at a time. From a loop over numbers, compilers generate strided loads from several vectors.
#[inline(always)]
fn add_doubles<S: Simd>(simd: S, a: S::f64s, sum: &mut [f64]) {
    let [sum] = bytemuck::cast_slice_mut::<f64, S::f64s>(sum) else {
        unreachable!("as many sums as numbers")
    };
    *sum = simd.add_f64s(*sum, a);
}

/// The same for singles, a vector of doubles at a time: two for each vector, or one where a vector is a number.
#[inline(always)]
fn add_singles<S: Simd>(simd: S, a: S::f32s, sum: &mut [f64]) {
    let numbers = bytemuck::cast_slice::<S::f32s, f32>(std::slice::from_ref(&a));
    let lanes = size_of::<S::f64s>() / size_of::<f64>();
    let sums = bytemuck::cast_slice_mut::<f64, S::f64s>(&mut sum[..numbers.len()]);
    for (sum, numbers) in sums.iter_mut().zip(numbers.chunks_exact(lanes)) {
        let mut doubles = simd.splat_f64s(0.0);
        let places = bytemuck::cast_slice_mut::<S::f64s, f64>(std::slice::from_mut(&mut doubles));
        places.iter_mut().zip(numbers).for_each(|(double, &number)| *double = f64::from(number));
        *sum = simd.add_f64s(*sum, doubles);
    }
}

macro_rules! lanes {
    (
        $real:ident, $vector:ident,
        $splat:ident, $add:ident, $sub:ident, $mul:ident, $div:ident, $mul_add:ident, $negate_mul_add:ident, $sqrt:ident,
        $less:ident, $select:ident, $min:ident, $max:ident,
        $bits:ident, digits: $digits:literal, bias: $bias:literal,
        round: $round:expr, ln2: $ln2:expr, most: $most:expr, series: $series:expr, add_to: $add_to:ident
    ) => {
        impl<S: Simd> Lanes<S> for $real {
            type V = S::$vector;

            #[inline(always)]
            fn splat(simd: S, value: f64) -> Self::V {
                simd.$splat($real::from_f64(value))
            }

            #[inline(always)]
            fn broadcast(simd: S, value: $real) -> Self::V {
                simd.$splat(value)
            }

            #[inline(always)]
            fn add(simd: S, a: Self::V, b: Self::V) -> Self::V {
                simd.$add(a, b)
            }

            #[inline(always)]
            fn sub(simd: S, a: Self::V, b: Self::V) -> Self::V {
                simd.$sub(a, b)
            }

            #[inline(always)]
            fn mul(simd: S, a: Self::V, b: Self::V) -> Self::V {
                simd.$mul(a, b)
            }

            #[inline(always)]
            fn div(simd: S, a: Self::V, b: Self::V) -> Self::V {
                simd.$div(a, b)
            }

            #[inline(always)]
            fn mul_add(simd: S, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
                simd.$mul_add(a, b, c)
            }

            #[inline(always)]
            fn negate_mul_add(simd: S, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
                simd.$negate_mul_add(a, b, c)
            }

            #[inline(always)]
            fn sqrt<const M: usize>(simd: S, a: [Self::V; M]) -> [Self::V; M] {
                #[cfg(target_arch = "x86_64")]
                if let Some(v4) = root::slow(simd) {
                    let mut roots = a;
                    for (i, root) in roots.iter_mut().enumerate() {
                        *root = if (i + 1).is_multiple_of(root::SHARED) {
                            simd.$sqrt(*root)
                        } else {
                            bytemuck::cast(root::refined::<$real>(v4, bytemuck::cast(*root)))
                        };
                    }
                    return roots;
                }
                a.map(|a| simd.$sqrt(a))
            }

            #[inline(always)]
            fn at_least(simd: S, limit: f64, a: Self::V) -> Self::V {
                let limit = <Self as Lanes<S>>::splat(simd, limit);
                if S::IS_SCALAR {
                    simd.$select(simd.$less(a, limit), limit, a)
                } else {
                    // Returns the second operand where either is NaN.
                    simd.$max(limit, a)
                }
            }

            // Each step runs for all vectors before the next step, so that its constants are loaded once.
            #[inline(always)]
            fn exp_minus<const M: usize>(simd: S, a: [Self::V; M]) -> [Self::V; M] {
                let splat = |value| <Self as Lanes<S>>::splat(simd, value);
                // -a = n ln 2 - r with |r| <= ln(2) / 2.
                let (round, per_octave, most) =
                    (splat($round), splat(std::f64::consts::LOG2_E), splat($most));
                let [high, low] = $ln2.map(splat);
                let mut r = a;
                let mut shifted = a;
                for (r, shifted) in r.iter_mut().zip(&mut shifted) {
                    *r = if S::IS_SCALAR {
                        simd.$select(simd.$less(most, *r), most, *r)
                    } else {
                        // Returns the second operand where either is NaN.
                        simd.$min(most, *r)
                    };
                    *shifted = simd.$negate_mul_add(*r, per_octave, round);
                }
                for (r, shifted) in r.iter_mut().zip(shifted) {
                    let n = simd.$sub(shifted, round);
                    *r = simd.$mul_add(n, high, *r);
                    *r = simd.$mul_add(n, low, *r);
                }
                // The even and the odd powers of q(-r).
                let squares = r.map(|r| simd.$mul(r, r));
                let [.., (last_even, last_odd)] = $series;
                let (mut even, mut odd) = ([splat(last_even); M], [splat(last_odd); M]);
                for (even_coefficient, odd_coefficient) in $series.into_iter().rev().skip(1) {
                    for (coefficient, sums) in [(even_coefficient, &mut even), (odd_coefficient, &mut odd)] {
                        let coefficient = splat(coefficient);
                        for (sum, square) in sums.iter_mut().zip(squares) {
                            *sum = simd.$mul_add(*sum, square, coefficient);
                        }
                    }
                }
                let one = splat(1.0);
                let mut out = r;
                for (i, out) in out.iter_mut().enumerate() {
                    let q = simd.$negate_mul_add(r[i], odd[i], even[i]);
                    let mantissa = simd.$sub(one, simd.$negate_mul_add(squares[i], q, r[i]));
                    // The integer in the low bits becomes the exponent of a power of two.
                    let mut power = shifted[i];
                    for bits in bytemuck::cast_slice_mut::<Self::V, $bits>(std::slice::from_mut(&mut power)) {
                        *bits = (*bits << $digits).wrapping_add($bias << $digits);
                    }
                    *out = simd.$mul(mantissa, power);
                }
                out
            }

            #[inline(always)]
            fn add_to(simd: S, a: Self::V, sum: &mut [f64]) {
                $add_to(simd, a, sum);
            }
        }
    };
}

lanes!(
    f64, f64s,
    splat_f64s, add_f64s, sub_f64s, mul_f64s, div_f64s, mul_add_e_f64s, negate_mul_add_e_f64s, sqrt_f64s,
    less_than_f64s, select_f64s, min_f64s, max_f64s,
    u64, digits: 52, bias: 1023,
    // 1.5 * 2^52: adding it rounds to an integer, which is then in the low bits.
    round: 6_755_399_441_055_744.0,
    // ln 2 in two parts, the first of 32 significant bits, so that products with an exponent are exact.
    ln2: [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10],
    most: 708.0, series: EXP_F64, add_to: add_doubles
);
lanes!(
    f32, f32s,
    splat_f32s, add_f32s, sub_f32s, mul_f32s, div_f32s, mul_add_e_f32s, negate_mul_add_e_f32s, sqrt_f32s,
    less_than_f32s, select_f32s, min_f32s, max_f32s,
    u32, digits: 23, bias: 127,
    round: 12_582_912.0,
    ln2: [0.693_359_375, -2.121_944_4e-4],
    most: 87.0, series: EXP_F32, add_to: add_singles
);
