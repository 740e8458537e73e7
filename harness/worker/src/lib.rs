//! Loads plugins and runs one case: the library of `gpbench-worker`.
//!
//! A worker is a process that does one thing and ends, so that whatever a plugin
//! does to it ends with it. A case goes down through these modules:
//!
//! - [`tasks`] has a module for each task, with its `run` and its `verify`;
//! - `setup` loads the case's [`rows`] and builds its linear systems ([`system`], and [`collapse`] where inputs
//!   repeat); `runner` loads the library and runs its solver ([`gpbench_host`]) within limits of epochs, time and
//!   memory;
//! - [`evaluate`] has the metrics of solutions, [`trace`] sends them along a solve, [`solution`] carries the last one to
//!   the process that verifies it, and [`mod@posterior_curve`] predicts along the input where there is one only.
//!
//! Beside cases:
//!
//! - [`exact`] computes the exact reference that solutions are compared with;
//! - [`conform`] checks a library's solvers by the conformance suite;
//! - [`mod@bench`] times products with the kernel operator;
//! - [`describe`] tells what libraries offer, [`environment`] what the machine is.
//!
//! Answers leave on a [`channel`] of their own as JSON lines.
//!
//! Code that is not safe Rust is in [`process`] and [`channel`], where the system calls are.

#![deny(unsafe_code)]
// They panic where the log is full; `log::line` does not.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod array_file;
pub mod bench;
mod blas_memory;
pub mod channel;
pub mod collapse;
pub mod conform;
pub mod describe;
pub mod environment;
mod estimate;
pub mod evaluate;
pub mod exact;
pub mod exact_curve;
pub mod exact_file;
mod failure;
pub mod kernel;
mod library;
pub mod log;
mod model_file;
pub mod posterior_curve;
pub mod process;
mod rounding;
pub mod rows;
mod runner;
pub mod services;
mod setup;
pub mod solution;
mod subprocess;
pub mod system;
pub mod tasks;
pub mod trace;

pub use array_file::FileError;
