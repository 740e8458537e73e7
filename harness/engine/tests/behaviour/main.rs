//! What the engine does, seen from outside.

// A test that cannot unwrap has failed.
#![allow(clippy::unwrap_used)]

mod faults;
mod processes;
mod schedule;
mod support;
mod training;
