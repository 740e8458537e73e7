//! The likelihood of the last row of a group, given the others.
//!
//! With the other rows N, b = H_NN^-1 H_Ni, a = H_NN^-1 y_N, e = y_i - b^T y_N and D = H_ii - H_iN b, the log
//! likelihood is -(log 2 pi D + e^2 / D) / 2. Its derivatives by the entries of H, all of it, are q t t^T + (e / 2D)
//! (u t^T + t u^T) with q = (e^2 / D^2 - 1 / D) / 2, t = [-b, 1] and u = [a, 0].

use std::f64::consts::TAU;

use pulp::Simd;

use super::{Density, Pair, Work, index};

/// The log likelihood of the last row, its derivatives by the signal scale, the noise scale and the mean, D, and e.
#[derive(Clone, Copy)]
pub(in crate::likelihood) struct Conditional;

impl Density for Conditional {
    const FIXED: usize = 6;

    #[inline(always)]
    fn evaluate<P: Pair, S: Simd>(self, work: &mut Work<S>, signal_scale: f64, noise_scale: f64) {
        let (simd, rows, inputs) = (work.simd, work.rows, work.inputs);
        let (zero, one, half) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0), simd.splat_f64s(0.5));
        let last = rows - 1;

        let halves = halves(work);
        let mut u = halves[..last].to_vec();
        let mut t = work.factor[index(last, 0)..][..last].to_vec();
        solve_transposed(work, &mut u);
        solve_transposed(work, &mut t);
        t.iter_mut().for_each(|entry| *entry = simd.neg_f64s(*entry));
        u.push(zero);
        t.push(one);

        let variance = work.pivots[last];
        let error = simd.mul_f64s(halves[last], simd.sqrt_f64s(variance));
        let ratio = simd.div_f64s(error, variance);
        let quadratic = simd.mul_f64s(ratio, error);
        let q = simd.sub_f64s(simd.mul_f64s(ratio, ratio), simd.div_f64s(one, variance));
        let (q, ratio_half) = (simd.mul_f64s(half, q), simd.mul_f64s(half, ratio));

        let (mut by_signal, mut trace, mut sum) = (zero, zero, zero);
        let by_input = &mut work.result[Self::FIXED..];
        by_input.fill(zero);
        for i in 0..rows {
            sum = simd.add_f64s(sum, t[i]);
            let a = &work.points[i * inputs..][..inputs];
            // Row i of the cotangent: t_j (q t_i + u_i e / 2D) + u_j t_i e / 2D.
            let of_t = simd.mul_add_e_f64s(ratio_half, u[i], simd.mul_f64s(q, t[i]));
            let of_u = simd.mul_f64s(ratio_half, t[i]);
            for j in 0..=i {
                let at = index(i, j);
                let cotangent = simd.mul_add_e_f64s(of_t, t[j], simd.mul_f64s(of_u, u[j]));
                // Off the diagonal it stands for two entries.
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
        let by_length = -P::FACTOR * signal_scale * signal_scale;
        by_input.iter_mut().for_each(|sum| *sum = scaled(by_length, *sum));
        work.result[0] = scaled(-0.5, quadratic);
        work.result[1] = scaled(2.0 * signal_scale, by_signal);
        work.result[2] = scaled(2.0 * noise_scale, trace);
        work.result[3] = simd.mul_f64s(ratio, sum);
        work.result[4] = variance;
        work.result[5] = error;
    }

    #[inline(always)]
    fn complete(self, out: &mut [f64], pivots: impl ExactSizeIterator<Item = f64>) {
        let last = pivots.last().expect("a group has rows");
        out[0] -= 0.5 * (last.ln() + TAU.ln());
    }
}

/// L^-1 y.
#[inline(always)]
fn halves<S: Simd>(work: &Work<S>) -> Vec<S::f64s> {
    let (simd, mut halves) = (work.simd, work.y.clone());
    for i in 0..work.rows {
        let row = &work.factor[index(i, 0)..][..=i];
        let mut rest = halves[i];
        for (&entry, &half) in row[..i].iter().zip(&halves) {
            rest = simd.negate_mul_add_e_f64s(entry, half, rest);
        }
        halves[i] = simd.mul_f64s(rest, row[i]);
    }
    halves
}

/// L^-T x in place of x, with the leading part of L.
#[inline(always)]
fn solve_transposed<S: Simd>(work: &Work<S>, x: &mut [S::f64s]) {
    let simd = work.simd;
    for i in (0..x.len()).rev() {
        let row = &work.factor[index(i, 0)..][..=i];
        x[i] = simd.mul_f64s(x[i], row[i]);
        let solved = x[i];
        for (rest, &entry) in x[..i].iter_mut().zip(row) {
            *rest = simd.negate_mul_add_e_f64s(entry, solved, *rest);
        }
    }
}
