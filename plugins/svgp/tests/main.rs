//! Integration tests, in one program so that they are linked once.

mod bound;
mod dense;
mod learner;
mod process;
mod suite;
