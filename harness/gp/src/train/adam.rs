//! The Adam optimiser (Kingma and Ba 2015, algorithm 1), as ascent.

/// Decay of the mean of gradients.
const BETA_1: f64 = 0.9;
/// Decay of the mean of squared gradients.
const BETA_2: f64 = 0.999;
/// Keeps the step finite for vanishing gradients.
const EPSILON: f64 = 1e-8;

/// The state of the optimiser, with the constants of the paper.
#[derive(Debug, Clone, PartialEq)]
pub struct Adam {
    /// Decaying mean of the gradients, without the correction for its start at zero.
    pub first_moment: Vec<f64>,
    /// Decaying mean of the squared gradients, likewise.
    pub second_moment: Vec<f64>,
    /// Steps taken.
    pub steps: u64,
}

impl Adam {
    /// An optimiser of `parameters` parameters before its first step.
    pub fn new(parameters: usize) -> Adam {
        Adam { first_moment: vec![0.0; parameters], second_moment: vec![0.0; parameters], steps: 0 }
    }

    /// Moves `parameters` a step up along `gradient`.
    ///
    /// # Panics
    /// If the lengths differ from the number of parameters in [`Adam::new`].
    pub fn ascend(&mut self, parameters: &mut [f64], gradient: &[f64], learning_rate: f64) {
        let size = self.first_moment.len();
        assert_eq!((parameters.len(), gradient.len()), (size, size), "one gradient entry per parameter");
        self.steps += 1;
        let count = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let (first_bias, second_bias) = (1.0 - BETA_1.powi(count), 1.0 - BETA_2.powi(count));
        for (i, (parameter, &g)) in parameters.iter_mut().zip(gradient).enumerate() {
            let (m, v) = (&mut self.first_moment[i], &mut self.second_moment[i]);
            *m = BETA_1 * *m + (1.0 - BETA_1) * g;
            *v = BETA_2 * *v + (1.0 - BETA_2) * g * g;
            *parameter += learning_rate * (*m / first_bias) / ((*v / second_bias).sqrt() + EPSILON);
        }
    }
}

/// The learning rate as a function of the step.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Schedule {
    /// Constant.
    #[default]
    Constant,
    /// Multiplied by `factor` at each of the steps `milestones`, counted from 0.
    MultiStep {
        /// Steps before which the rate changes, in any order.
        milestones: Vec<u64>,
        /// Factor of each change.
        factor: f64,
    },
}

impl Schedule {
    /// The learning rate of step `step`, counted from 0, where the first one is `base`.
    pub fn learning_rate(&self, base: f64, step: u64) -> f64 {
        match self {
            Schedule::Constant => base,
            Schedule::MultiStep { milestones, factor } => {
                let passed = milestones.iter().filter(|&&milestone| milestone <= step).count();
                base * factor.powi(passed as i32)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_is_the_learning_rate_in_the_direction_of_the_gradient() {
        let (mut adam, mut parameters) = (Adam::new(3), [1.0, 2.0, 3.0]);
        adam.ascend(&mut parameters, &[5.0, -1e-3, 0.0], 0.1);
        assert!((parameters[0] - 1.1).abs() < 1e-9 && (parameters[1] - 1.9).abs() < 1e-5);
        assert_eq!(parameters[2], 3.0);
    }

    #[test]
    fn moments_decay_as_in_the_paper() {
        let (mut adam, mut parameter) = (Adam::new(1), [0.0]);
        adam.ascend(&mut parameter, &[1.0], 0.5);
        adam.ascend(&mut parameter, &[-2.0], 0.5);
        let (m, v): (f64, f64) = (0.9 * 0.1 - 0.1 * 2.0, 0.999 * 0.001 + 0.001 * 4.0);
        let second = 0.5 * (m / (1.0 - 0.81)) / ((v / (1.0 - 0.998001)).sqrt() + 1e-8);
        assert!((parameter[0] - (0.5 + second)).abs() < 1e-8, "{}", parameter[0]);
    }

    #[test]
    fn a_multi_step_schedule_falls_at_its_milestones() {
        let schedule = Schedule::MultiStep { milestones: vec![20, 10], factor: 0.5 };
        let rates = [0, 9, 10, 19, 20, 99].map(|step| schedule.learning_rate(0.4, step));
        assert_eq!(rates, [0.4, 0.4, 0.2, 0.2, 0.1, 0.1]);
        assert_eq!(Schedule::Constant.learning_rate(0.4, 99), 0.4);
    }
}
