//! Models of learners against ground truth and against each other.

use crate::common;
use std::sync::Arc;

use gpbench_gp::finite::{Finite, NetworkFeatures, OutputFeatures};
use gpbench_gp::model::{Arrays, Model, Posterior, Prediction, Shape, subset};
use gpbench_gp::network::{Layer, Network};
use gpbench_gp::seed::Streams;
use gpbench_gp::sparse::{Basis, Variational};
use gpbench_gp::{CovarianceFunction, Family, Kernel, Linear, likelihood, thread_pool};
use gpbench_numerics::lapack;
use gpbench_record::{Covariance, ModelKind};
use gpbench_testkit::json::{self, number, vector};
use gpbench_testkit::{Setting, SmallSystem, assert_close, assert_number};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, ShapeBuilder, array, s};
use rayon::ThreadPool;

const TRUTH: &str = include_str!("data/learners_small.json");

pub(crate) fn pool() -> Arc<ThreadPool> {
    thread_pool(2).unwrap()
}

pub(crate) fn one(value: f64) -> Array2<f64> {
    Array2::from_elem((1, 1), value)
}

pub(crate) fn column(values: &[f64]) -> Array2<f64> {
    Array1::from(values.to_vec()).insert_axis(Axis(1))
}

pub(crate) fn arrays<const N: usize>(entries: [(&str, Array2<f64>); N]) -> Arrays {
    entries.into_iter().map(|(name, array)| (name.to_owned(), array)).collect()
}

/// Scales of a setting, as a learner puts them.
fn scales(setting: &Setting) -> Arrays {
    arrays([
        ("signal_scale", one(setting.signal_scale)),
        ("noise_scale", one(setting.noise_scale)),
        ("length_scale", column(&setting.length_scale)),
    ])
}

pub(crate) fn with<const N: usize>(mut arrays: Arrays, more: [(&str, Array2<f64>); N]) -> Arrays {
    arrays.extend(self::arrays(more));
    arrays
}

fn family(setting: &Setting) -> Covariance {
    setting.kernel.parse().unwrap()
}

pub(crate) fn shape(x: ArrayView2<f64>) -> Shape {
    Shape { rows: x.nrows(), inputs: x.ncols() }
}

fn variational(q: &Variational) -> [(&'static str, Array2<f64>); 2] {
    [("q_mean", q.mean.clone().insert_axis(Axis(1))), ("q_root", q.root.clone())]
}

/// Training and test inputs, and targets, of a toy.
pub(crate) struct Toy {
    pub(crate) x: Array2<f64>,
    pub(crate) y: Array1<f64>,
    pub(crate) x_test: Array2<f64>,
}

pub(crate) fn toy(n: usize, d: usize) -> Toy {
    let streams = Streams::new(3, &["toy"]);
    let (x, noise) = (streams.normals("x", n, d), streams.normals("noise", n, 1));
    let y = x.map_axis(Axis(1), |row| row.sum().sin()) + &noise.column(0) * 0.1;
    Toy { x, y, x_test: streams.normals("test", 300, d) }
}

/// Arrays of the layers d -> 9 -> 7.
fn layers(d: usize) -> Arrays {
    let streams = Streams::new(5, &["layers"]);
    arrays([
        ("weight_1", streams.normals("weight_1", 9, d)),
        ("bias_1", streams.normals("bias_1", 9, 1)),
        ("weight_2", streams.normals("weight_2", 7, 9) / 3.0),
        ("bias_2", streams.normals("bias_2", 7, 1)),
    ])
}

fn network(arrays: &Arrays) -> Network {
    let layer = |l: usize| Layer {
        weight: arrays[&format!("weight_{l}")].clone(),
        bias: arrays[&format!("bias_{l}")].column(0).to_owned(),
    };
    Network::new(vec![layer(1), layer(2)])
}

/// A model of each kind and family on a toy, with names of the arrays that have to be divided by 2 and by 4 when the
/// targets are.
fn models(toy: &Toy) -> Vec<(ModelKind, Covariance, Arrays)> {
    let (n, d) = toy.x.dim();
    let streams = Streams::new(7, &["models"]);
    let scales = |length: Array2<f64>| {
        arrays([
            ("signal_scale", one(1.3)),
            ("noise_scale", one(0.2)),
            ("length_scale", length),
            ("mean", one(0.3)),
        ])
    };
    let linear = || arrays([("noise_scale", one(0.2)), ("mean", one(0.3))]);
    let m = 12;
    let inducing = || {
        let mut root = streams.normals("root", m, m) * 0.1;
        root.indexed_iter_mut().filter(|((i, j), _)| i < j).for_each(|(_, entry)| *entry = 0.0);
        root.diag_mut().mapv_inplace(|entry| entry + 0.5);
        arrays([
            ("z", toy.x.slice(s![..m, ..]).to_owned()),
            ("q_mean", streams.normals("mean", m, 1)),
            ("q_root", root),
            ("jitter", one(1e-6)),
        ])
    };
    let join = |parts: Vec<Arrays>| -> Arrays { parts.into_iter().flatten().collect() };
    let rows = Array2::from_shape_fn((n / 3, 3), |(i, e)| (3 * i + e) as f64);
    let experts = arrays([
        ("signal_scale", array![[1.3, 0.9, 1.1]]),
        ("noise_scale", array![[0.2, 0.3, 0.25]]),
        ("mean", array![[0.1, -0.2, 0.0]]),
        ("length_scale", Array2::from_shape_fn((d, 3), |(k, e)| 1.0 + 0.1 * (k + e) as f64)),
        ("rows", rows),
        ("weight", array![[0.3, 0.3, 0.4]]),
    ]);
    let rbf = Covariance::Stationary(Family::Rbf);
    let matern = Covariance::Stationary(Family::Matern32);
    let frequencies = arrays([("frequencies", streams.normals("frequencies", 7, 20))]);
    let actions = arrays([
        ("action", Array2::from_shape_fn((n, 1), |(i, _)| (i % m) as f64)),
        ("entry", streams.normals("entry", n, 1)),
    ]);
    let dense_actions = arrays([("actions", streams.normals("actions", n, m))]);
    let each = Array2::from_elem((d, 1), 0.8);
    vec![
        (ModelKind::Gp, matern, scales(each.clone())),
        (ModelKind::Gp, Covariance::Linear, linear()),
        (ModelKind::NetworkGp, rbf, join(vec![scales(one(1.5)), layers(d)])),
        (ModelKind::NetworkGp, Covariance::Linear, join(vec![linear(), layers(d)])),
        (ModelKind::Inducing, rbf, join(vec![scales(each.clone()), inducing()])),
        (ModelKind::NetworkInducing, matern, join(vec![scales(one(1.5)), inducing(), layers(d)])),
        (ModelKind::NetworkInducing, Covariance::Linear, join(vec![linear(), inducing(), layers(d)])),
        (ModelKind::Features, Covariance::Linear, join(vec![linear(), layers(d)])),
        (ModelKind::Features, rbf, join(vec![scales(one(1.5)), frequencies, layers(d)])),
        (ModelKind::Neighbours, matern, with(scales(each.clone()), [("neighbours", one(8.0))])),
        (
            ModelKind::Neighbours,
            rbf,
            with(join(vec![scales(each.clone()), inducing()]), [("neighbours", one(8.0))]),
        ),
        (ModelKind::Actions, matern, join(vec![scales(each.clone()), actions])),
        (ModelKind::Actions, rbf, join(vec![scales(each.clone()), dense_actions])),
        (ModelKind::Experts, rbf, with(experts.clone(), [("combine", one(0.0))])),
        (ModelKind::Experts, rbf, with(experts, [("combine", one(1.0))])),
    ]
}

pub(crate) fn predict(posterior: &Posterior<'_>, x_test: ArrayView2<f64>) -> Prediction {
    posterior.predict(x_test).unwrap()
}

/// Predictions and likelihoods of a model, computed by themselves.
fn answers(model: &Model, toy: &Toy, y: ArrayView1<f64>, threads: usize) -> (Prediction, Vec<Option<f64>>) {
    let posterior = model.posterior(toy.x.view(), y, &thread_pool(threads).unwrap()).unwrap();
    let numbers = vec![posterior.objective().unwrap(), posterior.nlml().unwrap(), posterior.condition()];
    (predict(&posterior, toy.x_test.view()), numbers)
}

#[test]
fn the_exact_process_is_that_of_the_truth() {
    let system = SmallSystem::load();
    let truth = json::parse(include_str!("data/exact_gp_small.json"));
    let (x, y) = (system.x_train.view(), system.y_train.view());
    for setting in &system.settings {
        let truth = &truth["settings"][&setting.name];
        let model = Model::parse(ModelKind::Gp, family(setting), shape(x), &scales(setting)).unwrap();
        let posterior = model.posterior(x, y, &pool()).unwrap();
        let nlml = -number(&truth["log_marginal_likelihood"]) / y.len() as f64;
        assert_number(posterior.nlml().unwrap().unwrap(), nlml, 1e-11);
        assert_number(posterior.objective().unwrap().unwrap(), nlml, 1e-11);
        let prediction = predict(&posterior, system.x_test.view());
        assert_close(&prediction.mean, &vector(&truth["posterior_mean"]), 1e-10);
        let variance = vector(&truth["latent_variance"]) + setting.noise_scale.powi(2);
        assert_close(&prediction.variance, &variance, 1e-9);

        // A constant mean moves targets and predictions.
        let moved = with(scales(setting), [("mean", one(0.7))]);
        let model = Model::parse(ModelKind::Gp, family(setting), shape(x), &moved).unwrap();
        let y = &y + 0.7;
        let posterior = model.posterior(x, y.view(), &pool()).unwrap();
        assert_number(posterior.nlml().unwrap().unwrap(), nlml, 1e-11);
        let moved = predict(&posterior, system.x_test.view());
        assert_close(&(moved.mean - 0.7), &prediction.mean, 1e-9);
    }
}

#[test]
fn the_best_distribution_at_inducing_points_is_that_of_the_truth() {
    let system = SmallSystem::load();
    let truth = json::parse(TRUTH);
    let (x, y) = (system.x_train.view(), system.y_train.view());
    let rows: Vec<usize> = vector(&truth["inducing_rows"]).iter().map(|&row| row as usize).collect();
    let z = x.select(Axis(0), &rows);
    for setting in &system.settings {
        let truth = &truth["settings"][&setting.name]["titsias"];
        let (covariance, network) =
            (CovarianceFunction::Stationary(common::kernel(setting)), Network::default());
        let basis = Basis::new(&covariance, &network, z.view(), 0.0, &pool()).unwrap();
        let elbo = number(&truth["elbo"]);
        assert_number(basis.collapsed_bound(setting.noise_scale, x, y).unwrap(), elbo, 1e-10);

        let q = basis.optimal(setting.noise_scale, x, y).unwrap();
        let put = with(with(scales(setting), [("z", z.clone()), ("jitter", one(0.0))]), variational(&q));
        let model = Model::parse(ModelKind::Inducing, family(setting), shape(x), &put).unwrap();
        let posterior = model.posterior(x, y, &pool()).unwrap();
        let objective = posterior.objective().unwrap().unwrap();
        assert_number(-objective * y.len() as f64, elbo, 1e-10);
        let prediction = predict(&posterior, system.x_test.view());
        assert_close(&prediction.mean, &vector(&truth["mean"]), 1e-9);
        let latent = prediction.variance - setting.noise_scale.powi(2);
        assert_close(&latent, &vector(&truth["latent_variance"]), 1e-9);

        // Signs of columns have no meaning; any other distribution has a lower bound.
        let mut flipped = q.clone();
        flipped.root.column_mut(3).mapv_inplace(|entry| -entry);
        assert_eq!(
            basis.bound(&flipped, setting.noise_scale, x, y),
            basis.bound(&q, setting.noise_scale, x, y)
        );
        let mut other = q.clone();
        other.mean[0] += 1e-3;
        other.root[(5, 5)] *= 1.1;
        assert!(basis.bound(&other, setting.noise_scale, x, y) < elbo);
    }
}

#[test]
fn inducing_points_at_all_rows_give_the_exact_process() {
    let system = SmallSystem::load();
    let (x, y) = (system.x_train.view(), system.y_train.view());
    for setting in &system.settings {
        let (covariance, network) =
            (CovarianceFunction::Stationary(common::kernel(setting)), Network::default());
        let jitter = 1e-10 * setting.signal_scale.powi(2);
        let basis = Basis::new(&covariance, &network, x, jitter, &pool()).unwrap();
        let q = basis.optimal(setting.noise_scale, x, y).unwrap();
        let put =
            with(with(scales(setting), [("z", x.to_owned()), ("jitter", one(jitter))]), variational(&q));
        let model = Model::parse(ModelKind::Inducing, family(setting), shape(x), &put).unwrap();
        let posterior = model.posterior(x, y, &pool()).unwrap();
        let (bound, exact) = (posterior.objective().unwrap().unwrap(), posterior.nlml().unwrap().unwrap());
        // What is left is the jitter's own effect.
        assert_number(bound, exact, 1e-6);
        let model = Model::parse(ModelKind::Gp, family(setting), shape(x), &scales(setting)).unwrap();
        let exact = predict(&model.posterior(x, y, &pool()).unwrap(), system.x_test.view());
        let sparse = predict(&posterior, system.x_test.view());
        assert_close(&sparse.mean, &exact.mean, 1e-6);
        assert_close(&sparse.variance, &exact.variance, 1e-6);
    }
}

#[test]
fn repeated_inducing_points_more_than_rows_need_their_jitter() {
    let toy = toy(20, 2);
    let z = ndarray::concatenate![Axis(0), toy.x, toy.x];
    let kernel = Kernel::new(Family::Rbf, 1.0, &[1.0], 2);
    let (covariance, network) = (CovarianceFunction::Stationary(kernel), Network::default());
    let basis = Basis::new(&covariance, &network, z.view(), 1e-6, &pool()).unwrap();
    let q = basis.optimal(0.1, toy.x.view(), toy.y.view()).unwrap();
    let bound = basis.bound(&q, 0.1, toy.x.view(), toy.y.view());
    let put = arrays([
        ("signal_scale", one(1.0)),
        ("noise_scale", one(0.1)),
        ("length_scale", one(1.0)),
        ("z", z),
        ("jitter", one(1e-6)),
    ]);
    let put = with(put, variational(&q));
    let rbf = Covariance::Stationary(Family::Rbf);
    let model = Model::parse(ModelKind::Inducing, rbf, shape(toy.x.view()), &put).unwrap();
    let nlml = model.posterior(toy.x.view(), toy.y.view(), &pool()).unwrap().nlml().unwrap().unwrap();
    assert!(bound <= -20.0 * nlml && (bound + 20.0 * nlml).abs() < 1e-2, "{bound} against {}", -20.0 * nlml);

    let model =
        Model::parse(ModelKind::Inducing, rbf, shape(toy.x.view()), &with(put, [("jitter", one(0.0))]))
            .unwrap();
    let error = model.posterior(toy.x.view(), toy.y.view(), &pool()).unwrap_err().to_string();
    assert!(error.starts_with("the kernel matrix of `z` with `jitter` on its diagonal is not"), "{error}");
}

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

#[test]
fn experts_are_combined_as_in_the_truth() {
    let system = SmallSystem::load();
    let truth = json::parse(TRUTH);
    let (x, y) = (system.x_train.view(), system.y_train.view());
    let d = x.ncols();
    for setting in &system.settings {
        let truth = &truth["settings"][&setting.name]["gpoe"];
        let put = arrays([
            ("signal_scale", Array2::from_elem((1, 3), setting.signal_scale)),
            ("noise_scale", Array2::from_elem((1, 3), setting.noise_scale)),
            ("length_scale", Array2::from_shape_fn((d, 3), |(k, _)| setting.length_scale[k])),
            ("rows", Array2::from_shape_fn((100, 3), |(i, e)| (100 * e + i) as f64)),
            ("weight", vector(&truth["weights"]).insert_axis(Axis(0))),
        ]);
        for (code, name) in [(0.0, "observed"), (1.0, "latent")] {
            let put = with(put.clone(), [("combine", one(code))]);
            let model = Model::parse(ModelKind::Experts, family(setting), shape(x), &put).unwrap();
            let posterior = model.posterior(x, y, &pool()).unwrap();
            let prediction = predict(&posterior, system.x_test.view());
            assert_close(&prediction.mean, &vector(&truth[name]["mean"]), 1e-10);
            let noise = if name == "latent" { setting.noise_scale.powi(2) } else { 0.0 };
            assert_close(&(prediction.variance - noise), &vector(&truth[name]["variance"]), 1e-10);
            let sum = number(&truth["sum_of_expert_lml"]);
            assert_number(posterior.objective().unwrap().unwrap(), -sum / 300.0, 1e-11);
            assert_eq!(posterior.nlml().unwrap(), None);
        }
    }
}

#[test]
fn equal_experts_are_one_exact_process_and_return_to_the_prior_far_away() {
    let toy = toy(60, 2);
    let x = toy.x.view();
    let rbf = Covariance::Stationary(Family::Rbf);
    let scales = arrays([("signal_scale", one(1.3)), ("noise_scale", one(0.2)), ("length_scale", one(0.9))]);
    let gp = Model::parse(ModelKind::Gp, rbf, shape(x), &scales).unwrap();
    let process = gp.posterior(x, toy.y.view(), &pool()).unwrap();
    let (exact, nlml) = (predict(&process, toy.x_test.view()), process.nlml().unwrap().unwrap());
    for (count, combine) in [(1, 0.0), (1, 1.0), (4, 0.0), (20, 1.0)] {
        let put = arrays([
            ("signal_scale", Array2::from_elem((1, count), 1.3)),
            ("noise_scale", Array2::from_elem((1, count), 0.2)),
            ("length_scale", Array2::from_elem((1, count), 0.9)),
            ("rows", Array2::from_shape_fn((60, count), |(i, _)| i as f64)),
            ("weight", Array2::from_elem((1, count), 1.0 / count as f64)),
            ("combine", one(combine)),
        ]);
        let model = Model::parse(ModelKind::Experts, rbf, shape(x), &put).unwrap();
        let posterior = model.posterior(x, toy.y.view(), &pool()).unwrap();
        let prediction = predict(&posterior, toy.x_test.view());
        assert_close(&prediction.mean, &exact.mean, 1e-12);
        assert_close(&prediction.variance, &exact.variance, 1e-12);
        let likelihood = posterior.nlml().unwrap();
        assert_eq!(likelihood.is_some(), count == 1);
        likelihood.into_iter().for_each(|likelihood| assert_number(likelihood, nlml, 1e-12));
        let far = predict(&posterior, array![[1e3, -1e3]].view());
        assert!(far.mean[0].abs() < 1e-12);
        assert_number(far.variance[0], 1.3f64.powi(2) + 0.2f64.powi(2), 1e-12);
    }
}

#[test]
fn an_expert_of_weight_0_may_hold_anything() {
    let toy = toy(60, 3);
    let (kind, family, put) = models(&toy).pop().unwrap();
    let (x, y) = (toy.x.view(), toy.y.view());
    let spoilt = |weight: [f64; 3], value: f64| {
        let mut put = put.clone();
        put.insert("weight".to_owned(), array![weight]);
        for name in ["signal_scale", "noise_scale", "mean", "length_scale", "rows"] {
            put.get_mut(name).unwrap().column_mut(1).fill(value);
        }
        Model::parse(kind, family, shape(x), &put)
    };
    let answer = |model: Model| predict(&model.posterior(x, y, &pool()).unwrap(), toy.x_test.view());
    let nan = answer(spoilt([0.5, 0.0, 0.5], f64::NAN).unwrap());
    assert!(nan.mean.iter().chain(&nan.variance).all(|value| value.is_finite()));
    assert_eq!(nan, answer(spoilt([0.5, 0.0, 0.5], 1.0).unwrap()));
    assert!(spoilt([0.5, 0.1, 0.4], f64::NAN).is_err());
    let error = spoilt([0.0; 3], 1.0).unwrap_err().to_string();
    assert_eq!(error, "`weight` is 0 for every expert; it must be positive for at least one");
}

#[test]
fn halving_the_targets_and_all_scales_lowers_objectives_by_the_logarithm_of_2() {
    let toy = toy(300, 3);
    for (kind, family, put) in models(&toy) {
        let mut half = put.clone();
        let has_no_scale = !half.contains_key("signal_scale");
        if has_no_scale {
            half.insert("signal_scale".to_owned(), one(1.0));
        }
        for (name, divisor) in [("signal_scale", 2.0), ("noise_scale", 2.0), ("mean", 2.0), ("jitter", 4.0)] {
            if let Some(array) = half.get_mut(name) {
                *array /= divisor;
            }
        }
        let parse = |arrays: &Arrays| Model::parse(kind, family, shape(toy.x.view()), arrays).unwrap();
        let (before, numbers) = answers(&parse(&put), &toy, toy.y.view(), 2);
        let (after, half_numbers) = answers(&parse(&half), &toy, (&toy.y / 2.0).view(), 2);
        for (number, half) in numbers.iter().zip(half_numbers).take(2) {
            let difference = number.unwrap_or(0.0) - half.unwrap_or(-(2f64.ln()));
            assert!((difference - 2f64.ln()).abs() < 1e-9, "{kind:?} {family}: {difference}");
        }
        assert_close(&(after.mean * 2.0), &before.mean, 1e-9);
        assert_close(&(after.variance * 4.0), &before.variance, 1e-9);
    }
}

#[test]
fn answers_have_the_same_bits_on_any_number_of_threads() {
    let toy = toy(690, 3);
    for (kind, family, put) in models(&toy) {
        let model = Model::parse(kind, family, shape(toy.x.view()), &put).unwrap();
        let one = answers(&model, &toy, toy.y.view(), 1);
        assert!(one.0.variance.iter().all(|&variance| variance > 0.0));
        assert_eq!(one, answers(&model, &toy, toy.y.view(), 3), "{kind:?} {family}");
    }
}

#[test]
fn predictions_of_parts_are_those_of_the_whole() {
    let toy = toy(300, 3);
    for (kind, family, put) in models(&toy) {
        let model = Model::parse(kind, family, shape(toy.x.view()), &put).unwrap();
        let posterior = model.posterior(toy.x.view(), toy.y.view(), &pool()).unwrap();
        let whole = predict(&posterior, toy.x_test.view());
        let part = predict(&posterior, toy.x_test.slice(s![290..;-7, ..]));
        assert_close(&part.mean, &whole.mean.slice(s![290..;-7]).to_owned(), 1e-10);
        assert_close(&part.variance, &whole.variance.slice(s![290..;-7]).to_owned(), 1e-10);
        assert_eq!(predict(&posterior, toy.x_test.slice(s![..0, ..])).mean.len(), 0);
    }
}

#[test]
fn hyperparameters_are_those_that_were_put() {
    let toy = toy(30, 3);
    for (kind, family, put) in models(&toy) {
        let model = Model::parse(kind, family, shape(toy.x.view()), &put).unwrap();
        assert_eq!(model.hyperparameters().is_none(), kind == ModelKind::Experts);
        assert_eq!(model.mean(), (kind != ModelKind::Experts).then_some(0.3));
        let Some(found) = model.hyperparameters() else { continue };
        assert_eq!(found.noise_scale, 0.2);
        let lengths = put.get("length_scale").map_or(0, Array2::len);
        assert_eq!((found.length_scale.len(), found.signal_scale == 1.3), (lengths, lengths > 0));
    }
}

#[test]
fn what_a_diverged_fit_gives_is_told_from_what_is_malformed() {
    let toy = toy(30, 3);
    let all = models(&toy);
    let rbf = Covariance::Stationary(Family::Rbf);
    let parse = |kind: ModelKind, name: &str, array: Array2<f64>| {
        let (_, family, put) = all.iter().find(|(k, f, _)| *k == kind && *f != Covariance::Linear).unwrap();
        Model::parse(kind, *family, shape(toy.x.view()), &with(put.clone(), [(name, array)]))
            .map_err(|error| error.diverged)
            .err()
    };
    let gp = |name: &str, value: f64| parse(ModelKind::Gp, name, one(value));
    // A scale that underflows or overflows, and what is not finite.
    for scale in [0.0, 1e-200, 1e200, f64::INFINITY, f64::NAN] {
        assert_eq!(gp("noise_scale", scale), Some(true), "{scale}");
    }
    assert_eq!(gp("mean", f64::NAN), Some(true));
    assert_eq!(parse(ModelKind::Inducing, "q_root", Array2::zeros((12, 12))), Some(true));
    assert_eq!(parse(ModelKind::Experts, "weight", Array2::zeros((1, 3))), Some(true));
    assert_eq!(parse(ModelKind::Actions, "entry", Array2::zeros((30, 1))), Some(true));
    // What no optimiser comes to.
    assert_eq!(gp("noise_scale", -1.0), Some(false));
    assert_eq!(parse(ModelKind::Gp, "noise_scale", Array2::ones((1, 2))), Some(false));
    assert_eq!(parse(ModelKind::Experts, "combine", one(2.0)), Some(false));
    // Arrays of the learner's own, and experts that have no weight, may hold anything.
    assert_eq!(gp("own_notes", f64::NAN), None);
    let (_, _, put) = all.iter().find(|(kind, ..)| *kind == ModelKind::Experts).unwrap();
    let lost = with(
        put.clone(),
        [("weight", array![[0.5, 0.0, 1.0]]), ("noise_scale", array![[0.5, f64::NAN, 1.0]])],
    );
    assert!(Model::parse(ModelKind::Experts, rbf, shape(toy.x.view()), &lost).is_ok());
}

#[test]
fn an_array_that_is_wrong_is_named_with_what_it_is_and_what_it_must_be() {
    let toy = toy(30, 3);
    let all = models(&toy);
    let refusal = |kind: ModelKind, family: Covariance, name: &str, array: Option<Array2<f64>>| {
        let (_, _, put) = all.iter().find(|(k, f, _)| (*k, *f) == (kind, family)).unwrap();
        let mut put = put.clone();
        match array {
            Some(array) => put.insert(name.to_owned(), array),
            None => put.remove(name),
        };
        Model::parse(kind, family, shape(toy.x.view()), &put).unwrap_err().to_string()
    };
    let rbf = Covariance::Stationary(Family::Rbf);
    let matern = Covariance::Stationary(Family::Matern32);
    let linear = Covariance::Linear;
    let zeros = |rows: usize, columns: usize| Some(Array2::zeros((rows, columns)));
    let mut upper = Array2::eye(12);
    upper[(2, 5)] = 0.1;
    let mut rows = all.last().unwrap().2["rows"].clone();
    rows[(4, 2)] = 30.0;
    let refusals = [
        refusal(ModelKind::Gp, matern, "noise_scale", None),
        refusal(ModelKind::Gp, matern, "noise_scale", Some(one(0.0))),
        refusal(ModelKind::Gp, matern, "noise_scale", zeros(1, 2)),
        refusal(ModelKind::Gp, matern, "length_scale", Some(column(&[1.0, 2.0]))),
        refusal(ModelKind::Gp, matern, "length_scale", Some(column(&[1.0, -2.0, 1.0]))),
        refusal(ModelKind::Gp, matern, "mean", Some(one(f64::NAN))),
        refusal(ModelKind::Gp, matern, "weight_1", zeros(4, 3)),
        refusal(ModelKind::Gp, linear, "length_scale", Some(column(&[2.0, 1.0]))),
        refusal(ModelKind::NetworkGp, rbf, "weight_1", None),
        refusal(ModelKind::NetworkGp, rbf, "weight_1", zeros(0, 3)),
        refusal(ModelKind::NetworkGp, rbf, "weight_2", zeros(7, 8)),
        refusal(ModelKind::NetworkGp, rbf, "bias_2", zeros(1, 7)),
        refusal(ModelKind::NetworkGp, rbf, "weight_4", zeros(7, 7)),
        refusal(ModelKind::Inducing, rbf, "z", zeros(12, 2)),
        refusal(ModelKind::Inducing, rbf, "z", zeros(0, 3)),
        refusal(ModelKind::Inducing, rbf, "q_root", Some(upper)),
        refusal(ModelKind::Inducing, rbf, "q_root", zeros(12, 12)),
        refusal(ModelKind::Inducing, rbf, "jitter", Some(one(-1e-6))),
        refusal(ModelKind::Features, rbf, "frequencies", zeros(3, 20)),
        refusal(ModelKind::Features, linear, "frequencies", zeros(7, 20)),
        refusal(ModelKind::Features, linear, "weights", zeros(8, 1)),
        refusal(ModelKind::Experts, rbf, "rows", Some(rows)),
        refusal(ModelKind::Experts, rbf, "weight", Some(array![[0.5, -0.5, 1.0]])),
        refusal(ModelKind::Experts, rbf, "noise_scale", Some(array![[0.5, f64::INFINITY, 1.0]])),
        refusal(ModelKind::Experts, rbf, "length_scale", zeros(2, 3)),
        refusal(ModelKind::Experts, rbf, "combine", Some(one(2.0))),
        refusal(ModelKind::Neighbours, matern, "neighbours", None),
        refusal(ModelKind::Neighbours, matern, "neighbours", Some(one(2.5))),
        refusal(ModelKind::Neighbours, matern, "neighbours", Some(one(-1.0))),
        refusal(ModelKind::Neighbours, matern, "jitter", Some(one(1e-6))),
        refusal(ModelKind::Neighbours, rbf, "z", zeros(12, 2)),
        refusal(ModelKind::Actions, matern, "action", None),
        refusal(ModelKind::Actions, matern, "action", Some(Array2::from_elem((30, 1), 30.0))),
        refusal(ModelKind::Actions, matern, "action", Some(Array2::from_elem((30, 1), 0.5))),
        refusal(ModelKind::Actions, matern, "action", Some(Array2::from_elem((30, 1), 1.0))),
        refusal(ModelKind::Actions, matern, "entry", zeros(29, 1)),
        refusal(ModelKind::Actions, rbf, "actions", zeros(29, 12)),
        refusal(ModelKind::Actions, rbf, "actions", zeros(30, 12)),
        refusal(ModelKind::Actions, rbf, "action", zeros(30, 1)),
    ];
    let expected = include_str!("data/refused_arrays.txt");
    assert_eq!(refusals.join("\n") + "\n", expected);

    let (_, _, put) = all.last().unwrap();
    let error = Model::parse(ModelKind::Experts, linear, shape(toy.x.view()), put).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`kind` is that of experts; it must be another: experts have no linear kernel"
    );
    let put = &all.iter().find(|(kind, ..)| *kind == ModelKind::Actions).unwrap().2;
    let error = Model::parse(ModelKind::Actions, linear, shape(toy.x.view()), put).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`kind` is that of actions; it must be another: actions have no linear kernel"
    );
    let put = &all.iter().find(|(kind, ..)| *kind == ModelKind::Neighbours).unwrap().2;
    let error = Model::parse(ModelKind::Neighbours, linear, shape(toy.x.view()), put).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`kind` is that of neighbours; it must be another: neighbours have no linear kernel"
    );
    // The host puts the kind beside the others.
    let (kind, family, put) = &all[0];
    assert!(
        Model::parse(*kind, *family, shape(toy.x.view()), &with(put.clone(), [("kind", one(1.0))])).is_ok()
    );
}

#[test]
fn a_subset_is_drawn_once_for_all() {
    let rows = subset(1000, 100, 4);
    assert_eq!(rows, subset(1000, 100, 4));
    assert_ne!(rows, subset(1000, 100, 5));
    assert!(rows.len() == 100 && rows.is_sorted_by(|a, b| a < b) && rows[99] < 1000);
    assert_eq!(subset(3, 3, 0), [0, 1, 2]);
    assert_eq!(subset(2, 100, 0), [0, 1]);
}
