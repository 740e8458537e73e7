//! The host's side of the plugin interface: everything that touches the C types.
//!
//! [`Library`] loads and checks a description, [`SolverObject`] calls a solver,
//! [`Session`] is what the solver calls back. Nothing that arrives from the other
//! side is trusted: pointers may be null, shapes and lengths wrong, texts no
//! UTF-8. What cannot be checked (a pointer to freed memory, say) is why a case
//! runs in a process of its own.

#![allow(unsafe_code)]

mod description;
mod extensions;
mod features;
mod host;
mod library;
mod operator;
mod problem;
mod seal;
mod session;
mod solver;
mod state;
mod views;

pub use host::HostTable;
pub use library::{Library, LibraryError};
pub use session::{Moment, Observer, Session, Terms};
pub use solver::{CallError, Ending, SolverObject};
pub use state::Kept;

pub use description::SolverEntry;
