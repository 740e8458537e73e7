//! The Adam optimiser (Kingma and Ba 2015, algorithm 1).

use ndarray::Array2;

use super::Named;
use crate::Result;

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
        todo!()
    }

    /// As [`Optimiser::save`](super::Optimiser::save): `first_moment`, `second_moment`, `steps`.
    pub fn save(&self, prefix: &str) -> Vec<Named> {
        todo!()
    }

    /// As [`Optimiser::load`](super::Optimiser::load).
    pub fn load(&mut self, prefix: &str, get: impl FnMut(&str) -> Option<Array2<f64>>) -> Result<()> {
        todo!()
    }
}
