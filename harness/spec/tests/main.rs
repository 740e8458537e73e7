//! Integration tests, in one program so that they are linked once.

mod common;
mod fields;
mod learn;
mod library;
mod mistakes;
mod mutilated;
mod plan;
mod reference;
mod schema;
mod sizes;
mod thompson;
