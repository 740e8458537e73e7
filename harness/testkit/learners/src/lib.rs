//! Small learners that keep every rule, for tests of the harness.
//!
//! The library's name does not match the pattern of plugins, so the harness does not find it by itself.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod kernel;
mod random_weights;
mod scale_descent;

pub use random_weights::{RandomWeights, RandomWeightsParams};
pub use scale_descent::{ScaleDescent, ScaleDescentParams};

gpbench_sdk::export_plugin! { name: "learners", learners: [ScaleDescent, RandomWeights] }
