//! The exact solver that all others are compared with: a dense Cholesky factorisation.
//!
//! See the README beside this crate for cost and limits.

// Not `forbid`: ndarray's `s!` expands to an `allow`.
#![deny(unsafe_code)]

mod solver;

pub use solver::Cholesky;

gpbench_sdk::export_plugin! { name: "cholesky", solvers: [Cholesky] }
