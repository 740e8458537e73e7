//! Sparse variational Gaussian processes, fitted by stochastic optimisation.
//!
//! See the README beside this crate for parameters, source, cost and limits.

// Not `forbid`: ndarray's `s!` expands to an `allow`.
#![deny(unsafe_code)]

mod bound;
mod learner;
mod optimum;
mod params;
mod process;

pub use bound::{BoundGradient, Minibatch, WhitenedDistribution};
pub use learner::Svgp;
pub use params::{SvgpParams, Train};
pub use process::{Evaluation, GradientMemory, SparseProcess};

gpbench_sdk::export_plugin! { name: "svgp", learners: [Svgp] }
