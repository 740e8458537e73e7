//! The host's side of the plugin interface: everything that touches the C types.
//!
//! [`Library`] loads and checks a description, [`SolverObject`] calls a solver,
//! [`Session`] has the state of the callbacks, and `extension` lists the optional ones.
//! Nothing that a plugin passes is trusted: pointers may be null, shapes and lengths wrong, texts not
//! UTF-8. What cannot be checked (a pointer to freed memory, say) is a reason why a case
//! runs in a process of its own.

#![allow(unsafe_code)]

mod account;
mod arrays;
mod batches;
mod description;
mod entrance;
mod error;
mod extension;
mod fit;
mod fit_data;
mod fit_session;
mod host_services;
mod host_table;
mod learner;
mod library;
mod object;
mod observer;
mod operator;
mod outcome;
mod problem;
mod seal;
mod session;
mod settings;
mod solver;
mod store;
mod views;

pub use account::SolveLimits;
pub use arrays::Arrays;
pub(crate) use arrays::MOST_BYTES;
pub use description::{LearnerEntry, SolverEntry};
pub use error::CallError;
pub use extension::{Kept, SolverState};
pub use fit_data::{FitNetwork, FitProblem};
pub use fit_session::{FitLimits, FitObserver, FitPoint, FitProgress, FitSession, Pause};
pub use host_table::HostTable;
pub use learner::{FitEnd, FitOutcome, LearnerObject};
pub use library::{Library, LibraryError};
pub use observer::{IterationInfo, Observer};
pub use outcome::SolveOutcome;
pub use session::Session;
pub use solver::SolverObject;
