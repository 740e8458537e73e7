//! Integration tests, in one program so that they are linked once.

mod errors;
mod import;
mod mangled;
