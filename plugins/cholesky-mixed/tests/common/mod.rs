//! A factor of another outer step, as an earlier process leaves it.

use std::collections::BTreeMap;

/// The state that says of a factor under these hyperparameters that it has served one cheap solve.
pub fn state_of(signal_scale: f64, noise_scale: f64, length_scale: &[f64]) -> BTreeMap<String, Vec<u8>> {
    // Signal, noise, shift, solves, operations in all and of the last solve, length scales.
    let numbers = [signal_scale, noise_scale, 0.0, 1.0, 1e9, 1.0];
    let bytes = numbers.iter().chain(length_scale).flat_map(|number| number.to_le_bytes()).collect();
    BTreeMap::from([("factor".to_owned(), bytes)])
}
