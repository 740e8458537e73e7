//! The host's side of the plugin interface: all code that handles the C types of a called plugin.
//!
//! - [`Library`] has the checked description of a plugin: [`SolverEntry`], [`LearnerEntry`]. With the feature `load` it
//!   is opened from a file;
//! - [`SolverObject`] calls a solver on a [`LinearSystem`]; a [`Session`] serves the callbacks within
//!   [`SolveLimits`] and reports to an [`Observer`];
//! - [`LearnerObject`] calls a learner on a [`FitProblem`], in the same way with a [`FitSession`], [`FitLimits`] and a
//!   [`FitObserver`];
//! - `extension` lists the optional parts of the interface;
//! - [`HostTable`] is the table that a plugin receives, made of the [`Services`] of this process;
//! - [`DenseSystem`] is a system of a stored matrix, for tests.
//!
//! Nothing that a plugin passes is trusted: pointers may be null, shapes and lengths wrong, texts not
//! UTF-8. What cannot be checked (a pointer to freed memory, say) is a reason why a case
//! runs in a process of its own.

mod account;
mod allowance;
mod arrays;
mod batches;
#[cfg(feature = "load")]
mod bridge;
mod callback;
mod clock;
mod cost;
mod dense_features;
mod dense_system;
mod description;
mod error;
mod extension;
mod fit;
mod fit_data;
mod fit_session;
mod host_services;
mod host_table;
mod iterate_product;
mod learner;
mod library;
#[cfg(feature = "load")]
mod load;
mod object;
mod observer;
mod operator;
mod outcome;
mod problem;
mod seal;
mod services;
mod session;
mod settings;
mod solver;
mod store;
mod system;
mod views;

pub use account::SolveLimits;
pub use allowance::Allowance;
pub use arrays::{Arrays, MOST_BYTES};
#[cfg(feature = "load")]
pub use bridge::{Opening, bridge, is_script};
pub use clock::difference;
pub use cost::{FitCost, SolveCost};
pub use dense_features::DenseFeatures;
pub use dense_system::{DenseInputs, DenseSystem};
pub use description::{LearnerEntry, SolverEntry};
pub use error::CallError;
pub use extension::{SolverState, VolatileObjects};
pub use fit_data::FitProblem;
pub use fit_session::{FitLimits, FitObserver, FitPoint, FitProgress, FitSession, Pause};
pub use host_table::HostTable;
pub use iterate_product::IterateProduct;
pub use learner::{FitEnd, FitOutcome, LearnerObject};
pub use library::{Library, LibraryError};
pub use observer::{IterationInfo, Observer};
pub use outcome::SolveOutcome;
pub use services::Services;
pub use session::Session;
pub use solver::SolverObject;
pub use system::{FeatureProducts, LinearSystem, SystemInputs, shape_of};
