//! Stochastic compositional gradient descent: hyperparameters of a Gaussian process with finitely many features, from
//! minibatches and a running average of F.
//!
//! See the README beside this crate for parameters, source, cost and limits.

#![deny(unsafe_code)]

mod average;
mod determinant;
mod learner;
mod params;
mod recent;

pub use average::Average;
pub use determinant::LogDeterminant;
pub use learner::Scgd;
pub use params::{Order, ScgdParams};
pub use recent::Recent;

gpbench_sdk::export_plugin! { name: "scgd", learners: [Scgd] }
