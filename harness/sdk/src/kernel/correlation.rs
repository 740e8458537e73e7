//! The stationary families: k and its slope as functions of the squared scaled distance.

use gpbench_numerics::simd::Lanes;
use pulp::Simd;

/// exp(-a) for a >= 0.
#[inline(always)]
fn exp_minus<S: Simd>(simd: S, a: S::f64s) -> S::f64s {
    let [decay] = <f64 as Lanes<S>>::exp_minus(simd, [a]);
    decay
}

/// One family's formulae.
pub(crate) trait Correlation: Sync {
    /// k and its slope -2 dk/d(r^2) at squared scaled distances `r2`.
    fn with_slope<S: Simd>(simd: S, r2: S::f64s) -> [S::f64s; 2];
}

/// Calls `$function::<C>($arguments)` with the formulae C of a stationary family; `$linear` if it is the inner
/// product.
macro_rules! by_family {
    ($family:expr, $function:ident($($argument:expr),* $(,)?), linear: $linear:expr) => {
        match $family {
            $crate::Covariance::Stationary($crate::Family::Rbf) =>
                $function::<$crate::kernel::correlation::Rbf>($($argument),*),
            $crate::Covariance::Stationary($crate::Family::Matern12) =>
                $function::<$crate::kernel::correlation::Matern12>($($argument),*),
            $crate::Covariance::Stationary($crate::Family::Matern32) =>
                $function::<$crate::kernel::correlation::Matern32>($($argument),*),
            $crate::Covariance::Stationary($crate::Family::Matern52) =>
                $function::<$crate::kernel::correlation::Matern52>($($argument),*),
            $crate::Covariance::Linear => $linear,
        }
    };
}
pub(crate) use by_family;

/// exp(-r^2 / 2).
pub(crate) struct Rbf;

impl Correlation for Rbf {
    #[inline(always)]
    fn with_slope<S: Simd>(simd: S, r2: S::f64s) -> [S::f64s; 2] {
        [exp_minus(simd, simd.mul_f64s(simd.splat_f64s(0.5), r2)); 2]
    }
}

/// exp(-r).
pub(crate) struct Matern12;

impl Correlation for Matern12 {
    /// The slope k / r is unbounded at 0, but is only ever multiplied by differences, which are 0 there: below
    /// r = 1e-6 it is replaced by one that falls to 0.
    #[inline(always)]
    fn with_slope<S: Simd>(simd: S, r2: S::f64s) -> [S::f64s; 2] {
        let r = simd.sqrt_f64s(r2);
        let k = exp_minus(simd, r);
        let floor = simd.splat_f64s(1e-12);
        let bounded = simd.select_f64s(simd.less_than_f64s(r2, floor), floor, r2);
        [k, simd.div_f64s(simd.mul_f64s(k, r), bounded)]
    }
}

/// (1 + a) exp(-a), a = sqrt(3) r.
pub(crate) struct Matern32;

impl Correlation for Matern32 {
    #[inline(always)]
    fn with_slope<S: Simd>(simd: S, r2: S::f64s) -> [S::f64s; 2] {
        let three = simd.splat_f64s(3.0);
        let a = simd.sqrt_f64s(simd.mul_f64s(three, r2));
        let decay = exp_minus(simd, a);
        [simd.mul_add_e_f64s(a, decay, decay), simd.mul_f64s(three, decay)]
    }
}

/// (1 + a + a^2 / 3) exp(-a), a = sqrt(5) r.
pub(crate) struct Matern52;

impl Correlation for Matern52 {
    #[inline(always)]
    fn with_slope<S: Simd>(simd: S, r2: S::f64s) -> [S::f64s; 2] {
        let (one, third) = (simd.splat_f64s(1.0), simd.splat_f64s(1.0 / 3.0));
        let a = simd.sqrt_f64s(simd.mul_f64s(simd.splat_f64s(5.0), r2));
        let decay = exp_minus(simd, a);
        let polynomial = simd.mul_add_e_f64s(a, simd.mul_add_e_f64s(a, third, one), one);
        let slope = simd.mul_f64s(simd.splat_f64s(5.0 / 3.0), simd.mul_add_e_f64s(a, decay, decay));
        [simd.mul_f64s(polynomial, decay), slope]
    }
}
