//! Loads plugins and runs one case: the library of `gpbench-worker`.
//!
//! A worker is a process that does one piece of work and ends, so that any damage that a plugin
//! does to the process ends with it. A case passes through these modules:
//!
//! - [`tasks`] has a module for each task, with its `run` and its `verify`;
//! - `setup` loads the case's [`rows`] and builds its linear systems ([`system`], and [`collapse`] where inputs
//!   repeat); `runner` loads the library and runs its solver ([`gpbench_host`]) within limits of epochs, time and
//!   memory;
//! - [`evaluate`] has the metrics of solutions, [`trace`] sends them along a solve, [`solution`] carries the last one to
//!   the process that verifies it, and [`mod@posterior_curve`] predicts along the input where there is one only.
//!
//! Other work than cases:
//!
//! - [`exact`] computes the exact reference that solutions are compared with, and [`optimum`] the optimum of the
//!   likelihood that training is compared with;
//! - [`conform`] checks a library's solvers by the conformance suite;
//! - [`mod@bench`] times products with the kernel operator;
//! - [`describe`] lists the solvers and learners of libraries, and [`environment`] the properties of the machine.
//!
//! Answers are sent as JSON lines on a separate [`channel`].
//!
//! Unsafe Rust is limited to the system calls of [`process`] and [`channel`].

#![deny(unsafe_code)]
// These macros panic where the log cannot be written; `log::line` does not.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod array_file;
mod beginning;
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
pub mod optimum;
pub mod posterior_curve;
pub mod process;
mod rounding;
pub mod rows;
mod runner;
pub mod services;
mod setup;
pub mod solution;
mod starts;
mod subprocess;
pub mod system;
pub mod tasks;
pub mod trace;

pub use array_file::FileError;
