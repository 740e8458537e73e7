//! A product of exact Gaussian processes on disjoint subsets of the rows.
//!
//! See the README beside this crate for parameters, source, formulae, cost and limits.

#![forbid(unsafe_code)]

mod expert;
mod learner;
mod params;
mod product;

pub use expert::ExactExpert;
pub use learner::Poe;
pub use params::{Combination, PoeParams};
pub use product::ExpertProduct;

gpbench_sdk::export_plugin! { name: "poe", learners: [Poe] }
