//! Models of learners against ground truth and against each other: what all kinds share, and the exact process.

mod experts;
mod finite;
mod inducing;
mod refusals;

use std::sync::Arc;

use gpbench_gp::model::{Arrays, Model, Posterior, Prediction, Shape, subset};
use gpbench_gp::network::{Layer, Network};
use gpbench_gp::seed::Streams;
use gpbench_gp::sparse::Variational;
use gpbench_gp::{Family, thread_pool};
use gpbench_record::{Covariance, ModelKind};
use gpbench_testkit::json::{self, number, vector};
use gpbench_testkit::{Setting, SmallSystem, assert_close, assert_number};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, array, s};
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
fn a_subset_is_drawn_once_for_all() {
    let rows = subset(1000, 100, 4);
    assert_eq!(rows, subset(1000, 100, 4));
    assert_ne!(rows, subset(1000, 100, 5));
    assert!(rows.len() == 100 && rows.is_sorted_by(|a, b| a < b) && rows[99] < 1000);
    assert_eq!(subset(3, 3, 0), [0, 1, 2]);
    assert_eq!(subset(2, 100, 0), [0, 1]);
}
