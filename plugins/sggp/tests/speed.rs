//! Times of a step and of a search, for the README: `cargo nextest run --release -p gpbench-plugin-sggp --run-ignored all
//! --no-capture -E 'test(/^speed::/)'`.

use std::time::Instant;

use gpbench_plugin_sggp::objective;
use gpbench_sdk::ndarray::{Array1, Array2};
use gpbench_sdk::neighbours::groups;
use gpbench_sdk::optimise::{Hyperparameters, Transform};
use gpbench_sdk::{Family, Scales, Workers};
use gpbench_testing::scattered;

#[test]
#[ignore = "a measurement"]
fn times() {
    // Inputs near a surface of six dimensions, as those of data usually are.
    let (n, d) = (10_000, 18);
    let latent = Array2::from_shape_fn((n, 6), |(i, j)| scattered(i, j));
    let mix = Array2::from_shape_fn((6, d), |(i, j)| scattered(i + 90, j));
    let x = latent.dot(&mix) + 0.05 * Array2::from_shape_fn((n, d), |(i, j)| scattered(i, j + 40));
    let y = Array1::from_shape_fn(n, |i| latent[[i, 0]].sin());
    let start = Scales { signal_scale: 1.0, noise_scale: 0.1, length_scale: vec![1.0; d], mean: 0.0 };
    let start = Hyperparameters::new(&start, Transform::Scale, false, true).unwrap();
    for threads in [1, 2] {
        let workers = Workers::new(threads);
        let best = |work: &mut dyn FnMut()| {
            let seconds = |work: &mut dyn FnMut()| {
                let clock = Instant::now();
                work();
                clock.elapsed().as_secs_f64()
            };
            (0..7).map(|_| seconds(work)).fold(f64::INFINITY, f64::min)
        };
        let mut found = None;
        let search = best(&mut || found = Some(groups(&x, 16, workers).unwrap()));
        let all = found.unwrap().groups;
        let batch = all.slice(gpbench_sdk::ndarray::s![..1024, ..]).to_owned();
        let step = best(&mut || {
            objective(&start, Family::Rbf, (&x, &y, &batch), true, workers).unwrap();
        });
        println!("{threads} threads: search {search:.3} s, step {:.2} ms", 1e3 * step);
    }
}
