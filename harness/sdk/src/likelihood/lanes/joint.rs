//! The joint likelihood of the rows of a group.

use std::f64::consts::TAU;

use pulp::Simd;
use pulp::bytemuck::Zeroable;

use super::{Density, Pair, Work, index};

/// The negative log likelihood per row: nlml, and the derivatives by the signal scale, the noise scale and the mean.
#[derive(Clone, Copy)]
pub(in crate::likelihood) struct Joint;

impl Density for Joint {
    const FIXED: usize = 4;

    #[inline(always)]
    fn evaluate<P: Pair, S: Simd>(self, work: &mut Work<S>, signal_scale: f64, noise_scale: f64) {
        let (simd, rows, inputs) = (work.simd, work.rows, work.inputs);
        let zero = simd.splat_f64s(0.0);
        let per_row = 1.0 / rows as f64;
        let mut inverse = invert(work);

        // L^-1 y and a = H^-1 y, in place of y.
        let (mut square, mut weights) = (zero, vec![zero; rows]);
        for i in 0..rows {
            let row = &inverse[index(i, 0)..][..=i];
            let mut half = zero;
            for (&entry, &y) in row.iter().zip(&work.y) {
                half = simd.mul_add_e_f64s(entry, y, half);
            }
            square = simd.mul_add_e_f64s(half, half, square);
            for (&entry, weight) in row.iter().zip(&mut weights) {
                *weight = simd.mul_add_e_f64s(entry, half, *weight);
            }
        }

        // H^-1 in place of L^-1: the sum of the outer products of its rows, of which row i is used last in row i.
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
        let by_input = &mut work.result[Self::FIXED..];
        by_input.fill(zero);
        for i in 0..rows {
            sum = simd.add_f64s(sum, weights[i]);
            let a = &work.points[i * inputs..][..inputs];
            for j in 0..=i {
                let at = index(i, j);
                let cotangent = simd.negate_mul_add_e_f64s(weights[i], weights[j], inverse[at]);
                // Off the diagonal it stands for two entries; 1 / 2b comes at the end.
                let counted = if i == j { cotangent } else { simd.add_f64s(cotangent, cotangent) };
                if i == j {
                    trace = simd.add_f64s(trace, cotangent);
                }
                by_signal = simd.mul_add_e_f64s(counted, work.entries[at], by_signal);
                let weight = simd.mul_f64s(counted, work.slopes[at]);
                let b = &work.points[j * inputs..][..inputs];
                for ((sum, &a), &b) in by_input.iter_mut().zip(a).zip(b) {
                    *sum = simd.mul_add_e_f64s(weight, P::term(simd, a, b), *sum);
                }
            }
        }

        let scaled = |factor: f64, value: S::f64s| simd.mul_f64s(simd.splat_f64s(factor), value);
        let by_length = -P::FACTOR * 0.5 * per_row * signal_scale * signal_scale;
        by_input.iter_mut().for_each(|sum| *sum = scaled(by_length, *sum));
        work.result[0] = scaled(0.5 * per_row, square);
        work.result[1] = scaled(signal_scale * per_row, by_signal);
        work.result[2] = scaled(noise_scale * per_row, trace);
        work.result[3] = scaled(-per_row, sum);
    }

    #[inline(always)]
    fn complete(self, out: &mut [f64], pivots: impl ExactSizeIterator<Item = f64>) {
        let rows = pivots.len() as f64;
        let log_determinant: f64 = pivots.map(f64::ln).sum();
        out[0] += 0.5 * (log_determinant / rows + TAU.ln());
    }
}

/// L^-1.
#[inline(always)]
fn invert<S: Simd>(work: &Work<S>) -> Vec<S::f64s> {
    let (simd, rows, factor) = (work.simd, work.rows, &work.factor);
    let mut inverse = vec![S::f64s::zeroed(); factor.len()];
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
    inverse
}
