//! Integration tests, in one program so that they are linked once.

// First: its macro `solver!` is used by the others.
#[macro_use]
mod common;

mod adapter;
mod bound;
mod collapse;
mod divergence;
mod faults;
mod inducing;
mod learn;
mod learner_in_c;
mod likelihood;
mod optimum;
mod predictions;
mod reported;
mod resume;
mod starts;
mod thompson;
mod train;
mod worker;
