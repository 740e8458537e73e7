//! Stochastic gradient descent with momentum, on minibatches of rows.
//!
//! See the README beside this crate for parameters, source, cost and limits.

#![forbid(unsafe_code)]

mod descent;
mod learning_rate;
mod params;
mod solver;

pub use descent::MomentumDescent;
pub use learning_rate::{BLOCK, learning_rate};
pub use params::SgdParams;
pub use solver::Sgd;

gpbench_sdk::export_plugin! { name: "sgd", solvers: [Sgd] }
