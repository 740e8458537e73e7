//! Biased stochastic gradient descent: hyperparameters of a Gaussian process from the likelihoods of minibatches alone.
//!
//! See the README beside this crate for parameters, source, cost and limits.

#![deny(unsafe_code)]

mod exact;
mod learner;
mod likelihood;
mod params;

pub use exact::Exact;
pub use learner::Bsgd;
pub use likelihood::BatchLikelihood;
pub use params::BsgdParams;

gpbench_sdk::export_plugin! { name: "bsgd", learners: [Bsgd] }
