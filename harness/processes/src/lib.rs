//! Starts processes that run code of others, finds all that they have started, and ends them.
//!
//! A process whose parent ends gets a new parent: the nearest of its ancestors that adopts orphans, or else the first
//! process of the system. A program that calls [`adopt_orphans`] thus stays an ancestor of all that it starts, and of all
//! that those start, whatever sessions, process groups or environments they choose. Neither a control group nor a mark
//! is needed to find them: [`descendants`] walks the tree of children.
//!
//! A child that this program did not start itself is an orphan. [`end_orphans`] ends those and leaves the others alone,
//! so every process that may live meanwhile has to be started by [`spawn`].

#![forbid(unsafe_code)]

mod started;
mod stat;
mod tree;

pub use started::{Started, adopt_orphans, end_all, end_orphans, spawn};
pub use stat::Stat;
pub use tree::descendants;
