//! Models with finitely many features, and networks before a kernel.

use gpbench_gp::finite::{Finite, NetworkFeatures, OutputFeatures};
use gpbench_gp::model::Model;
use gpbench_gp::seed::Streams;
use gpbench_gp::sparse::Basis;
use gpbench_gp::{CovarianceFunction, Family, Kernel, Linear, likelihood};
use gpbench_numerics::lapack;
use gpbench_record::{Covariance, ModelKind};
use gpbench_testkit::{assert_close, assert_number};
use ndarray::{Array1, Array2, Axis, ShapeBuilder, s};

use super::{Toy, answers, arrays, column, layers, network, one, pool, shape, toy, variational, with};

/// log |H| and y^T H^-1 y, mean and latent variance of a dense H = Phi Phi^T + noise^2 I.
fn dense(
    phi: &Array2<f64>,
    phi_test: &Array2<f64>,
    y: &Array1<f64>,
    noise: f64,
) -> (f64, f64, Array1<f64>, Array1<f64>) {
    let mut h = Array2::zeros((phi.nrows(), phi.nrows()).f());
    h.assign(&phi.dot(&phi.t()));
    h.diag_mut().mapv_inplace(|entry| entry + noise * noise);
    lapack::cholesky(&mut h).unwrap();
    let log_det = 2.0 * h.diag().mapv(f64::ln).sum();
    let mut solved = Array2::zeros((phi.nrows(), 1 + phi_test.nrows()).f());
    let cross = phi.dot(&phi_test.t());
    solved.column_mut(0).assign(y);
    solved.slice_mut(s![.., 1..]).assign(&cross);
    lapack::cholesky_solve(&h, &mut solved).unwrap();
    let explained = (&cross * &solved.slice(s![.., 1..])).sum_axis(Axis(0));
    let prior = phi_test.map_axis(Axis(1), |row| row.dot(&row));
    (log_det, y.dot(&solved.column(0)), cross.t().dot(&solved.column(0)), prior - explained)
}

#[test]
fn finite_features_agree_with_the_dense_matrix_they_stand_for() {
    // Fewer rows than features, more, and several blocks of rows.
    for n in [4, 60, 2500] {
        let toy = toy(n, 3);
        let network = network(&layers(3));
        let lengths = [1.0, 2.0, 0.5, 1.5, 1.0, 0.8, 3.0];
        let projection = OutputFeatures::Linear(Linear::new(0.7, &lengths, 7));
        let features = NetworkFeatures { network: &network, projection: &projection };
        let finite = Finite::fit(features, 0.3, toy.x.view(), toy.y.view(), &pool()).unwrap();
        let phi =
            |x: &Array2<f64>| &network.forward(x.view(), &pool()) * 0.7 / &Array1::from(lengths.to_vec());
        let (log_det, quadratic, mean, latent) = dense(&phi(&toy.x), &phi(&toy.x_test), &toy.y, 0.3);
        let tolerance = if n < 100 { 1e-13 } else { 1e-12 };
        assert_number(finite.log_det, log_det, tolerance);
        assert_number(finite.y_hinv_y, quadratic, tolerance);
        let nlml = 0.5 * (quadratic + log_det) / n as f64 + 0.5 * (2.0 * std::f64::consts::PI).ln();
        assert_number(finite.nlml(), nlml, tolerance);
        let (finite_mean, finite_latent) = finite.predict(toy.x_test.view());
        assert_close(&finite_mean, &mean, 1e-10);
        // The dense variance is a difference from the prior's.
        let prior = phi(&toy.x_test).map_axis(Axis(1), |row| row.dot(&row)).mean().unwrap();
        assert!((&finite_latent - &latent).iter().all(|e| e.abs() < 1e-12 * prior));
        assert_number(finite.squares, phi(&toy.x).mapv(|p| p * p).sum(), 1e-13);
    }
}

#[test]
fn random_features_have_the_likelihood_of_their_other_implementation() {
    let toy = toy(200, 3);
    let arrays = arrays([
        ("signal_scale", one(1.2)),
        ("noise_scale", one(0.3)),
        ("length_scale", column(&[0.9, 1.1, 2.0])),
        ("frequencies", Streams::new(2, &[]).normals("omega", 3, 25)),
    ]);
    let rbf = Covariance::Stationary(Family::Rbf);
    let model = Model::parse(ModelKind::Features, rbf, shape(toy.x.view()), &arrays).unwrap();
    let kernel = Kernel::new(Family::Rbf, 1.2, &[0.9, 1.1, 2.0], 3);
    let features = gpbench_gp::RandomFeatures::from_omega(&kernel, arrays["frequencies"].clone());
    let other = likelihood::of_features(&features, 0.3, toy.x.view(), toy.y.view()).unwrap();
    let nlml = model.posterior(toy.x.view(), toy.y.view(), &pool()).unwrap().nlml().unwrap().unwrap();
    assert_number(nlml, -other.log_marginal_likelihood(200) / 200.0, 1e-12);
}

#[test]
fn the_condition_is_that_of_the_gram_matrix() {
    let toy = toy(50, 2);
    let linear = Covariance::Linear;
    let put = arrays([("noise_scale", one(0.5))]);
    let model = Model::parse(ModelKind::Features, linear, shape(toy.x.view()), &put).unwrap();
    let posterior = model.posterior(toy.x.view(), toy.y.view(), &pool()).unwrap();
    let f = toy.x.t().dot(&toy.x) + Array2::<f64>::eye(2) * 0.25;
    let determinant = f[(0, 0)] * f[(1, 1)] - f[(0, 1)] * f[(1, 0)];
    // The inverse of a 2 x 2 matrix has the same entries in another order.
    let squares = f.mapv(|entry| entry * entry).sum();
    assert_number(posterior.condition().unwrap(), squares / determinant, 1e-13);
    assert_eq!(model.dead_features(toy.x.view(), &pool()), None);
}

#[test]
fn a_linear_kernel_on_a_network_is_the_same_as_features_and_as_inducing_points_that_span_them() {
    let toy = toy(400, 3);
    let x = toy.x.view();
    let linear = Covariance::Linear;
    let put = with(layers(3), [("noise_scale", one(0.2)), ("signal_scale", one(0.6))]);
    let lengths = [1.0, 2.0, 0.5, 1.5, 1.0, 0.8, 3.0];
    let put = with(put, [("length_scale", column(&lengths))]);
    let features = Model::parse(ModelKind::Features, linear, shape(x), &put).unwrap();
    let process = Model::parse(ModelKind::NetworkGp, linear, shape(x), &put).unwrap();
    let (expected, numbers) = answers(&features, &toy, toy.y.view(), 2);
    assert_eq!(answers(&process, &toy, toy.y.view(), 2), (expected.clone(), numbers.clone()));

    // 7 outputs, some of them dead: 20 points span them.
    let network = network(&put);
    let covariance = CovarianceFunction::Linear(Linear::new(0.6, &lengths, 7));
    let z = x.slice(s![..20, ..]).to_owned();
    let basis = Basis::new(&covariance, &network, z.view(), 1e-9, &pool()).unwrap();
    let q = basis.optimal(0.2, x, toy.y.view()).unwrap();
    let inducing = with(with(put, [("z", z), ("jitter", one(1e-9))]), variational(&q));
    let model = Model::parse(ModelKind::NetworkInducing, linear, shape(x), &inducing).unwrap();
    let (prediction, found) = answers(&model, &toy, toy.y.view(), 2);
    assert_close(&prediction.mean, &expected.mean, 1e-6);
    assert_close(&prediction.variance, &expected.variance, 1e-6);
    assert_eq!(found[1], numbers[1], "exact nlml by F");
    assert_number(found[0].unwrap(), numbers[0].unwrap(), 1e-6);
}

#[test]
fn a_network_is_applied_before_the_kernel() {
    let toy = toy(100, 3);
    let network = network(&layers(3));
    let through = |x: &Array2<f64>| network.forward(x.view(), &pool()).into_owned();
    let outputs = Toy { x: through(&toy.x), y: toy.y.clone(), x_test: through(&toy.x_test) };
    let rbf = Covariance::Stationary(Family::Rbf);
    let scales = arrays([("signal_scale", one(1.0)), ("noise_scale", one(0.2)), ("length_scale", one(1.4))]);
    let direct = Model::parse(ModelKind::Gp, rbf, shape(outputs.x.view()), &scales).unwrap();
    let deep = with(scales.clone(), []).into_iter().chain(layers(3)).collect();
    let deep = Model::parse(ModelKind::NetworkGp, rbf, shape(toy.x.view()), &deep).unwrap();
    assert_eq!(answers(&deep, &toy, toy.y.view(), 2), answers(&direct, &outputs, toy.y.view(), 2));
    let dead = outputs.x.columns().into_iter().filter(|z| z.iter().all(|&z| z == 0.0)).count();
    assert_eq!(deep.dead_features(toy.x.view(), &pool()), Some(dead));
}
