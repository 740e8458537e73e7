//! Integration tests, in one program so that they are linked once.

mod arena;
mod ends;
mod frames;
mod learners;
mod python;
mod requests;
mod rules;
mod scripts;
mod solves;
