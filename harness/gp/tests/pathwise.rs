//! Random features, targets and samples against ground truth.

use crate::common;
use gpbench_gp::exact::ExactGp;
use gpbench_gp::pathwise::{Prior, PriorDraws, ProbeLaw, Targets, predict};
use gpbench_gp::seed::Streams;
use gpbench_gp::{Family, KernelOperator, RandomFeatures, metrics};
use gpbench_testkit::json::{self, matrix, number, vector};
use gpbench_testkit::{SmallSystem, assert_close, assert_number};
use ndarray::{Array2, Axis, concatenate, s};

#[test]
fn features_targets_and_samples_agree_with_the_truth() {
    let system = SmallSystem::load();
    let (x, y) = (system.x_train.view(), system.y_train.view());
    let file = json::parse(include_str!("data/estimators_reduced.json"));
    let (w, eps) = (matrix(&file["w1"]), matrix(&file["eps"]));
    for setting in &system.settings {
        let (truth, kernel, noise_scale) =
            (&file["settings"][&setting.name], common::kernel(setting), setting.noise_scale);
        let mut omega = matrix(&file["omega_base_normal"]);
        if kernel.family == Family::Matern32 {
            let chi_squared = vector(&file["chi2_3"]);
            omega *= &chi_squared.mapv(|c| (3.0 / c).sqrt());
            assert_close(&omega, &matrix(&file["omega_matern32"]), 1e-15);
        }
        let features = RandomFeatures::from_omega(&kernel, omega);
        let first = features.matrix(x.slice(s![..5, ..]));
        assert_close(&first, &matrix(&truth["features_rows_0_to_4"]), 1e-12);
        let f_train = features.apply(x, w.view());
        let f_test = features.apply(system.x_test.view(), w.view());
        assert_close(&f_train, &matrix(&truth["f_train"]), 1e-12);
        assert_close(&f_test, &matrix(&truth["f_test"]), 1e-12);
        let xi = &f_train + &(&eps * noise_scale);
        assert_close(&xi, &matrix(&truth["xi"]), 1e-12);

        let gp = ExactGp::fit(&kernel, noise_scale, x, y, 1).unwrap();
        let rhs = concatenate![Axis(1), y.insert_axis(Axis(1)), xi];
        let solution = gp.solve(rhs.view());
        assert_close(&solution.column(0), &vector(&truth["Hinv_y"]), 1e-10);
        assert_close(&solution.slice(s![.., 1..]), &matrix(&truth["Hinv_xi"]), 1e-10);

        let op = KernelOperator::new(&kernel, noise_scale, x, 2);
        let posterior = predict(&op, system.x_test.view(), solution.view(), f_test.view());
        let truth = &truth["samples"];
        assert_close(&posterior.mean, &vector(&truth["test_mean"]), 1e-10);
        assert_close(&posterior.samples, &matrix(&truth["test_posterior_samples"]), 1e-10);
        let variance = posterior.sample_variance.unwrap();
        assert_close(&variance, &vector(&truth["test_sample_latent_variance"]), 1e-10);
        let with_noise = variance + noise_scale * noise_scale;
        let nll = metrics::mean_negative_log_likelihood(
            system.y_test.view(),
            posterior.mean.view(),
            with_noise.view(),
        );
        assert_number(-nll, number(&truth["test_mean_llh"]), 1e-9);
    }
}

#[test]
fn targets_are_the_sums_of_their_parts() {
    let system = SmallSystem::load();
    let (x, y, x_test) = (system.x_train.view(), system.y_train.view(), system.x_test.view());
    let setting = system.setting("matern32_paper");
    let (kernel, noise_scale) = (common::kernel(setting), setting.noise_scale);
    let streams = Streams::new(5, &["pol", "0"]);
    let draws = |samples| -> PriorDraws { Prior::Exact.draw(&kernel, x, x_test, samples, &streams).unwrap() };
    let few = Targets::pathwise(y, noise_scale, draws(2), &streams);
    let many = Targets::pathwise(y, noise_scale, draws(3), &streams);
    assert_eq!(many.rhs.column(0), y);
    assert_eq!(many.rhs.slice(s![.., 1..]), &many.f_train + &many.noise);
    // A column comes from streams of its own, but BLAS may sum in blocks of columns.
    assert_close(&many.rhs.slice(s![.., ..3]), &few.rhs, 1e-14);
    assert_close(&many.f_test.slice(s![.., ..2]), &few.f_test, 1e-14);

    let standard = Targets::standard(y, ProbeLaw::Normal, 3, 40, &streams);
    assert_eq!(standard.rhs.dim(), (300, 4));
    assert_eq!((standard.f_train.dim(), standard.f_test.dim()), ((300, 0), (40, 0)));
    let signs = Targets::standard(y, ProbeLaw::Rademacher, 3, 40, &streams);
    assert_eq!(signs.rhs.slice(s![.., 1..]), standard.rhs.slice(s![.., 1..]).mapv(f64::signum));
    let op = KernelOperator::new(&kernel, noise_scale, x, 1);
    let alone = predict(&op, x_test, standard.rhs.view(), standard.f_test.view());
    assert_eq!((alone.samples.ncols(), alone.sample_variance), (0, None));
}

#[test]
fn exact_prior_draws_have_the_covariance_of_the_kernel() {
    let x = Array2::from_shape_fn((6, 1), |(i, _)| i as f64 / 2.0);
    let kernel = gpbench_gp::Kernel::new(Family::Matern32, 1.5, &[1.0], 1);
    let samples = 40_000;
    let (train, test) = x.view().split_at(Axis(0), 4);
    let draws = Prior::Exact.draw(&kernel, train, test, samples, &Streams::new(1, &[])).unwrap();
    let f = concatenate![Axis(0), draws.train, draws.test];
    let covariance = f.dot(&f.t()) / samples as f64;
    // Five standard errors of the largest entry: 5 sqrt(2 / 40000) = 0.035 relative.
    assert_close(&covariance, &kernel.matrix(x.view(), x.view()), 0.035);
}
