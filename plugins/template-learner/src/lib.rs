//! The learner `minibatch-gp`.
//!
//! See the README beside this crate for parameters, source, cost and limits.

// `deny`, not `forbid`: ndarray's macro `s!` has to allow it in its own expansion.
#![deny(unsafe_code)]

mod learner;
mod params;
mod process;

pub use learner::MinibatchGp;
pub use params::MinibatchGpParams;

gpbench_sdk::export_plugin! { name: "minibatch-gp", learners: [MinibatchGp] }
