//! Numbers for tests.

use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Fails unless each entry is `tolerance` close, relative to the largest.
#[track_caller]
pub(crate) fn assert_close<'a>(
    found: impl IntoIterator<Item = &'a f64>,
    expected: impl IntoIterator<Item = &'a f64>,
    tolerance: f64,
) {
    let found: Vec<f64> = found.into_iter().copied().collect();
    let expected: Vec<f64> = expected.into_iter().copied().collect();
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(1e-300_f64, |size, value| size.max(value.abs()));
    for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert!((found - expected).abs() <= tolerance * size, "{i}: {found} in place of {expected}");
    }
}

/// Numbers uniform on -1 to 1.
pub(crate) fn uniform(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || rng.random_range(-1.0..1.0))
}
