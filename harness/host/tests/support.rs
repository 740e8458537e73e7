//! Hosts, limits and systems that the tests share.

use gpbench_host::{DenseSystem, HostTable, SolveLimits};
use ndarray::{Array2, ShapeBuilder};

/// No limits, on one thread.
pub(crate) const LIMITS: SolveLimits =
    SolveLimits { tolerance: None, max_epochs: None, seconds: None, threads: 1, seed: 1 };

/// A host without clock, log and threads.
pub(crate) fn host() -> &'static HostTable {
    HostTable::new(Box::new(()))
}

/// A symmetric positive definite system with `n` rows and four right-hand sides, and its solution.
pub(crate) fn system(n: usize) -> (DenseSystem, Array2<f64>) {
    let entry = |(i, j): (usize, usize)| {
        let noise = if i == j { 0.3 } else { 0.0 };
        (-0.25 * i.abs_diff(j) as f64).exp() + noise
    };
    let a = Array2::from_shape_fn((n, n), entry);
    let solution = Array2::from_shape_fn((n, 4).f(), |(i, j)| ((3 * i + j) as f64 / 7.0).sin());
    let rhs = a.dot(&solution);
    (DenseSystem::new(a, rhs.view()), solution)
}
