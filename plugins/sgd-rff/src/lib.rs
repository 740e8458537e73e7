//! Stochastic gradient descent on the objectives of Lin et al. 2023: minibatches of kernel rows, and fresh
//! random features for the regulariser at each step.
//!
//! See the README beside this crate for parameters, source, formulae, cost and limits.

#![forbid(unsafe_code)]

mod descent;
mod gradient;
mod params;
mod solver;
mod variance;

pub use descent::AveragedDescent;
pub use gradient::ObjectiveGradient;
pub use params::{Averaging, ClipScope, ObjectiveScale, SampleObjective, SgdRffParams};
pub use solver::SgdRff;
pub use variance::GradientVariance;

gpbench_sdk::export_plugin! { name: "sgd-rff", solvers: [SgdRff] }
