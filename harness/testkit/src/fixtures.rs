//! Inputs that many tests share: fixed matrices, and the configuration of property tests.

use std::hash::{BuildHasher, RandomState};

use ndarray::{Array2, ShapeBuilder};

/// Environment variable: the seed of property tests, or `random` for new inputs in each run.
pub const PROPTEST_SEED: &str = "GPBENCH_PROPTEST_SEED";

/// A column-major matrix of zeros.
pub fn zeros(rows: usize, columns: usize) -> Array2<f64> {
    Array2::zeros((rows, columns).f())
}

/// A fixed matrix (n x d) of numbers scattered over (-1, 1), different for each `seed`. Column j of seed k is column 0
/// of seed j + k.
pub fn scattered(n: usize, d: usize, seed: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, d), |(i, j)| scattered_number(i, j + seed))
}

/// Entry (i, j) of [`scattered`] with seed 0.
pub fn scattered_number(i: usize, j: usize) -> f64 {
    2.0 * (((i * 37 + j * 101 + 11) as f64).sin() * 1e4).rem_euclid(1.0) - 1.0
}

/// The seed of a property test: 1, or the value of [`PROPTEST_SEED`]. It is printed; test runners show this output if
/// the test fails.
pub fn proptest_seed() -> u64 {
    let seed = match std::env::var(PROPTEST_SEED) {
        Err(_) => 1,
        Ok(text) if text == "random" => RandomState::new().hash_one(()),
        Ok(text) => text.parse().expect("GPBENCH_PROPTEST_SEED is a whole number or `random`"),
    };
    eprintln!("{PROPTEST_SEED}={seed} draws the same inputs again");
    seed
}

/// The configuration of a property test of so many cases, with inputs drawn from [`fixtures::proptest_seed`]. A
/// macro, so that this crate does not link proptest into programs.
///
/// ```ignore
/// proptest! {
///     #![proptest_config(gpbench_testkit::proptest_config!(256))]
///     #[test]
///     fn squares_are_positive(x in -1.0..1.0) { prop_assert!(x * x >= 0.0); }
/// }
/// ```
///
/// [`fixtures::proptest_seed`]: crate::fixtures::proptest_seed
#[macro_export]
macro_rules! proptest_config {
    ($cases:expr) => {
        ::proptest::test_runner::Config {
            cases: $cases,
            rng_seed: ::proptest::test_runner::RngSeed::Fixed($crate::fixtures::proptest_seed()),
            failure_persistence: None,
            ..::proptest::test_runner::Config::default()
        }
    };
}
