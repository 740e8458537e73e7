//! Central differences, which gradients are tested against, and numbers to test with.

use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Derivatives of `function` at `at` by central differences of fourth order.
pub(crate) fn derivatives(at: &[f64], mut function: impl FnMut(&[f64]) -> f64) -> Vec<f64> {
    let step = 1e-3;
    (0..at.len())
        .map(|i| {
            let mut value = |steps: f64| {
                let mut moved = at.to_vec();
                moved[i] += steps * step;
                function(&moved)
            };
            (8.0 * (value(1.0) - value(-1.0)) - (value(2.0) - value(-2.0))) / (12.0 * step)
        })
        .collect()
}

/// Fails unless each derivative is `tolerance` close, relative to the largest.
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
