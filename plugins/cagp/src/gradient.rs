//! The gradient of the bound by hand.
//!
//! In the notation of the bound (`bound.rs`), with e = r - T c and u = G^-1 (T^T e / s^2 - M c), the cotangents are
//!
//! ```text
//! by G:     B = -(u c^T + c u^T) / 2 - G^-1 T^T T G^-1 / 2 s^2 - G^-1 + s^2 G^-1 N G^-1 / 2
//! by M:     P = -c c^T / 2 + G^-1 / 2 + B          (with that by G, since G = M + s^2 N)
//! by T:     C = (e c^T + T G^-1) / s^2 + S P       (with that by M, since M = S^T T)
//! by K:     C S^T,   and -1 / 2 s^2 for each entry of the diagonal
//! by S:     r u^T + S N^-1 + 2 s^2 S B + T P + K C
//! by s^2:   -n / 2 s^2 + (|e|^2 + n s_f^2 - |W|_F^2) / 2 s^4 + i / 2 s^2 + tr(B N)
//! by r:     S u - e / s^2
//! ```
//!
//! One pass over K gives both the derivatives by the scales and those entries of K C at which S has an entry.

use gpbench_sdk::ndarray::{Array1, Array2, ArrayRef1, ArrayView1, ArrayView2, Axis};
use gpbench_sdk::{Result, Workers, lapack, panels, tall};

use crate::bound::{column, inner};
use crate::{ActionMatrix, NoisyKernel, ProjectedProcess, SparseActions, pull_back};

/// Derivatives of the bound.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectedGradient {
    /// By the noise scale s.
    pub noise_scale: f64,
    /// By the signal scale.
    pub signal_scale: f64,
    /// By the length scales, as many as the kernel has.
    pub length_scale: Array1<f64>,
    /// By the prior mean.
    pub mean: f64,
    /// By the entries of sparse actions, one a row; empty for others, which are held.
    pub entries: Array1<f64>,
}

/// Derivatives of `projected.bound`, which belongs to the other arguments, with `residual` the targets less the prior
/// mean. Takes n^2 kernel entries.
///
/// # Errors
/// Of LAPACK; none for numbers that are finite.
pub fn gradient(
    at: &NoisyKernel,
    x: ArrayView2<'_, f64>,
    residual: ArrayView1<'_, f64>,
    actions: &ActionMatrix,
    projected: &ProjectedProcess,
    workers: Workers<'_>,
) -> Result<ProjectedGradient> {
    let (n, count) = (residual.len() as f64, actions.count() as f64);
    let (noise, signal_scale) = (at.noise_scale.powi(2), at.kernel.signal_scale);
    let ProjectedProcess { weights, covariances, prior, gram, factor, inverse, explained, misfit, .. } =
        projected;

    let mut by_weights = tall::product(covariances, misfit, workers);
    by_weights /= noise;
    by_weights -= &column(prior.dot(weights).view());
    lapack::cholesky_solve(factor, &mut by_weights)?;
    let u = by_weights.column(0);

    // By G.
    let mut by_joint = explained.clone();
    panels::congruence(factor, &mut by_joint, workers)?;
    by_joint /= -2.0 * noise;
    by_joint -= inverse;
    by_joint.scaled_add(0.5 * noise, &inverse.dot(gram).dot(inverse));
    add_outer(-0.5, &u, weights, &mut by_joint);
    add_outer(-0.5, weights, &u, &mut by_joint);
    // By M.
    let mut by_prior = by_joint.clone();
    by_prior.scaled_add(0.5, inverse);
    add_outer(-0.5, weights, weights, &mut by_prior);
    // By T.
    let mut by_covariances = actions.combine(&by_prior, workers);
    tall::add_product(noise.recip(), covariances, inverse, &mut by_covariances, workers);
    add_outer(noise.recip(), &misfit.column(0), weights, &mut by_covariances);

    let (by_kernel, products) = pull_back(&at.kernel, x, actions, &by_covariances, workers);
    let unexplained = n * signal_scale.powi(2) - explained.diag().sum();
    let by_noise_variance = (count - n) / (2.0 * noise)
        + (inner(misfit, misfit) + unexplained) / (2.0 * noise.powi(2))
        + inner(&by_joint, gram);
    let entries = match actions {
        ActionMatrix::Sparse(sparse) => {
            let mut entries = products;
            for (row, by) in entries.iter_mut().enumerate() {
                let (action, entry) = (sparse.action[row], sparse.entry[row]);
                let own = gram[[action, action]].recip() + 2.0 * noise * by_joint[[action, action]];
                *by += residual[row] * u[action] + entry * own;
            }
            entries + at_entries(covariances, &by_prior, sparse)
        }
        ActionMatrix::Dense(_) => products,
    };
    Ok(ProjectedGradient {
        noise_scale: 2.0 * at.noise_scale * by_noise_variance,
        signal_scale: by_kernel.signal_scale - n * signal_scale / noise,
        length_scale: by_kernel.length_scale,
        mean: misfit.sum() / noise - actions.combine(&by_weights, workers).sum(),
        entries,
    })
}

/// A += scale a b^T, for a column-major A.
fn add_outer(scale: f64, a: &ArrayRef1<f64>, b: &ArrayRef1<f64>, out: &mut Array2<f64>) {
    for (mut column, &entry) in out.axis_iter_mut(Axis(1)).zip(b.iter()) {
        column.scaled_add(scale * entry, a);
    }
}

/// The entries of T P at which S has an entry, for a symmetric P.
fn at_entries(t: &Array2<f64>, p: &Array2<f64>, actions: &SparseActions) -> Array1<f64> {
    let mut sums: Array1<f64> = Array1::zeros(t.nrows());
    for (column, factors) in t.columns().into_iter().zip(p.columns()) {
        for ((sum, &value), &action) in sums.iter_mut().zip(column).zip(&actions.action) {
            *sum += value * factors[action];
        }
    }
    sums
}
