//! Stochastic minimax: hyperparameters of a Gaussian process with finitely many features, from unbiased minibatch
//! gradients of a penalised problem.
//!
//! See the README beside this crate for parameters, source, cost and limits.

#![deny(unsafe_code)]

mod learner;
mod params;
mod saddle;

pub use learner::Minimax;
pub use params::MinimaxParams;
pub use saddle::{Penalty, Saddle, norm};

gpbench_sdk::export_plugin! { name: "minimax", learners: [Minimax] }
