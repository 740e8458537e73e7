//! The Adam optimiser (Kingma and Ba 2015, algorithm 1).

use super::in_pieces;
use crate::Pool;

/// Decay of the mean of gradients.
const BETA_1: f64 = 0.9;
/// Decay of the mean of squared gradients.
const BETA_2: f64 = 0.999;
/// The constant that keeps the step finite for vanishing gradients.
const EPSILON: f64 = 1e-8;

/// The state of Adam, with the constants of the paper: 0.9, 0.999, 1e-8.
#[derive(Debug, Clone, PartialEq)]
pub struct Adam {
    /// Decaying mean of the gradients, without bias correction.
    pub first_moment: Vec<f64>,
    /// Decaying mean of the squared gradients, without bias correction.
    pub second_moment: Vec<f64>,
    /// Steps taken.
    pub steps: u64,
}

impl Adam {
    /// An optimiser of `parameters` numbers before its first step.
    pub fn new(parameters: usize) -> Adam {
        Adam { first_moment: vec![0.0; parameters], second_moment: vec![0.0; parameters], steps: 0 }
    }

    /// Moves `parameters` by one step of ascent along `gradient`. At learning rate 0, only the averages change. The
    /// bits do not depend on the number of threads.
    ///
    /// # Panics
    /// If the lengths differ from the number of parameters in [`Adam::new`].
    pub fn ascend(&mut self, parameters: &mut [f64], gradient: &[f64], learning_rate: f64, pool: impl Pool) {
        self.step(parameters, gradient, learning_rate, pool);
    }

    /// Moves `parameters` by one step of descent along `gradient`.
    ///
    /// # Panics
    /// As [`ascend`](Self::ascend).
    pub fn descend(&mut self, parameters: &mut [f64], gradient: &[f64], learning_rate: f64, pool: impl Pool) {
        // Changing the sign is exact.
        self.step(parameters, gradient, -learning_rate, pool);
    }

    fn step(&mut self, parameters: &mut [f64], gradient: &[f64], rate: f64, pool: impl Pool) {
        self.steps += 1;
        let count = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let (first_bias, second_bias) = (1.0 - BETA_1.powi(count), 1.0 - BETA_2.powi(count));
        let moments = (&mut self.first_moment[..], &mut self.second_moment[..]);
        in_pieces(parameters, gradient, moments, pool, |parameters, gradient, (first, second)| {
            let moments = first.iter_mut().zip(second);
            for ((parameter, &g), (m, v)) in parameters.iter_mut().zip(gradient).zip(moments) {
                *m = BETA_1 * *m + (1.0 - BETA_1) * g;
                *v = BETA_2 * *v + (1.0 - BETA_2) * g * g;
                *parameter += rate * (*m / first_bias) / ((*v / second_bias).sqrt() + EPSILON);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Alone;

    type Step = fn(&mut Adam, &mut [f64], &[f64], f64, Alone);

    /// A step in each direction, with the sign of the change.
    const DIRECTIONS: [(Step, f64); 2] = [(Adam::ascend, 1.0), (Adam::descend, -1.0)];

    #[test]
    fn the_first_step_is_the_learning_rate_along_or_against_the_gradient() {
        for (step, sign) in DIRECTIONS {
            let (mut adam, mut parameters) = (Adam::new(3), [1.0, 2.0, 3.0]);
            step(&mut adam, &mut parameters, &[5.0, -1e-3, 0.0], 0.1, Alone);
            assert!((parameters[0] - (1.0 + sign * 0.1)).abs() < 1e-9);
            assert!((parameters[1] - (2.0 - sign * 0.1)).abs() < 1e-5);
            assert_eq!(parameters[2], 3.0);
        }
    }

    #[test]
    fn moments_decay_as_in_the_paper() {
        let (m, v): (f64, f64) = (0.9 * 0.1 - 0.1 * 2.0, 0.999 * 0.001 + 0.001 * 4.0);
        let second = 0.5 * (m / (1.0 - 0.81)) / ((v / (1.0 - 0.998001)).sqrt() + 1e-8);
        for (step, sign) in DIRECTIONS {
            let (mut adam, mut parameter) = (Adam::new(1), [0.0]);
            step(&mut adam, &mut parameter, &[1.0], 0.5, Alone);
            step(&mut adam, &mut parameter, &[-2.0], 0.5, Alone);
            assert!((parameter[0] - sign * (0.5 + second)).abs() < 1e-8, "{}", parameter[0]);
        }
    }
}
