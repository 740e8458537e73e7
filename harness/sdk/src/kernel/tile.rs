//! Entries of stationary Gram matrices, many rows at a time.
//!
//! Distances are taken from differences of coordinates: equal points have distance 0, and the matrix of one set with
//! itself is symmetric to the last bit.

use std::marker::PhantomData;
use std::slice::ChunksExact;

use gpbench_numerics::Aligned;
use ndarray::{ArrayRef2, ArrayViewMut2};
use pulp::{Simd, WithSimd};

use super::correlation::Correlation;

/// Rows of a strip: four vectors of the widest instruction set.
const STRIP: usize = 32;
/// Vectors of rows worked on together, to hide the latency of each.
const VECTORS: usize = 4;

/// Points, divided by their length scales, in strips of rows: coordinate after coordinate inside a strip. The last
/// strip is filled up with zeros.
pub(super) struct Strips {
    numbers: Aligned,
    rows: usize,
    coordinates: usize,
}

impl Strips {
    pub(super) fn new(scaled: &ArrayRef2<f64>) -> Strips {
        let (rows, coordinates) = scaled.dim();
        let mut memory = Aligned::zeroed::<f64>(rows.div_ceil(STRIP) * STRIP * coordinates);
        let numbers = memory.numbers_mut::<f64>();
        for (i, row) in scaled.rows().into_iter().enumerate() {
            let first = (i / STRIP) * STRIP * coordinates + i % STRIP;
            row.iter().enumerate().for_each(|(k, &value)| numbers[first + k * STRIP] = value);
        }
        Strips { numbers: memory, rows, coordinates }
    }

    /// The strips, one after the other.
    fn strips(&self) -> ChunksExact<'_, f64> {
        self.numbers.numbers().chunks_exact(STRIP * self.coordinates)
    }

    /// Rows including those that fill up the last strip.
    pub(super) fn padded(&self) -> usize {
        self.rows.div_ceil(STRIP) * STRIP
    }
}

/// Squared distances of `VECTORS` vectors of rows, from entry `at` of a strip, to one point.
#[inline(always)]
fn squared_distances<S: Simd>(simd: S, strip: &[f64], at: usize, point: &[f64]) -> [S::f64s; VECTORS] {
    let mut sums = [simd.splat_f64s(0.0); VECTORS];
    for (k, &coordinate) in point.iter().enumerate() {
        let (rows, _) = S::as_simd_f64s(&strip[k * STRIP + at..][..VECTORS * S::F64_LANES]);
        let coordinate = simd.splat_f64s(coordinate);
        for (sum, &row) in sums.iter_mut().zip(rows) {
            let difference = simd.sub_f64s(row, coordinate);
            *sum = simd.mul_add_e_f64s(difference, difference, *sum);
        }
    }
    sums
}

/// Writes scale * k(rows, points) into `out`.
pub(super) struct Fill<'a, C> {
    pub(super) rows: &'a Strips,
    /// Divided by their length scales, one after the other.
    pub(super) points: &'a [f64],
    pub(super) scale: f64,
    /// Column-major.
    pub(super) out: ArrayViewMut2<'a, f64>,
    pub(super) family: PhantomData<C>,
}

impl<C: Correlation> WithSimd for Fill<'_, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Fill { rows, points, scale, mut out, .. } = self;
        for (point, mut column) in points.chunks_exact(rows.coordinates).zip(out.columns_mut()) {
            let column = column.as_slice_mut().expect("the Gram matrix is to be column-major");
            for (strip, out) in rows.strips().zip(column.chunks_mut(STRIP)) {
                if out.len() == STRIP {
                    fill_strip::<S, C>(simd, strip, point, scale, out);
                } else {
                    let mut whole = [0.0; STRIP];
                    fill_strip::<S, C>(simd, strip, point, scale, &mut whole);
                    out.copy_from_slice(&whole[..out.len()]);
                }
            }
        }
    }
}

/// scale * k of the rows of a strip and one point.
#[inline(always)]
fn fill_strip<S: Simd, C: Correlation>(simd: S, strip: &[f64], point: &[f64], scale: f64, out: &mut [f64]) {
    let scale = simd.splat_f64s(scale);
    for at in (0..STRIP).step_by(VECTORS * S::F64_LANES) {
        let r2 = squared_distances(simd, strip, at, point);
        let (entries, _) = S::as_mut_simd_f64s(&mut out[at..][..VECTORS * S::F64_LANES]);
        for (entry, r2) in entries.iter_mut().zip(r2) {
            *entry = simd.mul_f64s(scale, C::with_slope(simd, r2)[0]);
        }
    }
}

/// Multiplies a cotangent of k(rows, points) by the slopes of the entries, in place.
pub(super) struct Weigh<'a, C> {
    pub(super) rows: &'a Strips,
    /// Divided by their length scales, one after the other.
    pub(super) points: &'a [f64],
    /// Columns below each other, each [`Strips::padded`] long, zeros in the padding.
    pub(super) cotangent: &'a mut [f64],
    /// Row sums of the weighted cotangent are added to it; [`Strips::padded`] long.
    pub(super) row_sums: &'a mut [f64],
    /// Column sums of the weighted cotangent.
    pub(super) column_sums: &'a mut [f64],
    pub(super) family: PhantomData<C>,
}

impl<C: Correlation> WithSimd for Weigh<'_, C> {
    /// Sum of the cotangent times the entries of k.
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Weigh { rows, points, cotangent, row_sums, column_sums, .. } = self;
        let stride = VECTORS * S::F64_LANES;
        let mut total = 0.0;
        let columns = points.chunks_exact(rows.coordinates).zip(cotangent.chunks_exact_mut(rows.padded()));
        for ((point, column), column_sum) in columns.zip(column_sums) {
            let (mut products, mut weights) = (simd.splat_f64s(0.0), simd.splat_f64s(0.0));
            let strips =
                rows.strips().zip(column.chunks_exact_mut(STRIP)).zip(row_sums.chunks_exact_mut(STRIP));
            for ((strip, entries), sums) in strips {
                for at in (0..STRIP).step_by(stride) {
                    let r2 = squared_distances(simd, strip, at, point);
                    let (entries, _) = S::as_mut_simd_f64s(&mut entries[at..at + stride]);
                    let (sums, _) = S::as_mut_simd_f64s(&mut sums[at..at + stride]);
                    for ((entry, sum), r2) in entries.iter_mut().zip(sums).zip(r2) {
                        let [k, slope] = C::with_slope(simd, r2);
                        products = simd.mul_add_e_f64s(*entry, k, products);
                        *entry = simd.mul_f64s(*entry, slope);
                        weights = simd.add_f64s(weights, *entry);
                        *sum = simd.add_f64s(*sum, *entry);
                    }
                }
            }
            total += simd.reduce_sum_f64s(products);
            *column_sum = simd.reduce_sum_f64s(weights);
        }
        total
    }
}
