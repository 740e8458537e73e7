//! Learning rates that change from step to step.

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
    fn a_multi_step_schedule_falls_at_its_milestones() {
        let schedule = Schedule::MultiStep { milestones: vec![20, 10], factor: 0.5 };
        let rates = [0, 9, 10, 19, 20, 99].map(|step| schedule.learning_rate(0.4, step));
        assert_eq!(rates, [0.4, 0.4, 0.2, 0.2, 0.1, 0.1]);
        assert_eq!(Schedule::Constant.learning_rate(0.4, 99), 0.4);
    }
}
