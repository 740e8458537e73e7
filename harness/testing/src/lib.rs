//! Tests of plugins in memory: a solver runs on a dense matrix, or a learner on training data, in the host that runs
//! cases.
//!
//! With it, tests of a plugin need no data and no loaded library. [`DenseProblem`] is a system to be solved, and
//! [`FitHost`] has the data of a fit. There is no clock, so time limits are never reached. [`rules`] are those that
//! every solver and learner must keep; [`solver_rules!`] and [`learner_rules!`] make a test of each.

#![deny(unsafe_code)]

pub mod behaviour;
mod dense_model;
mod dense_problem;
#[allow(unsafe_code)]
mod entry;
mod fit_host;
mod fit_log;
mod fit_run;
mod fixtures;
mod matern32;
pub mod rules;
mod services;
mod settings;
mod solve;

pub use dense_model::DenseModel;
pub use dense_problem::{DenseProblem, SharedObjects, relative_residuals};
pub use entry::{learner_entry, solver_entry};
pub use fit_host::FitHost;
pub use fit_run::{FitReport, FitRun, SavedFit, Used};
pub use fixtures::{scattered, scattered_inputs, scattered_right_hand_sides};
pub use gpbench_host::{CallError, LearnerEntry, SolverEntry, VolatileObjects};
pub use matern32::matern32;
pub use settings::Settings;
pub use solve::Outcome;
