//! Starts that are spread over the scales that data have.

use ndarray::{ArrayView1, ArrayView2};

use super::space::{deviation, length_units};
use crate::train::Hyperparameters;

/// Length scales of the starts, in units of the inputs' standard deviations and of the root of their number, with
/// which distances grow; and the noise scale beside each, in standard deviations of the targets.
const STARTS: [(f64, f64); 9] = [
    (0.3, 0.3),
    (1.0, 0.3),
    (3.0, 0.3),
    (0.1, 0.3),
    (0.03, 0.3),
    (0.01, 0.3),
    (1.0, 0.03),
    (0.3, 0.03),
    (0.1, 0.03),
];

/// Starts with one length scale for all inputs of `x` (n x d) if `shared`, or else one for each. The signal scale is
/// the standard deviation of the targets `y`.
pub fn spread_starts(x: ArrayView2<f64>, y: ArrayView1<f64>, shared: bool) -> Vec<Hyperparameters> {
    let (of_targets, root) = (deviation(y), (x.ncols() as f64).sqrt());
    let units = length_units(x, if shared { 1 } else { x.ncols() });
    let start = |(length, noise): (f64, f64)| Hyperparameters {
        noise_scale: noise * of_targets,
        signal_scale: of_targets,
        length_scale: units.iter().map(|unit| length * root * unit).collect(),
    };
    STARTS.into_iter().map(start).collect()
}
