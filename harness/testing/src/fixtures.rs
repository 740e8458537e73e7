//! Numbers for tests: irregular, but the same in each run.

use ndarray::{Array2, ShapeBuilder};

/// An irregular but fixed number in (-1, 1).
#[must_use]
pub fn scattered(i: usize, j: usize) -> f64 {
    2.0 * (((i * 37 + j * 101 + 11) as f64).sin() * 1e4).rem_euclid(1.0) - 1.0
}

/// Irregular inputs, n x 2, column-major.
#[must_use]
pub fn scattered_inputs(n: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, 2).f(), |(i, j)| scattered(i, j + 50))
}

/// Irregular right-hand sides, n x s, column-major.
#[must_use]
pub fn scattered_right_hand_sides(n: usize, s: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, s).f(), |(i, j)| scattered(i, j))
}
