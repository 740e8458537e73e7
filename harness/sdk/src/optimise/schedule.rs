//! Learning rates over the passes of a fit.

/// A learning rate that is multiplied by a factor at each milestone.
#[derive(Debug, Clone, PartialEq)]
pub struct MultiStep {
    milestones: Vec<f64>,
    factor: f64,
}

impl MultiStep {
    /// A factor at each of `milestones`, in passes over the training rows, in any order.
    pub fn new(milestones: Vec<f64>, factor: f64) -> MultiStep {
        MultiStep { milestones, factor }
    }

    /// A constant rate.
    pub fn constant() -> MultiStep {
        MultiStep { milestones: Vec::new(), factor: 1.0 }
    }

    /// What the learning rate is multiplied by after `passes` passes: the factor to the power of the number of
    /// milestones reached.
    pub fn at(&self, passes: f64) -> f64 {
        let reached = self.milestones.iter().filter(|&&milestone| milestone <= passes).count();
        self.factor.powi(i32::try_from(reached).unwrap_or(i32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_falls_at_its_milestones() {
        let schedule = MultiStep::new(vec![20.0, 10.0], 0.5);
        assert_eq!(
            [0.0, 9.99, 10.0, 19.5, 20.0, 99.0].map(|p| schedule.at(p)),
            [1.0, 1.0, 0.5, 0.5, 0.25, 0.25]
        );
        assert_eq!(MultiStep::constant().at(99.0), 1.0);
    }
}
