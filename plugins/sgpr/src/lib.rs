//! Sparse Gaussian process regression: the collapsed bound, trained by L-BFGS.
//!
//! See the README beside this crate for parameters, source, cost and limits.

// Not `forbid`: ndarray's `s!` expands to an `allow`.
#![deny(unsafe_code)]

mod bound;
mod fitting;
mod learner;
mod params;
mod select;

pub use bound::{BoundMemory, BoundPoint, BoundRows, CollapsedBound, CollapsedGradient, OptimalDistribution};
pub use learner::Sgpr;
pub use params::{PointChoice, SgprParams};
pub use select::{GreedySelection, select};

gpbench_sdk::export_plugin! { name: "sgpr", learners: [Sgpr] }
