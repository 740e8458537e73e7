//! Stochastic gradients of the likelihood of groups of nearest neighbours.
//!
//! See the README beside this crate for parameters, source, formulae, cost and limits.

#![forbid(unsafe_code)]

mod learner;
mod objective;
mod params;
mod uniform;

pub use learner::SgGp;
pub use objective::objective;
pub use params::{Grouping, SgGpParams};
pub use uniform::draw;

gpbench_sdk::export_plugin! { name: "sggp", learners: [SgGp] }
