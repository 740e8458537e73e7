//! Stochastic dual descent: momentum on random rows, and an average of the iterates.
//!
//! See the README beside this crate for parameters, source, cost and limits.

#![forbid(unsafe_code)]

mod averaging;
mod descent;
mod params;
mod rates;
mod solver;

pub use averaging::Horizon;
pub use descent::{DescentStart, DualDescent, StepRule};
pub use params::{GradientPoint, SddParams};
pub use solver::Sdd;

gpbench_sdk::export_plugin! { name: "sdd", solvers: [Sdd] }
