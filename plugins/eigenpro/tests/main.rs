//! Integration tests, in one program so that they are linked once.

mod behaviour;
mod given;
mod identities;
mod oracle;
mod sizes;
mod suite;
