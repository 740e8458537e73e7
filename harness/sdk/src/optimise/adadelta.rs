//! The AdaDelta optimiser (Zeiler 2012, algorithm 1), with a learning rate as PyTorch has it.

use gpbench_numerics::optimise::in_pieces;
use ndarray::Array2;

use super::state::{Named, put, take};
use crate::{Result, Workers};

/// Decay of the means.
const RHO: f64 = 0.9;
/// Starts the steps, and keeps them finite for vanishing gradients.
const EPSILON: f64 = 1e-6;

/// AdaDelta with PyTorch's constants: rho = 0.9, epsilon = 1e-6.
///
/// The first step has length 0.0032 times the learning rate, whatever the gradient. Steps do not depend on the
/// gradient's scale only while it is far above 1e-3: minimise sums over rows, not means.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaDelta {
    /// Decaying mean of the squared gradients.
    squared_gradient: Vec<f64>,
    /// Decaying mean of the squared changes, before they are multiplied by the learning rate.
    squared_change: Vec<f64>,
}

impl AdaDelta {
    /// An optimiser of `parameters` numbers before its first step.
    pub fn new(parameters: usize) -> AdaDelta {
        AdaDelta { squared_gradient: vec![0.0; parameters], squared_change: vec![0.0; parameters] }
    }

    /// As [`Optimiser::descend`](super::Optimiser::descend).
    pub fn descend(&mut self, parameters: &mut [f64], gradient: &[f64], learning_rate: f64) {
        self.descend_shared(parameters, gradient, learning_rate, Workers::new(1));
    }

    /// As [`Optimiser::descend_shared`](super::Optimiser::descend_shared).
    pub fn descend_shared(
        &mut self,
        parameters: &mut [f64],
        gradient: &[f64],
        learning_rate: f64,
        workers: Workers<'_>,
    ) {
        let means = (&mut self.squared_gradient[..], &mut self.squared_change[..]);
        in_pieces(
            parameters,
            gradient,
            means,
            workers,
            |parameters, gradient, (squared_gradient, squared_change)| {
                let means = squared_gradient.iter_mut().zip(squared_change);
                for ((parameter, &g), (v, u)) in parameters.iter_mut().zip(gradient).zip(means) {
                    *v = RHO * *v + (1.0 - RHO) * g * g;
                    let change = ((*u + EPSILON) / (*v + EPSILON)).sqrt() * g;
                    *u = RHO * *u + (1.0 - RHO) * change * change;
                    *parameter -= learning_rate * change;
                }
            },
        );
    }

    /// As [`Optimiser::save`](super::Optimiser::save): `squared_gradient`, `squared_change`.
    pub fn save(&self, prefix: &str) -> Vec<Named> {
        vec![
            put(prefix, "squared_gradient", &self.squared_gradient),
            put(prefix, "squared_change", &self.squared_change),
        ]
    }

    /// As [`Optimiser::load`](super::Optimiser::load).
    pub fn load(&mut self, prefix: &str, mut get: impl FnMut(&str) -> Option<Array2<f64>>) -> Result<()> {
        let size = self.squared_gradient.len();
        let squared_gradient = take(prefix, "squared_gradient", size, &mut get)?;
        let squared_change = take(prefix, "squared_change", size, &mut get)?;
        *self = AdaDelta { squared_gradient, squared_change };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Length of the last of so many steps under a constant gradient.
    fn step(count: usize, gradient: f64, learning_rate: f64) -> f64 {
        let (mut adadelta, mut parameter) = (AdaDelta::new(1), [0.0]);
        for _ in 1..count {
            adadelta.descend(&mut parameter, &[gradient], learning_rate);
        }
        parameter = [0.0];
        adadelta.descend(&mut parameter, &[gradient], learning_rate);
        -parameter[0]
    }

    #[test]
    fn the_first_step_does_not_depend_on_the_gradient() {
        let first = (EPSILON / (1.0 - RHO)).sqrt();
        for gradient in [1.0, 1e3, -1e6] {
            assert!((step(1, gradient, 2.0) / (2.0 * first * gradient.signum()) - 1.0).abs() < 1e-5);
        }
        assert!((first - 0.0032).abs() < 5e-5);
    }

    #[test]
    fn steps_grow_slowly_under_a_constant_gradient() {
        assert!((step(100, 10.0, 1.0) - 0.0047).abs() < 5e-5, "{}", step(100, 10.0, 1.0));
        assert!((step(1000, 10.0, 1.0) - 0.0106).abs() < 5e-5, "{}", step(1000, 10.0, 1.0));
    }

    #[test]
    fn a_small_gradient_is_not_scaled_up() {
        assert!((step(1, 1e-6, 1.0) / (1e-6)) < 1.01);
    }
}
