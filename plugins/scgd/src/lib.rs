//! Stochastic compositional gradient descent: hyperparameters of a Gaussian process with finitely many features, from
//! minibatches and a running average of F.
//!
//! See the README beside this crate for parameters, source, cost and limits.

#![deny(unsafe_code)]

mod average;
mod learner;
mod params;

pub use average::{Average, LogDeterminant};
pub use learner::Scgd;
pub use params::{Order, ScgdParams};

gpbench_sdk::export_plugin! { name: "scgd", learners: [Scgd] }
