//! Small systems with known answers, for the tests of numerics and plugins.
//!
//! Answers come from two places. [`SmallSystem`] is a piece of real data for which independent
//! code, in extended precision, has computed what each algorithm has to give; a crate keeps the
//! answers that it tests against in its own `tests/data`, reads them with [`json`] and compares
//! them with [`assert_close`] at their stated tolerances. [`ClosedForm`] holds systems that can be
//! inverted by hand, of any size.
//!
//! Within this project it depends only on the shared numerics, so that every other crate can use it in its tests. A
//! missing value in a file causes a panic, since a test has no other way to report it.

#![forbid(unsafe_code)]

mod closed_form;
mod compare;
pub mod fixtures;
pub mod json;
mod small_system;

// ndarray's products call BLAS, so a test program of this crate alone must link it.
use gpbench_numerics as _;

pub use closed_form::ClosedForm;
pub use compare::{assert_close, assert_number, relative_error};
pub use small_system::{Setting, SmallSystem};
