//! Block conjugate gradients: one Krylov space for all right-hand sides.
//!
//! See the README beside this crate for parameters, source, cost and limits.

// Not `forbid`: ndarray's `s!` expands to an `allow`.
#![deny(unsafe_code)]

mod params;
mod solver;

pub use params::BlockCgParams;
pub use solver::BlockCg;

gpbench_sdk::export_plugin! { name: "block-cg", solvers: [BlockCg] }
