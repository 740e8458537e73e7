//! A Cholesky factor in single precision as the preconditioner of block conjugate gradients.
//!
//! See the README beside this crate for parameters, source, cost and limits.

// Not `forbid`: ndarray's `s!` expands to an `allow`.
#![deny(unsafe_code)]

mod factor;
mod ledger;
mod note;
mod params;
mod solver;

pub use params::CholeskyMixedParams;
pub use solver::CholeskyMixed;

gpbench_sdk::export_plugin! { name: "cholesky-mixed", solvers: [CholeskyMixed] }
