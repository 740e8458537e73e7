//! The solver `steepest-descent`.
//!
//! See the README beside this crate for parameters, source, cost and limits.

// `deny`, not `forbid`: ndarray's macro `s!` has to allow it in its own expansion.
#![deny(unsafe_code)]

mod params;
mod solver;

pub use params::SteepestDescentParams;
pub use solver::SteepestDescent;

gpbench_sdk::export_plugin! { name: "steepest-descent", solvers: [SteepestDescent] }
