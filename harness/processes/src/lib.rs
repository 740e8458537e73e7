//! Starts processes that run foreign code, finds all of their descendants, and ends them.
//!
//! A process whose parent ends gets a new parent: the nearest of its ancestors that adopts orphans, or else the first
//! process of the system. A program that calls [`adopt_orphans`] therefore stays an ancestor of all of its
//! descendants, independently of their sessions, process groups and environments. [`descendants`] finds them by the
//! tree of children, without a control group or a mark.
//!
//! A child that this program did not start itself is an orphan. [`end_orphans`] ends all orphans and no other
//! children. It knows the other children only if they were started by [`spawn`].

#![forbid(unsafe_code)]

mod exchange;
mod started;
mod stat;
mod tree;

pub use exchange::{exchange, exchange_within};
pub use started::{Started, adopt_orphans, end_all, end_orphans, spawn};
pub use stat::Stat;
pub use tree::descendants;
