//! Likelihoods of several groups at once, one in each lane of a vector.

use std::f64::consts::TAU;
use std::marker::PhantomData;

use ndarray::{ArrayRef1, ArrayRef2, ArrayView2};
use pulp::bytemuck::{Zeroable, cast_slice, cast_slice_mut};
use pulp::{Simd, WithSimd};

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

/// Numbers of one group's result before those of the inputs: nlml, and the derivatives by the signal scale, the
/// noise scale and the mean.
pub(super) const FIXED: usize = 4;

/// Some groups of one size.
pub(super) struct Block<'a, P> {
    /// Training points, n x d, divided by their length scales.
    pub(super) scaled: &'a ArrayRef2<f64>,
    pub(super) y: &'a ArrayRef1<f64>,
    /// Groups x rows of a group.
    pub(super) members: ArrayView2<'a, usize>,
    pub(super) signal_scale: f64,
    pub(super) noise_scale: f64,
    /// [`FIXED`] numbers a group, and for each input the length scale times the derivative by it.
    pub(super) out: &'a mut [f64],
    pub(super) pair: PhantomData<P>,
}

impl<P: Pair> WithSimd for Block<'_, P> {
    /// The order of the first leading minor that is not positive, of the first group that has one.
    type Output = Result<(), usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Result<(), usize> {
        let Block { scaled, y, members, signal_scale, noise_scale, out, .. } = self;
        let (groups, inputs) = (members.nrows(), scaled.ncols());
        let mut work = Work::<S>::new(simd, members.ncols(), inputs);
        for first in (0..groups).step_by(S::F64_LANES) {
            // Lanes without a group of their own repeat the last one.
            let group = |lane: usize| (first + lane).min(groups - 1);
            work.gather(|lane, row| members[[group(lane), row]], scaled, y);
            work.covariance::<P>(signal_scale, noise_scale);
            work.factorise()?;
            work.differentiate::<P>(signal_scale, noise_scale);
            for lane in 0..S::F64_LANES.min(groups - first) {
                let width = FIXED + inputs;
                work.scatter(lane, &mut out[(first + lane) * width..][..width]);
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
struct Work<S: Simd> {
    simd: S,
    rows: usize,
    inputs: usize,
    /// Rows x inputs.
    points: Vec<S::f64s>,
    y: Vec<S::f64s>,
    /// Lower triangles: entries of k, factors of terms, and the covariance, which becomes its factor L.
    entries: Vec<S::f64s>,
    slopes: Vec<S::f64s>,
    factor: Vec<S::f64s>,
    /// L^-1, and the squares of L's diagonal.
    inverse: Vec<S::f64s>,
    pivots: Vec<S::f64s>,
    /// As [`Block::out`].
    result: Vec<S::f64s>,
}

impl<S: Simd> Work<S> {
    #[inline(always)]
    fn new(simd: S, rows: usize, inputs: usize) -> Work<S> {
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
            inverse: vectors(triangle),
            pivots: vectors(rows),
            result: vectors(FIXED + inputs),
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

    /// Replaces the covariance by its Cholesky factor, column by column, and inverts that.
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
        let inverse = &mut self.inverse;
        for i in 0..rows {
            let (start, reciprocal) = (index(i, 0), factor[index(i, i)]);
            inverse[start..start + i].fill(simd.splat_f64s(0.0));
            for k in 0..i {
                let l = factor[start + k];
                for j in 0..=k {
                    inverse[start + j] = simd.mul_add_e_f64s(l, inverse[index(k, j)], inverse[start + j]);
                }
            }
            let minus = simd.neg_f64s(reciprocal);
            inverse[start..start + i].iter_mut().for_each(|entry| *entry = simd.mul_f64s(*entry, minus));
            inverse[start + i] = reciprocal;
        }
        Ok(())
    }

    /// The likelihoods and their derivatives, from the factors' inverses.
    #[inline(always)]
    fn differentiate<P: Pair>(&mut self, signal_scale: f64, noise_scale: f64) {
        let (simd, rows, inputs) = (self.simd, self.rows, self.inputs);
        let zero = simd.splat_f64s(0.0);
        let per_row = 1.0 / rows as f64;

        // L^-1 y and a = H^-1 y, in place of y.
        let (mut square, mut weights) = (zero, vec![zero; rows]);
        for i in 0..rows {
            let inverse = &self.inverse[index(i, 0)..][..=i];
            let mut half = zero;
            for (&entry, &y) in inverse.iter().zip(&self.y) {
                half = simd.mul_add_e_f64s(entry, y, half);
            }
            square = simd.mul_add_e_f64s(half, half, square);
            for (&entry, weight) in inverse.iter().zip(&mut weights) {
                *weight = simd.mul_add_e_f64s(entry, half, *weight);
            }
        }

        // H^-1 in place of L^-1: the sum of the outer products of its rows, of which row i is used last in row i.
        let inverse = &mut self.inverse;
        for i in 0..rows {
            for j in 0..=i {
                let mut sum = zero;
                for k in i..rows {
                    sum = simd.mul_add_e_f64s(inverse[index(k, i)], inverse[index(k, j)], sum);
                }
                // Columns j < i of row i are not needed any more, and neither is its diagonal once it is reached.
                inverse[index(i, j)] = sum;
            }
        }

        let (mut by_signal, mut trace, mut sum) = (zero, zero, zero);
        let by_input = &mut self.result[FIXED..];
        by_input.fill(zero);
        for i in 0..rows {
            sum = simd.add_f64s(sum, weights[i]);
            let a = &self.points[i * inputs..][..inputs];
            for j in 0..=i {
                let at = index(i, j);
                let cotangent = simd.negate_mul_add_e_f64s(weights[i], weights[j], inverse[at]);
                // Off the diagonal it stands for two entries; 1 / 2b comes at the end.
                let counted = if i == j { cotangent } else { simd.add_f64s(cotangent, cotangent) };
                if i == j {
                    trace = simd.add_f64s(trace, cotangent);
                }
                by_signal = simd.mul_add_e_f64s(counted, self.entries[at], by_signal);
                let weight = simd.mul_f64s(counted, self.slopes[at]);
                let b = &self.points[j * inputs..][..inputs];
                for ((sum, &a), &b) in by_input.iter_mut().zip(a).zip(b) {
                    *sum = simd.mul_add_e_f64s(weight, P::term(simd, a, b), *sum);
                }
            }
        }

        let scaled = |factor: f64, value: S::f64s| simd.mul_f64s(simd.splat_f64s(factor), value);
        let by_length = -P::FACTOR * 0.5 * per_row * signal_scale * signal_scale;
        by_input.iter_mut().for_each(|sum| *sum = scaled(by_length, *sum));
        self.result[0] = scaled(0.5 * per_row, square);
        self.result[1] = scaled(signal_scale * per_row, by_signal);
        self.result[2] = scaled(noise_scale * per_row, trace);
        self.result[3] = scaled(-per_row, sum);
    }

    /// One lane's numbers.
    #[inline(always)]
    fn scatter(&self, lane: usize, out: &mut [f64]) {
        let of_lane =
            |vectors: &[S::f64s], i: usize| cast_slice::<S::f64s, f64>(vectors)[i * S::F64_LANES + lane];
        out.iter_mut().enumerate().for_each(|(i, out)| *out = of_lane(&self.result, i));
        let log_determinant: f64 = (0..self.rows).map(|i| of_lane(&self.pivots, i).ln()).sum();
        out[0] += 0.5 * (log_determinant / self.rows as f64 + TAU.ln());
    }
}
