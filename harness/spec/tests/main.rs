//! Integration tests, in one program so that they are linked once.

mod bound;
mod common;
mod costs;
mod datasets;
mod fields;
mod held_out;
mod kinds;
mod learn;
mod library;
mod mistakes;
mod mutilated;
mod optimum;
mod plan;
mod reference;
mod rules;
mod schema;
mod sizes;
mod starts;
mod thompson;
mod training;
