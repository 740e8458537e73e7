//! Preconditioned conjugate gradients on all right-hand sides together.
//!
//! See the README beside this crate for parameters, source, cost and limits.

// Not `forbid`: ndarray's `s!` expands to an `allow`.
#![deny(unsafe_code)]

mod columns;
mod params;
mod recycle;
mod solver;

pub use params::CgParams;
pub use solver::Cg;

gpbench_sdk::export_plugin! { name: "cg", solvers: [Cg] }
