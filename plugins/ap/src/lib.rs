//! Alternating projections: exact solves on one block of rows after another.
//!
//! See the README beside this crate for parameters, source, cost and limits.

#![forbid(unsafe_code)]

mod block;
mod params;
mod residual;
mod solver;

pub use params::{ApParams, Partition};
pub use solver::Ap;

gpbench_sdk::export_plugin! { name: "ap", solvers: [Ap] }
