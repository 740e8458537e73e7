//! Integration tests, in one program so that they are linked once.

mod errors;
mod formats;
mod held_out;
mod identity;
mod import;
mod mangled;
mod pandas;
mod reading;
