//! The space of a search: free parameters, and the hyperparameters that they stand for.

use gpbench_record::Scale;
use ndarray::{ArrayView1, ArrayView2, Axis};

use super::bounded::Bounded;
use crate::Gradient;
use crate::train::Hyperparameters;

/// Limits of the noise scale, in standard deviations of the targets, and of a length scale, in those of its input.
const LIMITS: [f64; 2] = [1e-4, 1e3];
/// Limits of the signal scale, in standard deviations of the targets.
const SIGNAL_LIMITS: [f64; 2] = [1e-4, 31.6];

/// A scale in the order noise, signal, length scales.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Coordinate {
    Free(Bounded),
    Fixed(f64),
}

/// Free parameters: one for each scale that is not fixed, and then one for the mean, if it is sought.
///
/// The noise scale is between 1e-4 and 1e3 standard deviations of the targets, the signal scale between 1e-4 and
/// 31.6, and a length scale between 1e-4 and 1e3 standard deviations of its input, or, where all share it, of the
/// inputs' geometric mean.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Space {
    scales: Vec<Coordinate>,
    /// The mean at the parameter 0, and its change for a change of 1, where the mean is sought.
    mean: Option<(f64, f64)>,
}

impl Space {
    /// The space of scales like those of `start`, of which some are fixed.
    pub(super) fn new(
        start: &Hyperparameters,
        fixed: &[Scale],
        with_mean: bool,
        x: ArrayView2<f64>,
        y: ArrayView1<f64>,
    ) -> Space {
        let of_targets = deviation(y);
        let coordinate = |scale: Scale, value: f64, limits: [f64; 2], unit: f64| match fixed.contains(&scale)
        {
            true => Coordinate::Fixed(value),
            false => Coordinate::Free(Bounded::new(limits.map(|limit| unit * limit))),
        };
        let noise = coordinate(Scale::NoiseScale, start.noise_scale, LIMITS, of_targets);
        let signal = coordinate(Scale::SignalScale, start.signal_scale, SIGNAL_LIMITS, of_targets);
        let units = length_units(x, start.length_scale.len());
        let lengths = start.length_scale.iter().zip(units);
        let lengths = lengths.map(|(value, unit)| coordinate(Scale::LengthScale, *value, LIMITS, unit));
        Space {
            scales: [noise, signal].into_iter().chain(lengths).collect(),
            mean: with_mean.then(|| (y.mean().unwrap_or_default(), of_targets)),
        }
    }

    /// The point of some hyperparameters, with the average of the targets as the mean.
    pub(super) fn point(&self, of: &Hyperparameters) -> Vec<f64> {
        let scales = self.scales.iter().zip(of.scales());
        let free = scales.filter_map(|(coordinate, value)| match coordinate {
            Coordinate::Free(bounded) => Some(bounded.parameter(value)),
            Coordinate::Fixed(_) => None,
        });
        free.chain(self.mean.map(|_| 0.0)).collect()
    }

    /// The hyperparameters at a point, and the mean, if it is sought.
    pub(super) fn hyperparameters(&self, point: &[f64]) -> (Hyperparameters, Option<f64>) {
        let mut parameters = point.iter().copied();
        let mut next = || parameters.next().expect("a parameter for each free scale and the mean");
        let value = |coordinate: &Coordinate| match coordinate {
            Coordinate::Free(bounded) => bounded.value(next()),
            Coordinate::Fixed(value) => *value,
        };
        let scales: Vec<f64> = self.scales.iter().map(value).collect();
        let mean = self.mean.map(|(average, unit)| average + unit * point[point.len() - 1]);
        let hyperparameters = Hyperparameters {
            noise_scale: scales[0],
            signal_scale: scales[1],
            length_scale: scales[2..].to_vec(),
        };
        (hyperparameters, mean)
    }

    /// The gradient by the parameters, from that by the scales and the derivative by the mean. The derivative by a
    /// length scale of all inputs is the sum over the inputs.
    pub(super) fn chain(&self, point: &[f64], by_scales: &Gradient, by_mean: f64) -> Vec<f64> {
        let lengths = match self.scales.len() {
            3 => vec![by_scales.length_scale.iter().sum()],
            _ => by_scales.length_scale.clone(),
        };
        let derivatives = [by_scales.noise_scale, by_scales.signal_scale].into_iter().chain(lengths);
        let free =
            self.scales.iter().zip(derivatives).filter_map(|(coordinate, derivative)| match coordinate {
                Coordinate::Free(bounded) => Some((bounded, derivative)),
                Coordinate::Fixed(_) => None,
            });
        let by_free = free
            .zip(point)
            .map(|((bounded, derivative), parameter)| derivative * bounded.derivative(*parameter));
        by_free.chain(self.mean.map(|(_, unit)| unit * by_mean)).collect()
    }
}

/// The units of so many length scales: the standard deviation of each input, or the geometric mean of all.
pub(super) fn length_units(x: ArrayView2<f64>, count: usize) -> Vec<f64> {
    let each: Vec<f64> = x.axis_iter(Axis(1)).map(deviation).collect();
    match count {
        1 => vec![(each.iter().map(|unit| unit.ln()).sum::<f64>() / each.len().max(1) as f64).exp()],
        _ => each,
    }
}

/// The standard deviation, or 1 where all values are equal.
pub(super) fn deviation(values: ArrayView1<f64>) -> f64 {
    Some(values.std(0.0)).filter(|deviation| *deviation > 0.0).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn hyperparameters() -> Hyperparameters {
        Hyperparameters { noise_scale: 0.3, signal_scale: 2.0, length_scale: vec![0.7, 5.0] }
    }

    fn space(fixed: &[Scale], with_mean: bool) -> Space {
        let (x, y) = (array![[0.0, 10.0], [1.0, 30.0], [3.0, -20.0]], array![1.0, 5.0, 2.0]);
        Space::new(&hyperparameters(), fixed, with_mean, x.view(), y.view())
    }

    #[test]
    fn hyperparameters_survive_their_point_and_fixed_ones_have_none() {
        for (fixed, with_mean, dimensions) in [
            (&[][..], false, 4),
            (&[][..], true, 5),
            (&[Scale::NoiseScale][..], true, 4),
            (&[Scale::LengthScale][..], false, 2),
        ] {
            let space = space(fixed, with_mean);
            let point = space.point(&hyperparameters());
            assert_eq!(point.len(), dimensions);
            let (found, mean) = space.hyperparameters(&point);
            for (found, expected) in found.scales().into_iter().zip(hyperparameters().scales()) {
                assert!((found / expected - 1.0).abs() < 1e-12, "{found} in place of {expected}");
            }
            assert_eq!(mean, with_mean.then_some(8.0 / 3.0));
        }
    }

    #[test]
    fn the_chain_rule_agrees_with_differences() {
        let by_scales = Gradient { noise_scale: 3.0, signal_scale: -2.0, length_scale: vec![4.0, -1.0] };
        for fixed in [&[][..], &[Scale::SignalScale][..]] {
            let space = space(fixed, true);
            let point = space.point(&hyperparameters());
            // 3 noise - 2 signal + 4 length_1 - length_2 + 7 mean.
            let value = |point: &[f64]| {
                let (found, mean) = space.hyperparameters(point);
                let sums = found.scales().into_iter().zip([3.0, -2.0, 4.0, -1.0]);
                sums.map(|(scale, slope)| scale * slope).sum::<f64>() + 7.0 * mean.unwrap()
            };
            let gradient = space.chain(&point, &by_scales, 7.0);
            assert_eq!(gradient.len(), point.len());
            for (i, derivative) in gradient.iter().enumerate() {
                let moved = |by: f64| {
                    let mut point = point.clone();
                    point[i] += by;
                    value(&point)
                };
                let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((derivative - difference).abs() < 1e-6, "{i}: {derivative} {difference}");
            }
        }
    }
}
