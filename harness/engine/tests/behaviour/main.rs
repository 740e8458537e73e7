//! What the engine does, seen from outside.

// A test that cannot unwrap has failed.
#![allow(clippy::unwrap_used)]

mod memory;
mod processes;
mod schedule;
mod script;
mod support;
mod training;
