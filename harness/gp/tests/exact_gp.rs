//! The exact GP against ground truth.

use crate::common;
use gpbench_gp::exact::{ExactError, ExactGp};
use gpbench_gp::{Family, Kernel, metrics};
use gpbench_testkit::json::{self, number, vector};
use gpbench_testkit::{ClosedForm, SmallSystem, assert_close, assert_number};
use ndarray::{Array1, Array2, Axis};

#[test]
fn likelihood_weights_and_predictions_agree_with_the_truth() {
    let system = SmallSystem::load();
    let truth = json::parse(include_str!("data/exact_gp_small.json"));
    for setting in &system.settings {
        let (truth, kernel, noise_scale) =
            (&truth["settings"][&setting.name], common::kernel(setting), setting.noise_scale);
        let gp = ExactGp::fit(&kernel, noise_scale, system.x_train.view(), system.y_train.view(), 2).unwrap();
        assert_number(gp.log_marginal_likelihood, number(&truth["log_marginal_likelihood"]), 1e-11);
        assert_number(gp.log_det, number(&truth["log_det_H"]), 1e-11);
        assert_number(gp.y_hinv_y, number(&truth["y_Hinv_y"]), 1e-11);
        assert_close(&gp.v, &vector(&truth["v"]), 1e-10);
        let (gradient, truth_gradient) = (gp.gradient(system.x_train.view()), &truth["grad"]);
        let scales = [gradient.noise_scale, gradient.signal_scale];
        let found: Array1<f64> = scales.into_iter().chain(gradient.length_scale).collect();
        let scales = ["noise_scale", "signal_scale"].map(|name| number(&truth_gradient[name]));
        let lengths = vector(&truth_gradient["length_scale"]);
        let expected: Array1<f64> = scales.into_iter().chain(lengths).collect();
        assert_close(&found, &expected, 1e-10);

        let (mean, latent) = gp.predict(system.x_test.view());
        assert_close(&mean, &vector(&truth["posterior_mean"]), 1e-10);
        let difference = &latent - &vector(&truth["latent_variance"]);
        assert!(
            difference.iter().all(|e| e.abs() <= 1e-11 * kernel.variance()),
            "{}: latent variance",
            setting.name
        );
        let rmse = metrics::rmse(mean.view(), system.y_test.view());
        assert_number(rmse, number(&truth["test_rmse"]), 1e-10);
        let with_noise = latent + noise_scale * noise_scale;
        let nll = metrics::mean_negative_log_likelihood(system.y_test.view(), mean.view(), with_noise.view());
        assert_number(-nll, number(&truth["test_mean_llh"]), 1e-9);
    }
}

#[test]
fn exact_weights_leave_no_residual() {
    let system = SmallSystem::load();
    let (x, y) = (system.x_train.view(), system.y_train.view());
    for setting in &system.settings {
        let gp = ExactGp::fit(&common::kernel(setting), setting.noise_scale, x, y, 1).unwrap();
        let (v, y) = (gp.v.view().insert_axis(Axis(1)), y.insert_axis(Axis(1)));
        let residuals = metrics::relative_residuals(gp.operator(), v, y);
        assert!(residuals[0] < 1e-11, "{}: {}", setting.name, residuals[0]);
    }
}

#[test]
fn limits_of_the_kernel_agree_with_their_closed_forms() {
    let n = 50;
    let y = Array1::from_shape_fn(n, |i| (i as f64).sin());
    let fit = |family, signal_scale, noise_scale, spacing: f64| {
        let x = Array2::from_shape_fn((n, 1), |(i, _)| spacing * i as f64);
        let kernel = Kernel::new(family, signal_scale, &[1.0], 1);
        ExactGp::fit(&kernel, noise_scale, x.view(), y.view(), 1).unwrap()
    };
    for (gp, known) in [
        // Far apart, on top of each other, and on a line without noise.
        (fit(Family::Rbf, 2.0, 1.0, 1e3), ClosedForm::diagonal(&[5.0; 50])),
        (fit(Family::Matern32, 0.7, 1.0, 0.0), ClosedForm::identity_plus_rank_one(&[0.7; 50])),
        (fit(Family::Matern12, 1.0, 0.0, 0.1), ClosedForm::exponential_on_a_grid(n, (-0.1f64).exp())),
    ] {
        let v = known.inverse.dot(&y);
        assert_close(&gp.v, &v, 1e-12);
        assert_number(gp.log_det, known.log_det, 1e-12);
        assert_number(gp.y_hinv_y, y.dot(&v), 1e-12);
    }
}

#[test]
fn many_test_rows_go_in_blocks() {
    let x = Array2::from_shape_fn((20, 1), |(i, _)| i as f64);
    let y = Array1::from_shape_fn(20, |i| (i as f64).sin());
    let kernel = Kernel::new(Family::Matern52, 1.0, &[2.0], 1);
    let gp = ExactGp::fit(&kernel, 1e-3, x.view(), y.view(), 1).unwrap();
    let x_star = Array2::from_shape_fn((1100, 1), |(i, _)| (i % 20) as f64);
    let (mean, variance) = gp.predict(x_star.view());
    assert_eq!((mean.len(), variance.len(), gp.operator().n()), (1100, 1100, 20));
    for i in 0..1100 {
        assert!((mean[i] - y[i % 20]).abs() < 1e-4 && (0.0..1e-5).contains(&variance[i]));
    }
}

#[test]
fn a_singular_matrix_is_an_error() {
    let x = Array2::zeros((3, 2));
    let y = Array1::zeros(3);
    let kernel = Kernel::new(Family::Rbf, 1.0, &[1.0], 2);
    let error = ExactGp::fit(&kernel, 0.0, x.view(), y.view(), 1).unwrap_err();
    assert!(matches!(error, ExactError::Singular(at) if at.order == 2));
}

/// A process on pairs of equal inputs that are far from each other, and the exact log marginal likelihood: a pair has
/// the eigenvalues `2 + noise^2` and `noise^2`, along (1, 1) and (1, -1).
fn of_pairs(pairs: usize, noise_scale: f64, difference: f64) -> (ExactGp, f64) {
    let x = Array2::from_shape_fn((2 * pairs, 1), |(row, _)| 1e3 * (row / 2) as f64);
    let y = Array1::from_shape_fn(2 * pairs, |row| 1.0 + if row % 2 == 0 { difference } else { -difference });
    let kernel = Kernel::new(Family::Matern32, 1.0, &[1.0], 1);
    let gp = ExactGp::fit(&kernel, noise_scale, x.view(), y.view(), 1).unwrap();
    let (small, large) = (noise_scale.powi(2), 2.0 + noise_scale.powi(2));
    let quadratic = 2.0 / large + 2.0 * difference.powi(2) / small;
    let exact = quadratic + small.ln() + large.ln() + 2.0 * (2.0 * std::f64::consts::PI).ln();
    (gp, -0.5 * pairs as f64 * exact)
}

#[test]
fn an_exact_process_knows_its_rounding_error() {
    for noise_scale in [0.3, 1e-3, 1e-5, 1e-6, 3e-7, 1e-7, 5e-8] {
        for difference in [0.0, 1e-3, 0.3] {
            let (gp, exact) = of_pairs(50, noise_scale, difference);
            let (error, estimate) = ((gp.log_marginal_likelihood - exact).abs(), gp.likelihood_error());
            let rounding = 100.0 * f64::EPSILON * exact.abs();
            assert!(error <= estimate + rounding, "{noise_scale}, {difference}: {error}, not {estimate}");
        }
    }
    // At 5e-8 the second digit is lost, and the estimate says so.
    let (gp, exact) = of_pairs(50, 5e-8, 0.3);
    let (error, estimate) =
        ((gp.log_marginal_likelihood / exact - 1.0).abs(), gp.likelihood_error() / exact.abs());
    assert!(error > 1e-3 && estimate < 100.0 * error, "{error}, {estimate}");
}
