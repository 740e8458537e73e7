//! Reading of the ground truth in `tests/data`.
#![allow(dead_code, reason = "each test binary uses a part")]

use gpbench_gp::Kernel;
use ndarray::{Array1, Array2, Dimension, ShapeBuilder};
use serde_json::Value;

/// A file of `tests/data`.
pub(crate) fn oracle(name: &str) -> Value {
    let path = format!("{}/tests/data/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

pub(crate) fn vector(value: &Value) -> Array1<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

pub(crate) fn matrix(value: &Value) -> Array2<f64> {
    let rows: Vec<Array1<f64>> = value.as_array().unwrap().iter().map(vector).collect();
    Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, j)| rows[i][j])
}

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// The 300 training and 40 test rows that the settings share.
pub(crate) struct System {
    pub(crate) x: Array2<f64>,
    pub(crate) y: Array1<f64>,
    pub(crate) x_test: Array2<f64>,
    pub(crate) y_test: Array1<f64>,
    pub(crate) settings: Vec<(String, Kernel, f64)>,
}

pub(crate) fn system() -> System {
    let file = oracle("small_system");
    let settings = file["settings"].as_object().unwrap().iter().map(|(name, setting)| {
        let family = setting["kernel"].as_str().unwrap().parse().unwrap();
        let length_scale = vector(&setting["length_scale"]).to_vec();
        let kernel = Kernel::new(family, number(&setting["signal_scale"]), &length_scale, length_scale.len());
        (name.clone(), kernel, number(&setting["noise_scale"]))
    });
    System {
        x: matrix(&file["x_train"]),
        y: vector(&file["y_train"]),
        x_test: matrix(&file["x_test"]),
        y_test: vector(&file["y_test"]),
        settings: settings.collect(),
    }
}

/// Largest absolute difference over the largest absolute expected value.
pub(crate) fn relative<D: Dimension>(got: &ndarray::Array<f64, D>, expected: &ndarray::Array<f64, D>) -> f64 {
    assert_eq!(got.shape(), expected.shape());
    let largest = |a: &ndarray::Array<f64, D>| {
        a.iter().fold(0.0, |largest: f64, v| if v.is_nan() { f64::NAN } else { largest.max(v.abs()) })
    };
    largest(&(got - expected)) / largest(expected)
}

#[track_caller]
pub(crate) fn assert_close<D: Dimension>(
    got: &ndarray::Array<f64, D>,
    expected: &ndarray::Array<f64, D>,
    tolerance: f64,
) {
    let error = relative(got, expected);
    assert!(error <= tolerance, "off by {error:e} where {tolerance:e} is allowed");
}

#[track_caller]
pub(crate) fn assert_number(got: f64, expected: f64, tolerance: f64) {
    let error = (got - expected).abs() / expected.abs();
    assert!(error <= tolerance, "{got} against {expected}: off by {error:e} where {tolerance:e} is allowed");
}

/// A column-major copy.
pub(crate) fn column_major(a: &Array2<f64>) -> Array2<f64> {
    let mut out = Array2::zeros(a.dim().f());
    out.assign(a);
    out
}
