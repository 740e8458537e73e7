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
        todo!()
    }
}
