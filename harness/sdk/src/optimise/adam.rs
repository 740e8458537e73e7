//! The Adam optimiser (Kingma and Ba 2015, algorithm 1).

use ndarray::Array2;

use super::pieces::in_pieces;
use super::state::{Named, put, take};
use crate::{Error, Result, Workers};

/// Decay of the mean of gradients.
const BETA_1: f64 = 0.9;
/// Decay of the mean of squared gradients.
const BETA_2: f64 = 0.999;
/// Keeps the step finite for vanishing gradients.
const EPSILON: f64 = 1e-8;
/// Whole numbers up to here are exact as doubles.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Adam with the constants of the paper: 0.9, 0.999, 1e-8.
#[derive(Debug, Clone, PartialEq)]
pub struct Adam {
    first_moment: Vec<f64>,
    second_moment: Vec<f64>,
    steps: u64,
}

impl Adam {
    /// An optimiser of `parameters` numbers before its first step.
    pub fn new(parameters: usize) -> Adam {
        Adam { first_moment: vec![0.0; parameters], second_moment: vec![0.0; parameters], steps: 0 }
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
        self.steps += 1;
        let count = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let (first_bias, second_bias) = (1.0 - BETA_1.powi(count), 1.0 - BETA_2.powi(count));
        let moments = (&mut self.first_moment[..], &mut self.second_moment[..]);
        in_pieces(parameters, gradient, moments, workers, |parameters, gradient, (first, second)| {
            let moments = first.iter_mut().zip(second);
            for ((parameter, &g), (m, v)) in parameters.iter_mut().zip(gradient).zip(moments) {
                *m = BETA_1 * *m + (1.0 - BETA_1) * g;
                *v = BETA_2 * *v + (1.0 - BETA_2) * g * g;
                *parameter -= learning_rate * (*m / first_bias) / ((*v / second_bias).sqrt() + EPSILON);
            }
        });
    }

    /// As [`Optimiser::save`](super::Optimiser::save): `first_moment`, `second_moment`, `steps`.
    pub fn save(&self, prefix: &str) -> Vec<Named> {
        vec![
            put(prefix, "first_moment", &self.first_moment),
            put(prefix, "second_moment", &self.second_moment),
            put(prefix, "steps", &[self.steps as f64]),
        ]
    }

    /// As [`Optimiser::load`](super::Optimiser::load).
    pub fn load(&mut self, prefix: &str, mut get: impl FnMut(&str) -> Option<Array2<f64>>) -> Result<()> {
        let size = self.first_moment.len();
        let first_moment = take(prefix, "first_moment", size, &mut get)?;
        let second_moment = take(prefix, "second_moment", size, &mut get)?;
        let steps = take(prefix, "steps", 1, &mut get)?[0];
        if !(0.0..=EXACT).contains(&steps) || steps.fract() != 0.0 {
            return Err(Error::InvalidArgument(format!(
                "the saved state's {prefix}_steps is {steps}, no number of steps"
            )));
        }
        *self = Adam { first_moment, second_moment, steps: steps as u64 };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_is_the_learning_rate_against_the_gradient() {
        let (mut adam, mut parameters) = (Adam::new(3), [1.0, 2.0, 3.0]);
        adam.descend(&mut parameters, &[5.0, -1e-3, 0.0], 0.1);
        assert!((parameters[0] - 0.9).abs() < 1e-9 && (parameters[1] - 2.1).abs() < 1e-5);
        assert_eq!(parameters[2], 3.0);
    }

    #[test]
    fn moments_decay_as_in_the_paper() {
        let (mut adam, mut parameter) = (Adam::new(1), [0.0]);
        adam.descend(&mut parameter, &[1.0], 0.5);
        adam.descend(&mut parameter, &[-2.0], 0.5);
        let (m, v): (f64, f64) = (0.9 * 0.1 - 0.1 * 2.0, 0.999 * 0.001 + 0.001 * 4.0);
        let second = 0.5 * (m / (1.0 - 0.81)) / ((v / (1.0 - 0.998001)).sqrt() + 1e-8);
        assert!((parameter[0] + 0.5 + second).abs() < 1e-8, "{}", parameter[0]);
    }

    #[test]
    fn a_number_of_steps_is_whole() {
        let mut adam = Adam::new(1);
        let load = |steps: f64| {
            move |name: &str| Some(Array2::from_elem((1, 1), if name == "a_steps" { steps } else { 0.0 }))
        };
        assert!(adam.load("a", load(2.0)).is_ok());
        for steps in [-1.0, 0.5, f64::NAN, f64::INFINITY] {
            assert!(adam.load("a", load(steps)).unwrap_err().to_string().contains("a_steps"));
        }
    }
}
