//! Optimisers for authors of learners: Adam, AdaDelta, L-BFGS, learning rates that fall at milestones, and the
//! transforms between free parameters and positive scales.
//!
//! Optimisers descend: they get the gradient of what is minimised. [`Lbfgs`] gets the value besides, and says where
//! it wants both.

mod adadelta;
mod adam;
mod hyperparameters;
mod milestones;
mod schedule;
mod state;
mod transform;

pub use gpbench_numerics::optimise::{Adam, Finish, Lbfgs, LbfgsOptions, Progress};
use ndarray::Array2;

pub use adadelta::AdaDelta;
pub use hyperparameters::Hyperparameters;
pub use milestones::Milestones;
pub use schedule::MultiStep;
pub use state::Named;
pub use transform::{Scale, Transform};

use crate::{Result, Workers};

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
        self.descend_shared(parameters, gradient, learning_rate, Workers::new(1));
    }

    /// The same by all threads, with the same bits: for millions of parameters.
    ///
    /// # Panics
    /// As [`descend`](Self::descend).
    pub fn descend_shared(
        &mut self,
        parameters: &mut [f64],
        gradient: &[f64],
        learning_rate: f64,
        workers: Workers<'_>,
    ) {
        match self {
            Optimiser::Adam(adam) => adam.descend(parameters, gradient, learning_rate, workers),
            Optimiser::AdaDelta(adadelta) => {
                adadelta.descend_shared(parameters, gradient, learning_rate, workers)
            }
        }
    }

    /// The whole state, each name behind `prefix` and an underscore.
    pub fn save(&self, prefix: &str) -> Vec<Named> {
        match self {
            Optimiser::Adam(adam) => adam::save(adam, prefix),
            Optimiser::AdaDelta(adadelta) => adadelta.save(prefix),
        }
    }

    /// Takes over a state that [`save`](Self::save) gave, so that the next steps are the same to the last bit.
    ///
    /// # Errors
    /// A matrix is missing, or it has another number of parameters.
    pub fn load(&mut self, prefix: &str, get: impl FnMut(&str) -> Option<Array2<f64>>) -> Result<()> {
        match self {
            Optimiser::Adam(adam) => adam::load(adam, prefix, get),
            Optimiser::AdaDelta(adadelta) => adadelta.load(prefix, get),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differences::uniform;

    const METHODS: [Method; 2] = [Method::Adam, Method::AdaDelta];

    #[test]
    fn a_loaded_state_goes_on_with_the_same_bits() {
        for method in METHODS {
            let gradients = uniform(10, 37, 1);
            let (mut whole, mut parameters) = (Optimiser::new(method, 37), vec![0.5; 37]);
            let descend = |optimiser: &mut Optimiser, parameters: &mut [f64], step: usize| {
                optimiser.descend(parameters, gradients.row(step).as_slice().unwrap(), 0.1);
            };
            (0..5).for_each(|step| descend(&mut whole, &mut parameters, step));
            let (saved, mut resumed) = (whole.save("scales"), parameters.clone());
            (5..10).for_each(|step| descend(&mut whole, &mut parameters, step));

            let mut loaded = Optimiser::new(method, 37);
            let get =
                |name: &str| saved.iter().find(|(saved, _)| saved == name).map(|(_, matrix)| matrix.clone());
            loaded.load("scales", get).unwrap();
            (5..10).for_each(|step| descend(&mut loaded, &mut resumed, step));
            assert_eq!((&loaded, &resumed), (&whole, &parameters));

            let names_fit = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            assert!(saved.iter().all(|(name, _)| names_fit(name) && name.starts_with("scales_")));
        }
    }

    #[test]
    fn a_state_of_other_parameters_is_refused_and_changes_nothing() {
        for method in METHODS {
            let saved = Optimiser::new(method, 3).save("p");
            let mut optimiser = Optimiser::new(method, 4);
            let get =
                |name: &str| saved.iter().find(|(saved, _)| saved == name).map(|(_, matrix)| matrix.clone());
            assert!(optimiser.load("p", get).unwrap_err().to_string().contains("is 3 x 1, expected 4 x 1"));
            assert!(optimiser.load("q", get).unwrap_err().to_string().contains("has no matrix q_"));
            assert_eq!(optimiser, Optimiser::new(method, 4));
        }
    }

    #[test]
    fn threads_change_no_bit() {
        const SIZE: usize = 140_000;
        for method in METHODS {
            let gradients = uniform(2, SIZE, 5);
            let of = |threads| {
                let (mut optimiser, mut parameters) = (Optimiser::new(method, SIZE), vec![0.5; SIZE]);
                for gradient in gradients.rows() {
                    let gradient = gradient.as_slice().unwrap();
                    optimiser.descend_shared(&mut parameters, gradient, 0.1, Workers::new(threads));
                }
                (optimiser, parameters)
            };
            assert_eq!(of(1), of(3));
            assert!(of(1).1.iter().all(|parameter| *parameter != 0.5));
        }
    }

    #[test]
    fn at_rate_0_nothing_moves() {
        for method in METHODS {
            let (mut optimiser, mut parameters) = (Optimiser::new(method, 2), [1.0, -2.0]);
            optimiser.descend(&mut parameters, &[3.0, 0.0], 0.0);
            assert_eq!(parameters, [1.0, -2.0]);
        }
    }

    #[test]
    fn a_quadratic_is_minimised() {
        for (method, rate) in [(Method::Adam, 0.05), (Method::AdaDelta, 1.0)] {
            let (mut optimiser, mut parameters) = (Optimiser::new(method, 2), [1.0, -2.0]);
            for _ in 0..2000 {
                let gradient = [100.0 * parameters[0], 1e3 * (parameters[1] + 1.0)];
                optimiser.descend(&mut parameters, &gradient, rate);
            }
            assert!(
                parameters[0].abs() < 0.02 && (parameters[1] + 1.0).abs() < 0.02,
                "{method:?} {parameters:?}"
            );
        }
    }
}
