//! FALKON: kernel ridge regression at inducing points by preconditioned conjugate gradients.
//!
//! See the README beside this crate for parameters, source, cost and limits.

#![forbid(unsafe_code)]

mod iteration;
mod params;
mod preconditioner;
mod solver;

pub use params::FalkonParams;
pub use preconditioner::FalkonPreconditioner;
pub use solver::Falkon;

gpbench_sdk::export_plugin! { name: "falkon", solvers: [Falkon] }
