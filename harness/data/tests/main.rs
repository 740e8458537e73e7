//! Integration tests, in one program so that they are linked once.

mod copy;
mod fetch;
mod groups;
mod server;
mod split;
mod toys;
