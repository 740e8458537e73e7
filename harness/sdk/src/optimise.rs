//! Optimisers for authors of learners: Adam, AdaDelta, learning rates that fall at milestones, and the transforms
//! between free parameters and positive scales.
//!
//! Optimisers descend: they get the gradient of what is minimised.

mod adadelta;
mod adam;
mod hyperparameters;
mod milestones;
mod schedule;
mod transform;

use ndarray::Array2;

pub use adadelta::AdaDelta;
pub use adam::Adam;
pub use hyperparameters::Hyperparameters;
pub use milestones::Milestones;
pub use schedule::MultiStep;
pub use transform::{Scale, Transform};

use crate::{Error, Result};

/// A named matrix of a saved state.
pub type Named = (String, Array2<f64>);

crate::choices! {
    /// Which optimiser a learner uses, as a parameter of the learner.
    pub enum Method {
        /// [`Adam`].
        Adam = "adam",
        /// [`AdaDelta`].
        AdaDelta = "adadelta",
    }
}

/// An optimiser of a flat vector of parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Optimiser {
    /// Kingma and Ba (2015).
    Adam(Adam),
    /// Zeiler (2012).
    AdaDelta(AdaDelta),
}

impl Optimiser {
    /// An optimiser of `parameters` numbers before its first step.
    pub fn new(method: Method, parameters: usize) -> Optimiser {
        match method {
            Method::Adam => Optimiser::Adam(Adam::new(parameters)),
            Method::AdaDelta => Optimiser::AdaDelta(AdaDelta::new(parameters)),
        }
    }

    /// Moves `parameters` a step down along `gradient`. At learning rate 0 nothing moves, but the averages do.
    ///
    /// # Panics
    /// If the lengths differ from the number of parameters.
    pub fn descend(&mut self, parameters: &mut [f64], gradient: &[f64], learning_rate: f64) {
        match self {
            Optimiser::Adam(adam) => adam.descend(parameters, gradient, learning_rate),
            Optimiser::AdaDelta(adadelta) => adadelta.descend(parameters, gradient, learning_rate),
        }
    }

    /// The whole state, each name behind `prefix` and an underscore.
    pub fn save(&self, prefix: &str) -> Vec<Named> {
        match self {
            Optimiser::Adam(adam) => adam.save(prefix),
            Optimiser::AdaDelta(adadelta) => adadelta.save(prefix),
        }
    }

    /// Takes over a state that [`save`](Self::save) gave, so that the next steps are the same to the last bit.
    ///
    /// # Errors
    /// A matrix is missing, or it has another number of parameters.
    pub fn load(&mut self, prefix: &str, get: impl FnMut(&str) -> Option<Array2<f64>>) -> Result<()> {
        match self {
            Optimiser::Adam(adam) => adam.load(prefix, get),
            Optimiser::AdaDelta(adadelta) => adadelta.load(prefix, get),
        }
    }
}
