//! The oracle: what was computed elsewhere for a small set, in extended precision.

use gpbench_plugin_vecchia::{Data, Process, VecchiaParams};
use gpbench_sdk::ndarray::{Array1, Array2};
use gpbench_sdk::{Family, Scales};
use gpbench_testkit::json::{self, Value, matrix, number, vector};

pub(crate) const FAMILIES: [(&str, Family); 2] = [("matern32", Family::Matern32), ("rbf", Family::Rbf)];

/// Rows of the set.
pub(crate) const N: usize = 40;

pub(crate) fn oracle() -> Value {
    json::parse(include_str!("data/neighbours_small.json"))
}

/// Parameters without jitter, whose points have derivatives.
pub(crate) fn params() -> VecchiaParams {
    VecchiaParams { jitter: 0.0, move_points: true, ..VecchiaParams::default() }
}

pub(crate) fn scales(oracle: &Value) -> Scales {
    let inputs = &oracle["inputs"];
    Scales {
        signal_scale: number(&inputs["signal_scale"]),
        noise_scale: number(&inputs["noise_scale"]),
        length_scale: vector(&inputs["length_scale"]).to_vec(),
        mean: 0.0,
    }
}

/// The process of the oracle, with its inducing points or without.
pub(crate) fn process(oracle: &Value, family: Family, with_points: bool) -> Process {
    let mut process = Process::start(&scales(oracle), family, 0.0, &params(), (false, false)).unwrap();
    if with_points {
        process.set_points(matrix(&oracle["inputs"]["Z_off"]).view());
    }
    process
}

pub(crate) fn data(oracle: &Value, order: Vec<usize>) -> Data {
    let inputs = &oracle["inputs"];
    Data::new(&matrix(&inputs["X"]), &vector(&inputs["y"]), order).unwrap()
}

pub(crate) fn test_rows(oracle: &Value) -> Array2<f64> {
    matrix(&oracle["inputs"]["X_test"])
}

/// Whole numbers.
pub(crate) fn indices(value: &Value) -> Vec<usize> {
    vector(value).iter().map(|&index| index as usize).collect()
}

/// Lists of whole numbers of any lengths.
pub(crate) fn lists(value: &Value) -> Vec<Vec<usize>> {
    value.as_array().unwrap().iter().map(indices).collect()
}

/// Derivatives by the noise scale, the signal scale and the length scales, as the oracle has them.
pub(crate) fn gradient(by: &Scales) -> Array1<f64> {
    [&[by.noise_scale, by.signal_scale], by.length_scale.as_slice()].concat().into()
}
