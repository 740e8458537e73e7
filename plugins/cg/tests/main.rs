//! Integration tests, in one program so that they are linked once.

mod behaviour;
mod nystrom;
mod oracle;
mod rank;
mod recycle;
mod suite;
