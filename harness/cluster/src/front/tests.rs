//! The front beside a cluster in memory, whose clock only tests advance.

mod again;
mod bench;
mod faults;
mod files;
mod load;
mod resuming;
mod sending;
mod states;
mod world;
