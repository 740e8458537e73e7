//! The time of an expert's step, for the README: `cargo nextest run --release -p gpbench-plugin-poe --run-ignored only
//! --no-capture`.

use std::time::Instant;

use gpbench_plugin_poe::ExactExpert;
use gpbench_sdk::ndarray::{Array1, Array2};
use gpbench_sdk::optimise::{Hyperparameters, Method, Optimiser, Transform};
use gpbench_sdk::{Family, Scales, Workers};
use gpbench_testing::scattered;

#[test]
#[ignore = "a measurement"]
fn a_step() {
    let (n, d) = (1024, 18);
    let x = Array2::from_shape_fn((n, d), |(i, j)| scattered(i, j));
    let y = Array1::from_shape_fn(n, |i| x[[i, 0]].sin());
    let start = Scales { signal_scale: 1.0, noise_scale: 0.1, length_scale: vec![1.0; d], mean: 0.0 };
    let start = Hyperparameters::new(&start, Transform::Scale, false, true).unwrap();
    let optimiser = Optimiser::new(Method::Adam, start.free.len());
    let mut expert = ExactExpert::new(Family::Rbf, x, y, start, optimiser);
    let seconds = (0..9).map(|_| {
        let clock = Instant::now();
        expert.step(0.01, Workers::new(1)).unwrap();
        clock.elapsed().as_secs_f64()
    });
    println!("{n} rows, {d} inputs: {:.3} s", seconds.fold(f64::INFINITY, f64::min));
}
