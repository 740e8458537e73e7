//! Integration tests, in one program so that they are linked once.

mod baseline;
mod compare;
mod coverage;
mod foreign_text;
mod learning;
mod mangled;
mod places;
mod report;
mod thompson;
