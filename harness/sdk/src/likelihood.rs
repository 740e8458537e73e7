//! Negative log marginal likelihoods of batches of rows, with their gradients, by Cholesky factors.
//!
//! Per row and with all constants: nlml = (y^T H^-1 y + log|H| + b log 2 pi) / (2b), where y is without the
//! prior mean and H includes the noise.

mod conditionals;
mod groups;
mod lanes;

use std::f64::consts::TAU;

use ndarray::{Array1, Array2, ArrayRef1, ArrayRef2, Axis, ShapeBuilder, Zip};

pub use conditionals::{Conditionals, conditionals};
pub use groups::{GroupsGradient, groups};

use crate::{Error, Result, lapack};

/// The likelihood of a batch, and its derivatives.
#[derive(Debug, Clone, PartialEq)]
pub struct Likelihood {
    /// Negative log marginal likelihood per row.
    pub nlml: f64,
    /// Representer weights a = H^-1 y. The derivatives of nlml by y are a / b, that by a constant mean is
    /// -sum(a) / b.
    pub weights: Array1<f64>,
    /// Derivatives of nlml by the entries of H, (H^-1 - a a^T) / 2b, all of it: a cotangent of
    /// [`Kernel::pull_back_square`](crate::kernel::Kernel::pull_back_square). The derivative by the noise scale is
    /// 2 noise_scale times its trace.
    pub cotangent: Array2<f64>,
}

/// The likelihood of targets `y` under a covariance H = K + noise_scale^2 I, with its derivatives. `covariance` is
/// column-major; only its lower triangle is read.
///
/// # Errors
/// [`NotPositiveDefinite`](Error::NotPositiveDefinite) if H is not, to working precision;
/// [`InvalidArgument`](Error::InvalidArgument) if the shapes do not fit or there are no rows.
pub fn likelihood(covariance: Array2<f64>, y: &ArrayRef1<f64>) -> Result<Likelihood> {
    let mut factor = covariance;
    let half = factorise(&mut factor, y)?;
    let nlml = value(&factor, &half);
    let mut weights = half;
    lapack::solve_lower(&factor, true, &mut weights)?;
    let weights = weights.remove_axis(Axis(1));

    let mut cotangent = factor;
    lapack::cholesky_inverse(&mut cotangent)?;
    let scale = 0.5 / y.len() as f64;
    Zip::from(cotangent.columns_mut()).and(&weights).for_each(|mut column, &a_j| {
        Zip::from(&mut column).and(&weights).for_each(|entry, &a_i| *entry = scale * (*entry - a_i * a_j));
    });
    Ok(Likelihood { nlml, weights, cotangent })
}

/// The likelihood's value alone, at a third of the cost.
///
/// # Errors
/// As [`likelihood`].
pub fn nlml(covariance: Array2<f64>, y: &ArrayRef1<f64>) -> Result<f64> {
    let mut factor = covariance;
    let half = factorise(&mut factor, y)?;
    Ok(value(&factor, &half))
}

/// Replaces a covariance by its factor L, and returns L^-1 y as a matrix of one column.
fn factorise(covariance: &mut ArrayRef2<f64>, y: &ArrayRef1<f64>) -> Result<Array2<f64>> {
    if y.is_empty() {
        return Err(Error::InvalidArgument("the likelihood of a batch of no rows".into()));
    }
    lapack::cholesky(covariance)?;
    let mut half = Array2::zeros((y.len(), 1).f());
    half.column_mut(0).assign(y);
    lapack::solve_lower(covariance, false, &mut half)?;
    Ok(half)
}

/// The likelihood from the factor L and L^-1 y.
fn value(factor: &ArrayRef2<f64>, half: &Array2<f64>) -> f64 {
    let rows = half.nrows() as f64;
    let square: f64 = half.iter().map(|value| value * value).sum();
    (square + lapack::log_determinant(factor) + rows * TAU.ln()) / (2.0 * rows)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use ndarray::array;

    use super::*;
    use crate::differences::{assert_close, derivatives, uniform};
    use crate::kernel::{Kernel, Points};
    use crate::optimise::Adam;
    use crate::simd::tests::{on, sets};
    use crate::{Covariance, Family, Workers};

    fn covariance(x: &Array2<f64>, scales: &[f64]) -> Array2<f64> {
        let kernel = Kernel {
            family: Family::Matern32.into(),
            signal_scale: scales[0],
            length_scale: scales[2..].to_vec(),
        };
        let mut covariance = kernel.gram(x, x, Workers::new(1));
        covariance.diag_mut().iter_mut().for_each(|entry| *entry += scales[1] * scales[1]);
        covariance
    }

    #[test]
    fn the_value_is_that_of_the_density() {
        // Independent targets of variances 4 and 9.
        let (covariance, y) = (array![[4.0, 0.0], [0.0, 9.0]].reversed_axes(), array![1.0, -6.0]);
        let log_density = |y: f64, scale: f64| -0.5 * (y / scale).powi(2) - scale.ln() - 0.5 * TAU.ln();
        let expected = -(log_density(1.0, 2.0) + log_density(-6.0, 3.0)) / 2.0;
        assert!((nlml(covariance, &y).unwrap() - expected).abs() < 1e-15);
    }

    #[test]
    fn derivatives_are_those_of_the_value() {
        let (x, y) = (uniform(12, 2, 1), uniform(12, 1, 2).remove_axis(Axis(1)));
        let scales = [1.2, 0.4, 0.7, 1.5];
        let found = likelihood(covariance(&x, &scales), &y).unwrap();
        assert_eq!(found.nlml, nlml(covariance(&x, &scales), &y).unwrap());
        assert_eq!(found.cotangent, found.cotangent.t());

        let kernel =
            Kernel { family: Family::Matern32.into(), signal_scale: 1.2, length_scale: vec![0.7, 1.5] };
        let by_kernel = kernel.pull_back_square(&x, &found.cotangent, false, Workers::new(1));
        let by_noise = 2.0 * 0.4 * found.cotangent.diag().sum();
        let expected = derivatives(&scales, |scales| nlml(covariance(&x, scales), &y).unwrap());
        let gradient =
            [&[by_kernel.signal_scale, by_noise], by_kernel.length_scale.as_slice().unwrap()].concat();
        assert_close(&gradient, &expected, 1e-9);

        let by_y = derivatives(y.as_slice().unwrap(), |y| {
            nlml(covariance(&x, &scales), &Array1::from(y.to_vec())).unwrap()
        });
        assert_close(&(&found.weights / 12.0), &by_y, 1e-9);
    }

    #[test]
    fn half_the_targets_and_scales_lower_it_by_ln_2() {
        let (x, y) = (uniform(30, 2, 3), uniform(30, 1, 4).remove_axis(Axis(1)));
        let whole = nlml(covariance(&x, &[1.2, 0.4, 0.7]), &y).unwrap();
        let halved = nlml(covariance(&x, &[0.6, 0.2, 0.7]), &(y / 2.0)).unwrap();
        assert!((whole - halved - 2_f64.ln()).abs() < 1e-13);
    }

    #[test]
    fn with_finitely_many_features_it_is_that_of_their_matrix() {
        // y^T H^-1 y = (|y|^2 - y^T Phi w) / s^2 and log|H| = log|F| + (n - D) log s^2, with w = F^-1 Phi^T y.
        let (phi, y, noise) = (uniform(20, 3, 5), uniform(20, 1, 6), 0.3_f64);
        let variance = noise * noise;
        let mut covariance = Kernel::unit(Covariance::Linear).gram(&phi, &phi, Workers::new(1));
        covariance.diag_mut().iter_mut().for_each(|entry| *entry += variance);
        let mut features = Array2::zeros((3, 3).f());
        features.assign(&(phi.t().dot(&phi) + variance * Array2::<f64>::eye(3)));
        lapack::cholesky(&mut features).unwrap();
        let mut w = Array2::zeros((3, 1).f());
        w.assign(&phi.t().dot(&y));
        lapack::cholesky_solve(&features, &mut w).unwrap();
        let square = (&y * &(&y - &phi.dot(&w))).sum() / variance;
        let determinant = lapack::log_determinant(&features) + 17.0 * variance.ln();
        let expected = (square + determinant + 20.0 * TAU.ln()) / 40.0;
        assert!((nlml(covariance, &y.column(0)).unwrap() - expected).abs() < 1e-12);
    }

    #[test]
    fn what_has_no_likelihood_is_an_error() {
        let y = array![1.0, 2.0];
        let singular = Array2::from_elem((2, 2).f(), 1.0);
        assert_eq!(likelihood(singular, &y), Err(Error::NotPositiveDefinite { minor: 2 }));
        let none = Array2::zeros((0, 0).f());
        assert!(nlml(none, &Array1::zeros(0)).unwrap_err().to_string().contains("no rows"));
        let larger = Array2::from_diag_elem(3, 1.0).reversed_axes();
        assert!(matches!(nlml(larger, &y), Err(Error::InvalidArgument(_))));
    }

    /// The bits of scales after some steps of Adam on the likelihood, as learners take them.
    fn learned() -> Vec<u64> {
        let (x, y, workers) = (uniform(90, 3, 1), uniform(90, 1, 2).remove_axis(Axis(1)), Workers::new(1));
        let (mut scales, mut adam) = (vec![1.0, 0.1, 0.5, 0.7, 1.1], Adam::new(5));
        for _ in 0..5 {
            let kernel = Kernel {
                family: Family::Matern32.into(),
                signal_scale: scales[0],
                length_scale: scales[2..].to_vec(),
            };
            let Likelihood { cotangent, .. } = likelihood(covariance(&x, &scales), &y).unwrap();
            let by = kernel.pull_back(&x, &x, &cotangent, Points::Neither, workers);
            let by_noise = 2.0 * scales[1] * cotangent.diag().sum();
            let gradient = [&[by.signal_scale, by_noise], by.length_scale.as_slice().unwrap()].concat();
            adam.descend(&mut scales, &gradient, 0.02, workers);
        }
        scales.into_iter().map(f64::to_bits).collect()
    }

    /// Each instruction set, as `GPBENCH_SIMD` names it for a process of its own, gives the bits of that set.
    #[test]
    fn a_learner_obeys_the_environment() {
        const EXPECTED: &str = "GPBENCH_TEST_EXPECTED_BITS";
        let bits = || format!("{:?}", learned());
        if let Ok(expected) = std::env::var(EXPECTED) {
            assert_eq!(bits(), expected);
            return;
        }
        let mut found = Vec::new();
        for (name, set) in sets() {
            let expected = on(set, bits);
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["likelihood::tests::a_learner_obeys_the_environment", "--exact", "--quiet"]);
            let ended = child.env("GPBENCH_SIMD", name).env(EXPECTED, &expected).output().unwrap();
            let text = String::from_utf8_lossy(&ended.stdout);
            assert!(ended.status.success() && text.contains("1 passed"), "GPBENCH_SIMD={name}: {text}");
            found.push(expected);
        }
        if found.len() == 3 {
            assert_ne!(
                found.first(),
                found.last(),
                "instruction sets with and without fused multiply-adds round differently"
            );
        }
    }
}
