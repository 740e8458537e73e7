//! Tests of this crate.

mod mutants;
