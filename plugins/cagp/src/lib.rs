//! Computation-aware Gaussian processes: conditioned on projections of the targets, with the variance that the rest
//! leaves.
//!
//! See the README beside this crate for parameters, sources, formulae, cost and limits.

// Not `forbid`: ndarray's `s!` expands to an `allow`.
#![deny(unsafe_code)]

mod actions;
mod bound;
mod fitting;
mod gradient;
mod krylov;
mod learner;
mod params;
mod passes;

pub use actions::{ActionMatrix, SparseActions};
pub use bound::{NoisyKernel, ProjectedProcess};
pub use gradient::{ProjectedGradient, gradient};
pub use krylov::{Directions, residual_directions};
pub use learner::Cagp;
pub use params::{ActionPolicy, CagpParams};
pub use passes::{covariances, pull_back};

gpbench_sdk::export_plugin! { name: "cagp", learners: [Cagp] }
