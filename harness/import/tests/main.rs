//! Integration tests, in one program so that they are linked once.

mod errors;
mod formats;
mod identity;
mod import;
mod mangled;
mod pandas;
