//! Times the parts of a learner's step on one thread: `cargo run --release -p gpbench-sdk --example learner_numerics`.

use std::hint::black_box;
use std::time::Instant;

use gpbench_sdk::kernel::{Kernel, Points};
use gpbench_sdk::likelihood::{groups, likelihood};
use gpbench_sdk::ndarray::{Array2, Axis};
use gpbench_sdk::network::Mlp;
use gpbench_sdk::optimise::{Method, Optimiser};
use gpbench_sdk::random_features::RandomFeatures;
use gpbench_sdk::{Covariance, Family, Workers};

/// Prints the least time of some calls.
fn time<R>(what: &str, mut call: impl FnMut() -> R) {
    let seconds = (0..20).map(|_| {
        let start = Instant::now();
        black_box(call());
        start.elapsed().as_secs_f64()
    });
    let least = seconds.fold(f64::INFINITY, f64::min);
    println!("{:9.3} ms  {what}", 1e3 * least);
}

/// Points without a pattern.
fn points(rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| (1.7 * i as f64 + 2.3 * (j * j) as f64 + 0.1).sin())
}

fn main() {
    let workers = Workers::new(1);
    let a = points(1024, 1024);
    time("product of 1024 x 1024 matrices, to compare with", || a.dot(&a));

    let (x, cotangent) = (points(1024, 26), points(1024, 1024).reversed_axes());
    for family in Covariance::all() {
        let kernel = Kernel { family, signal_scale: 1.0, length_scale: vec![2.0; 26] };
        let mut gram = kernel.gram(&x, &x, workers);
        time(&format!("Gram matrix, 1024 x 1024, 26 inputs, {family:?}"), || {
            kernel.gram_into(&x, &x, &mut gram, workers);
        });
        time(&format!("its pull-back to scales and one side, {family:?}"), || {
            kernel.pull_back(&x, &x, &cotangent, Points::Rows, workers)
        });
    }

    let kernel = Kernel { family: Family::Rbf.into(), signal_scale: 1.0, length_scale: vec![2.0; 18] };
    let x = points(10_000, 18);
    let y = points(10_000, 1).remove_axis(Axis(1));
    let members = Array2::from_shape_fn((1024, 16), |(group, row)| (37 * group + 101 * row) % 10_000);
    time("1024 groups of 16 rows, 18 inputs", || groups(&kernel, 0.3, &x, &y, &members, workers));

    let x = points(1024, 18);
    let mut covariance = kernel.gram(&x, &x, workers);
    covariance.diag_mut().iter_mut().for_each(|entry| *entry += 0.1);
    let y = points(1024, 1).remove_axis(Axis(1));
    time("likelihood of 1024 rows, with its derivatives", || likelihood(covariance.clone(), &y));

    let network = Mlp::new(18, &[128, 128]).expect("widths");
    let parameters = network.start(0);
    for rows in [32, 512] {
        let (x, cotangent) = (points(rows, 18), points(rows, 128));
        time(&format!("network, 18 x 128 x 128, {rows} rows"), || network.forward(&parameters, &x, workers));
        let pass = network.forward(&parameters, &x, workers);
        let mut gradient = vec![0.0; parameters.len()];
        time("and back", || network.backward(&parameters, &pass, &cotangent, &mut gradient, workers));
    }

    let features = RandomFeatures::new(128, 1000, 0).expect("pairs");
    let (z, cotangent) = (points(32, 128), points(32, 1000));
    time("1000 random features of 128 inputs, 32 rows", || features.evaluate(&z, 1.0, 1.0, workers));
    let evaluated = features.evaluate(&z, 1.0, 1.0, workers);
    time("and back", || features.pull_back(&evaluated, &cotangent, workers));

    for method in [Method::Adam, Method::AdaDelta] {
        let (mut optimiser, mut parameters) = (Optimiser::new(method, 1 << 20), vec![0.0; 1 << 20]);
        let gradient = vec![1.0; 1 << 20];
        time(&format!("{method:?}, 2^20 parameters"), || optimiser.descend(&mut parameters, &gradient, 1e-3));
    }
}
