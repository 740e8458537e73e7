//! Integration tests, in one program so that they are linked once.

// First: its macro `solver!` is used by the others.
#[macro_use]
mod common;

mod adapter;
mod collapse;
mod descriptions;
mod earlier_interfaces;
mod inducing;
mod learn;
mod learner_in_c;
mod learner_tables;
mod likelihood;
mod malformed;
mod thompson;
mod train;
mod worker;
