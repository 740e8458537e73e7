//! Types of numbers, their vectors, and functions that are compiled for each instruction set.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use bytemuck::Pod;
use pulp::{Arch, Simd, WithSimd};

/// A type of numbers in vectors.
pub trait Real: Pod + Debug + PartialOrd + Send + Sync + 'static {
    /// A cache line of numbers.
    type Strip: Pod + Index<usize, Output = Self> + IndexMut<usize> + Send + Sync;
    /// Number of numbers in a cache line.
    const STRIP: usize = size_of::<Self::Strip>() / size_of::<Self>();

    /// The nearest number of this type.
    fn from_f64(value: f64) -> Self;
    /// The same number as a double.
    fn to_f64(self) -> f64;
    /// Runs `work` compiled for the instruction set `arch`.
    fn dispatch<W: Work<Self>>(arch: Arch, work: W) -> W::Output;
    /// Runs `work` with vectors of `doubles` doubles, or twice as many singles, emulated by loops, to test each width
    /// on any machine.
    ///
    /// # Panics
    /// If `doubles` is not 2, 4 or 8.
    fn emulate<W: Work<Self>>(doubles: usize, work: W) -> W::Output;
}

/// A function on numbers `E` that is compiled once for each instruction set.
pub trait Work<E: Real> {
    /// Type of the result.
    type Output;

    /// Calls the function. Implementations are `inline(always)`.
    fn run<S: Simd>(self, simd: S) -> Self::Output
    where
        E: Lanes<S>;
}

/// Arithmetic on vectors of `Self` with the instruction set `S`.
pub trait Lanes<S: Simd>: Real {
    /// A vector.
    type V: Pod + Debug;
    /// Number of numbers in a vector.
    const LANES: usize = size_of::<Self::V>() / size_of::<Self>();

    /// A vector of this number, rounded to the type.
    fn splat(simd: S, value: f64) -> Self::V;
    /// A vector of this number.
    fn broadcast(simd: S, value: Self) -> Self::V;
    /// `a + b`.
    fn add(simd: S, a: Self::V, b: Self::V) -> Self::V;
    /// `a - b`.
    fn sub(simd: S, a: Self::V, b: Self::V) -> Self::V;
    /// `a b`.
    fn mul(simd: S, a: Self::V, b: Self::V) -> Self::V;
    /// `a / b`.
    fn div(simd: S, a: Self::V, b: Self::V) -> Self::V;
    /// `a b + c`.
    fn mul_add(simd: S, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `c - a b`.
    fn negate_mul_add(simd: S, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// Square roots, correctly rounded. Several vectors at a time share two ways to a root, where that is faster.
    fn sqrt<const M: usize>(simd: S, a: [Self::V; M]) -> [Self::V; M];
    /// The larger of `a` and `limit`; NaN stays NaN.
    fn at_least(simd: S, limit: f64, a: Self::V) -> Self::V;
    /// `exp(-a)` for `a >= 0`, to 1 unit in the last place. Smaller results than the smallest normal number are
    /// replaced by about that number; NaN stays NaN. It takes several vectors at a time, since each is a long chain
    /// of dependent steps.
    fn exp_minus<const M: usize>(simd: S, a: [Self::V; M]) -> [Self::V; M];
    /// `sum += a`, number by number.
    fn add_to(simd: S, a: Self::V, sum: &mut [f64]);
}

struct Dispatch<W, E> {
    work: W,
    numbers: PhantomData<E>,
}

impl<W: Work<f64>> WithSimd for Dispatch<W, f64> {
    type Output = W::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> W::Output {
        self.work.run(simd)
    }
}

impl<W: Work<f32>> WithSimd for Dispatch<W, f32> {
    type Output = W::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> W::Output {
        self.work.run(simd)
    }
}

impl Real for f64 {
    type Strip = [f64; 8];

    #[inline(always)]
    fn from_f64(value: f64) -> f64 {
        value
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    fn dispatch<W: Work<f64>>(arch: Arch, work: W) -> W::Output {
        arch.dispatch(Dispatch { work, numbers: PhantomData::<f64> })
    }

    fn emulate<W: Work<f64>>(doubles: usize, work: W) -> W::Output {
        emulate(doubles, Dispatch { work, numbers: PhantomData::<f64> })
    }
}

impl Real for f32 {
    type Strip = [f32; 16];

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "rounding is intended")]
    fn from_f64(value: f64) -> f32 {
        value as f32
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    fn dispatch<W: Work<f32>>(arch: Arch, work: W) -> W::Output {
        arch.dispatch(Dispatch { work, numbers: PhantomData::<f32> })
    }

    fn emulate<W: Work<f32>>(doubles: usize, work: W) -> W::Output {
        emulate(doubles, Dispatch { work, numbers: PhantomData::<f32> })
    }
}

/// Vectors of 2, 4 or 8 doubles, emulated by loops.
fn emulate<W: WithSimd>(doubles: usize, work: W) -> W::Output {
    match doubles {
        2 => work.with_simd(pulp::Scalar128b),
        4 => work.with_simd(pulp::Scalar256b),
        8 => work.with_simd(pulp::Scalar512b),
        _ => panic!("no processor has vectors of {doubles} doubles"),
    }
}
