//! Errors of solutions and predictions.

use std::f64::consts::PI;

use ndarray::{Array2, ArrayView1, ArrayView2, ShapeBuilder, Zip};

use gpbench_numerics::LinearOperator;

use crate::{KernelMatrix, SystemMatrix};

/// Root mean square of `a - b`.
pub fn rmse(a: ArrayView1<f64>, b: ArrayView1<f64>) -> f64 {
    let sum = Zip::from(&a).and(&b).fold(0.0, |sum, a, b| sum + (a - b) * (a - b));
    (sum / a.len() as f64).sqrt()
}

/// Mean of `-log N(y; mean, variance)`; `variance` includes the observation noise.
pub fn mean_negative_log_likelihood(
    y: ArrayView1<f64>,
    mean: ArrayView1<f64>,
    variance: ArrayView1<f64>,
) -> f64 {
    let sum = Zip::from(&y).and(&mean).and(&variance).fold(0.0, |sum, y, mean, variance| {
        sum + 0.5 * ((2.0 * PI * variance).ln() + (y - mean) * (y - mean) / variance)
    });
    sum / y.len() as f64
}

/// `||H x - b|| / ||b||` for each column, by one product with H (n^2 entries). For a right-hand side of zeros, the
/// norm of `H x`.
pub fn relative_residuals(op: &dyn KernelMatrix, x: ArrayView2<f64>, rhs: ArrayView2<f64>) -> Vec<f64> {
    let mut product = Array2::zeros(rhs.dim().f());
    op.apply(x, product.view_mut());
    relative_differences(product.view(), rhs)
}

/// `||p - b|| / ||b||` for each column p of `product`, such as H x. For a right-hand side of zeros, the norm of p.
pub fn relative_differences(product: ArrayView2<f64>, rhs: ArrayView2<f64>) -> Vec<f64> {
    let mut residual = Array2::zeros(rhs.dim());
    residual.assign(&product);
    residual -= &rhs;
    let ratio = |(residual, rhs): (ArrayView1<f64>, ArrayView1<f64>)| {
        let scale = norm(rhs);
        if scale > 0.0 { norm(residual) / scale } else { norm(residual) }
    };
    residual.columns().into_iter().zip(rhs.columns()).map(ratio).collect()
}

/// `sqrt(e^T H e)` for each column e, by one product with H (n^2 entries).
pub fn energy_norms(op: &dyn LinearOperator, e: ArrayView2<f64>) -> Vec<f64> {
    let mut product = Array2::zeros(e.dim().f());
    op.apply(e, product.view_mut());
    let columns = e.columns().into_iter().zip(product.columns());
    columns.map(|(e, product)| e.dot(&product).max(0.0).sqrt()).collect()
}

/// Root mean square over test points of the 2-Wasserstein distance between two
/// normal marginals, `W2^2 = (m_a - m_b)^2 + (sd_a - sd_b)^2`, of the latent function.
pub fn wasserstein2(
    mean_a: ArrayView1<f64>,
    variance_a: ArrayView1<f64>,
    mean_b: ArrayView1<f64>,
    variance_b: ArrayView1<f64>,
) -> f64 {
    let sum = Zip::from(&mean_a).and(&variance_a).and(&mean_b).and(&variance_b).fold(
        0.0,
        |sum, mean_a, variance_a, mean_b, variance_b| {
            let (mean, deviation) = (mean_a - mean_b, variance_a.sqrt() - variance_b.sqrt());
            sum + mean * mean + deviation * deviation
        },
    );
    (sum / mean_a.len() as f64).sqrt()
}

/// `||v - v*||_2` of representer weights.
pub fn weight_error(v: ArrayView1<f64>, exact: ArrayView1<f64>) -> f64 {
    norm((&v - &exact).view())
}

/// `sqrt(d^T K d)`, with K without noise: for `d = v - v*` the distance of the two posterior means in the reproducing
/// kernel Hilbert space. Uses n^2 entries.
pub fn rkhs_norm(op: &dyn SystemMatrix, d: ArrayView1<f64>) -> f64 {
    let mut product = Array2::zeros((d.len(), 1).f());
    op.apply(d.insert_axis(ndarray::Axis(1)), product.view_mut());
    let noise = op.noise_scale() * op.noise_scale();
    // Rounding can make the square negative.
    (product.column(0).dot(&d) - noise * d.dot(&d)).max(0.0).sqrt()
}

/// Euclidean norm.
pub fn norm(v: ArrayView1<f64>) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use ndarray::{array, aview1};

    use super::*;
    use crate::fixtures::two_points;

    #[test]
    fn small_cases_by_hand() {
        assert_eq!(rmse(aview1(&[1.0, 5.0]), aview1(&[1.0, 1.0])), 8.0_f64.sqrt());
        let nll = mean_negative_log_likelihood(aview1(&[2.0]), aview1(&[1.0]), aview1(&[4.0]));
        assert!((nll - (0.5 * (8.0 * PI).ln() + 0.125)).abs() < 1e-15);
        let w2 = wasserstein2(aview1(&[0.0]), aview1(&[4.0]), aview1(&[3.0]), aview1(&[36.0]));
        assert_eq!(w2, 5.0);
        assert_eq!(weight_error(aview1(&[3.0, 0.0]), aview1(&[0.0, 4.0])), 5.0);
    }

    #[test]
    fn residuals_and_norms_on_two_points() {
        let op = two_points();
        // H = [[5, 2], [2, 5]].
        let x = array![[1.0, 1.0], [0.0, 1.0]];
        let rhs = array![[5.0, 0.0], [0.0, 0.0]];
        let residuals = relative_residuals(&op, x.view(), rhs.view());
        assert!((residuals[0] - 0.4).abs() < 1e-15);
        assert!((residuals[1] - 98.0_f64.sqrt()).abs() < 1e-14);
        assert!((rkhs_norm(&op, aview1(&[1.0, -1.0])) - 2.0).abs() < 1e-15);
    }
}
