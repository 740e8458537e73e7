//! Integration tests, in one program so that they are linked once.

mod behaviour;
mod objective;
mod speed;
mod suite;
mod uniform;
