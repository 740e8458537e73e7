//! Vecchia's approximation of the likelihood: each row given its nearest earlier rows, also of what inducing points
//! leave.
//!
//! See the README beside this crate for parameters, sources, formulae, cost and limits.

#![deny(unsafe_code)]

mod conditioning;
mod data;
mod fit;
mod learner;
mod likelihood;
mod order;
mod params;
mod points;
mod process;
mod rest;
mod search;
mod value;
mod vif;

pub use conditioning::Predictor;
pub use data::Data;
pub use learner::Vecchia;
pub use likelihood::log_likelihood;
pub use order::max_min;
pub use params::{Maximiser, PredictFrom, RowOrder, VecchiaParams};
pub use points::spread;
pub use process::Process;
pub use search::search;
pub use value::LogLikelihood;
pub use vif::{Explanation, explain, log_likelihood as rest_likelihood};

gpbench_sdk::export_plugin! { name: "vecchia", learners: [Vecchia] }
