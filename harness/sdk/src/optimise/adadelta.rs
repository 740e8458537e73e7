//! The AdaDelta optimiser (Zeiler 2012, algorithm 1), with a learning rate as PyTorch has it.

use ndarray::Array2;

use super::Named;
use crate::Result;

/// AdaDelta with PyTorch's constants: rho = 0.9, epsilon = 1e-6.
///
/// The first step has length 0.0032 times the learning rate, whatever the gradient. Steps do not depend on the gradient's
/// scale only while it is far above 1e-3: minimise sums over rows, not means.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaDelta {
    gradient: Vec<f64>,
    change: Vec<f64>,
}

impl AdaDelta {
    /// An optimiser of `parameters` numbers before its first step.
    pub fn new(parameters: usize) -> AdaDelta {
        AdaDelta { gradient: vec![0.0; parameters], change: vec![0.0; parameters] }
    }

    /// As [`Optimiser::descend`](super::Optimiser::descend).
    pub fn descend(&mut self, parameters: &mut [f64], gradient: &[f64], learning_rate: f64) {
        todo!()
    }

    /// As [`Optimiser::save`](super::Optimiser::save): `squared_gradient`, `squared_change`.
    pub fn save(&self, prefix: &str) -> Vec<Named> {
        todo!()
    }

    /// As [`Optimiser::load`](super::Optimiser::load).
    pub fn load(&mut self, prefix: &str, get: impl FnMut(&str) -> Option<Array2<f64>>) -> Result<()> {
        todo!()
    }
}
