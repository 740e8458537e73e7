//! The marginal likelihood of a finite-dimensional prior.

use gpbench_numerics::lapack;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, ShapeBuilder, s};

use super::Likelihood;
use crate::Gradient;
use crate::NotPositiveDefinite;
use crate::RandomFeatures;

/// The likelihood and its gradient with `Phi Phi^T + noise_scale^2 I` in place of H, where `Phi` (n x m) are the
/// features of the rows of `x` (n x d). Frequencies in units of the length scales are held fixed.
///
/// With `A = Phi^T Phi + noise_scale^2 I` (m x m) and `v = (y - Phi A^-1 Phi^T y) / noise_scale^2`:
///
/// ```text
/// |Phi Phi^T + noise^2 I| = noise^(2 (n - m)) |A|     d log p(y) / d Phi = v (Phi^T v)^T - Phi A^-1
/// ```
///
/// Takes n m^2 multiply-adds and three n x m arrays.
///
/// # Errors
/// [`NotPositiveDefinite`] where A is singular in double precision.
pub fn of_features(
    features: &RandomFeatures,
    noise_scale: f64,
    x: ArrayView2<f64>,
    y: ArrayView1<f64>,
) -> Result<Likelihood, NotPositiveDefinite> {
    let (n, m, noise) = (x.nrows(), features.count(), noise_scale.powi(2));
    assert_eq!(n, y.len(), "one target per row");
    let phi = features.matrix(x);
    let mut factor = Array2::zeros((m, m).f());
    general_mat_mul(1.0, &phi.t(), &phi, 0.0, &mut factor);
    factor.diag_mut().mapv_inplace(|value| value + noise);
    lapack::cholesky(&mut factor).map_err(NotPositiveDefinite::of)?;
    let inverse = {
        let mut inverse = Array2::zeros((m, m).f());
        inverse.diag_mut().fill(1.0);
        lapack::cholesky_solve(&factor, &mut inverse).expect("shapes fit");
        inverse
    };
    // The weights A^-1 Phi^T y of the features.
    let projected = phi.t().dot(&y);
    let mut weights = projected.clone().insert_axis(Axis(1));
    lapack::cholesky_solve(&factor, &mut weights).expect("shapes fit");
    let weights = weights.remove_axis(Axis(1));
    let v = (&y - &phi.dot(&weights)) / noise;

    // d log p / d Phi, with Phi^T v = A^-1 Phi^T y.
    let mut by_phi = Array2::zeros((n, m).f());
    general_mat_mul(-1.0, &phi, &inverse, 0.0, &mut by_phi);
    for (mut column, &weight) in by_phi.columns_mut().into_iter().zip(&weights) {
        column.scaled_add(weight, &v);
    }
    let trace_of_inverse = (n as f64 - m as f64) / noise + inverse.diag().sum();
    let signal_scale = features.kernel().signal_scale;
    let gradient = Gradient {
        noise_scale: noise_scale * (v.dot(&v) - trace_of_inverse),
        signal_scale: (&by_phi * &phi).sum() / signal_scale,
        length_scale: by_length_scales(features, x, phi.view(), by_phi.view()),
    };
    let log_det_a = 2.0 * factor.diag().iter().map(|l| l.ln()).sum::<f64>();
    let log_det = (n as f64 - m as f64) * noise.ln() + log_det_a;
    Ok(Likelihood { quadratic: y.dot(&v), log_det, by_mean: v.sum(), gradient })
}

/// Input k of a row enters the angles as `x_k omega_k / l_k`, so
/// `d / d l_k = -sum_ij P_ij x_ik omega_kj / l_k^2` with `P = G_sin Phi_cos - G_cos Phi_sin`, G the
/// derivative by the features.
fn by_length_scales(
    features: &RandomFeatures,
    x: ArrayView2<f64>,
    phi: ArrayView2<f64>,
    by_phi: ArrayView2<f64>,
) -> Vec<f64> {
    let pairs = features.count() / 2;
    let (sines, cosines) = (phi.slice(s![.., ..pairs]), phi.slice(s![.., pairs..]));
    let by_angle = &by_phi.slice(s![.., ..pairs]) * &cosines - &by_phi.slice(s![.., pairs..]) * &sines;
    let moments = x.t().dot(&by_angle);
    let (omega, lengths) = (features.omega(), &features.kernel().length_scale);
    let rows = moments.rows().into_iter().zip(omega.rows());
    rows.zip(lengths).map(|((moments, omega), l)| -moments.dot(&omega) / (l * l)).collect()
}
