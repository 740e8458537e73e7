//! Likelihoods of several groups at once, one in each lane of a vector.

mod conditional;
mod joint;

use std::marker::PhantomData;

use ndarray::{ArrayRef1, ArrayRef2, ArrayView2};
use pulp::bytemuck::{Zeroable, cast_slice, cast_slice_mut};
use pulp::{Simd, WithSimd};

pub(super) use conditional::Conditional;
pub(super) use joint::Joint;

use crate::kernel::correlation::Correlation;

/// A kernel's entry as a function of a sum over the inputs.
pub(super) trait Pair: Sync {
    /// An input's derivative by its length scale is -`FACTOR` / length times its term of the sum.
    const FACTOR: f64;

    /// An input's term of the sum.
    fn term<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s;

    /// The entry, and the factor of a term in the derivative by its length scale.
    fn entry<S: Simd>(simd: S, sum: S::f64s) -> [S::f64s; 2];
}

/// A stationary family.
pub(super) struct Stationary<C>(PhantomData<C>);

impl<C: Correlation> Pair for Stationary<C> {
    const FACTOR: f64 = -1.0;

    #[inline(always)]
    fn term<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
        let difference = simd.sub_f64s(a, b);
        simd.mul_f64s(difference, difference)
    }

    #[inline(always)]
    fn entry<S: Simd>(simd: S, sum: S::f64s) -> [S::f64s; 2] {
        C::with_slope(simd, sum)
    }
}

/// The inner product.
pub(super) struct Inner;

impl Pair for Inner {
    const FACTOR: f64 = 2.0;

    #[inline(always)]
    fn term<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
        simd.mul_f64s(a, b)
    }

    #[inline(always)]
    fn entry<S: Simd>(simd: S, sum: S::f64s) -> [S::f64s; 2] {
        [sum, simd.splat_f64s(1.0)]
    }
}

/// What is computed of each group, from the Cholesky factor of its covariance.
pub(super) trait Density: Copy + Sync {
    /// Numbers of one group's result before those of the inputs.
    const FIXED: usize;

    /// Fills [`Work::result`]. For each input it is the length scale times the derivative by it.
    fn evaluate<P: Pair, S: Simd>(self, work: &mut Work<S>, signal_scale: f64, noise_scale: f64);

    /// Adds to one lane's numbers the logarithms, for which vectors have no function. `pivots` are the squares of L's
    /// diagonal.
    fn complete(self, out: &mut [f64], pivots: impl ExactSizeIterator<Item = f64>);
}

/// Some groups of one size.
pub(super) struct Block<'a, P, O> {
    /// Training points, n x d, divided by their length scales.
    pub(super) scaled: &'a ArrayRef2<f64>,
    pub(super) y: &'a ArrayRef1<f64>,
    /// Groups x rows of a group.
    pub(super) members: ArrayView2<'a, usize>,
    pub(super) signal_scale: f64,
    pub(super) noise_scale: f64,
    /// [`Density::FIXED`] numbers a group, and one for each input.
    pub(super) out: &'a mut [f64],
    pub(super) pair: PhantomData<P>,
    pub(super) density: O,
}

impl<P: Pair, O: Density> WithSimd for Block<'_, P, O> {
    /// The order of the first leading minor that is not positive, of the first group that has one.
    type Output = Result<(), usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Result<(), usize> {
        let Block { scaled, y, members, signal_scale, noise_scale, out, density, .. } = self;
        let (groups, inputs) = (members.nrows(), scaled.ncols());
        let mut work = Work::<S>::new(simd, members.ncols(), inputs, O::FIXED);
        for first in (0..groups).step_by(S::F64_LANES) {
            // Lanes without a group of their own repeat the last one.
            let group = |lane: usize| (first + lane).min(groups - 1);
            work.gather(|lane, row| members[[group(lane), row]], scaled, y);
            work.covariance::<P>(signal_scale, noise_scale);
            work.factorise()?;
            density.evaluate::<P, S>(&mut work, signal_scale, noise_scale);
            for lane in 0..S::F64_LANES.min(groups - first) {
                let width = O::FIXED + inputs;
                work.scatter(density, lane, &mut out[(first + lane) * width..][..width]);
            }
        }
        Ok(())
    }
}

/// Index of an entry of a lower triangle that is stored row after row.
#[inline(always)]
fn index(row: usize, column: usize) -> usize {
    row * (row + 1) / 2 + column
}

/// Memory for the groups of one vector.
pub(super) struct Work<S: Simd> {
    simd: S,
    rows: usize,
    inputs: usize,
    /// Rows x inputs.
    points: Vec<S::f64s>,
    y: Vec<S::f64s>,
    /// Lower triangles: entries of k, factors of terms, and the covariance, which becomes its factor L with the
    /// reciprocals of its diagonal.
    entries: Vec<S::f64s>,
    slopes: Vec<S::f64s>,
    factor: Vec<S::f64s>,
    /// Squares of L's diagonal.
    pivots: Vec<S::f64s>,
    /// As [`Block::out`].
    result: Vec<S::f64s>,
}

impl<S: Simd> Work<S> {
    #[inline(always)]
    fn new(simd: S, rows: usize, inputs: usize, fixed: usize) -> Work<S> {
        let vectors = |count: usize| vec![S::f64s::zeroed(); count];
        let triangle = rows * (rows + 1) / 2;
        Work {
            simd,
            rows,
            inputs,
            points: vectors(rows * inputs),
            y: vectors(rows),
            entries: vectors(triangle),
            slopes: vectors(triangle),
            factor: vectors(triangle),
            pivots: vectors(rows),
            result: vectors(fixed + inputs),
        }
    }

    /// Collects each lane's rows.
    #[inline(always)]
    fn gather(
        &mut self,
        member: impl Fn(usize, usize) -> usize,
        scaled: &ArrayRef2<f64>,
        y: &ArrayRef1<f64>,
    ) {
        let points = cast_slice_mut::<S::f64s, f64>(&mut self.points);
        let targets = cast_slice_mut::<S::f64s, f64>(&mut self.y);
        for lane in 0..S::F64_LANES {
            for row in 0..self.rows {
                let index = member(lane, row);
                targets[row * S::F64_LANES + lane] = y[index];
                let lanes =
                    points[row * self.inputs * S::F64_LANES + lane..].iter_mut().step_by(S::F64_LANES);
                lanes.zip(scaled.row(index)).for_each(|(out, &coordinate)| *out = coordinate);
            }
        }
    }

    /// Evaluates the entries of k and the covariance.
    #[inline(always)]
    fn covariance<P: Pair>(&mut self, signal_scale: f64, noise_scale: f64) {
        let simd = self.simd;
        let scale = simd.splat_f64s(signal_scale * signal_scale);
        let noise = simd.splat_f64s(noise_scale * noise_scale);
        for i in 0..self.rows {
            let a = &self.points[i * self.inputs..][..self.inputs];
            for j in 0..=i {
                let b = &self.points[j * self.inputs..][..self.inputs];
                let mut sum = simd.splat_f64s(0.0);
                for (&a, &b) in a.iter().zip(b) {
                    sum = simd.add_f64s(sum, P::term(simd, a, b));
                }
                let at = index(i, j);
                [self.entries[at], self.slopes[at]] = P::entry(simd, sum);
                self.factor[at] = simd.mul_f64s(scale, self.entries[at]);
            }
            let diagonal = &mut self.factor[index(i, i)];
            *diagonal = simd.add_f64s(*diagonal, noise);
        }
    }

    /// Replaces the covariance by its Cholesky factor, column by column.
    #[inline(always)]
    fn factorise(&mut self) -> Result<(), usize> {
        let (simd, rows, factor) = (self.simd, self.rows, &mut self.factor);
        let one = simd.splat_f64s(1.0);
        for j in 0..rows {
            let pivot = factor[index(j, j)];
            if cast_slice::<S::f64s, f64>(&[pivot]).iter().any(|&pivot| !(pivot > 0.0)) {
                return Err(j + 1);
            }
            self.pivots[j] = pivot;
            let root = simd.sqrt_f64s(pivot);
            let reciprocal = simd.div_f64s(one, root);
            // The diagonal is kept as its reciprocal, which is all that follows needs.
            factor[index(j, j)] = reciprocal;
            for i in j + 1..rows {
                factor[index(i, j)] = simd.mul_f64s(factor[index(i, j)], reciprocal);
            }
            for i in j + 1..rows {
                let (l, start) = (factor[index(i, j)], index(i, 0));
                for k in j + 1..=i {
                    factor[start + k] = simd.negate_mul_add_e_f64s(l, factor[index(k, j)], factor[start + k]);
                }
            }
        }
        Ok(())
    }

    /// One lane's numbers.
    #[inline(always)]
    fn scatter(&self, density: impl Density, lane: usize, out: &mut [f64]) {
        let of_lane =
            |vectors: &[S::f64s], i: usize| cast_slice::<S::f64s, f64>(vectors)[i * S::F64_LANES + lane];
        out.iter_mut().enumerate().for_each(|(i, out)| *out = of_lane(&self.result, i));
        density.complete(out, (0..self.rows).map(|i| of_lane(&self.pivots, i)));
    }
}
