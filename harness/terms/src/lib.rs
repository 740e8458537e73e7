//! The terms of the plugin interface that the SDK, the host and records share: each is defined once.
//!
//! Terms that are chosen from a list, such as [`Family`], are made by [`words!`], which gives an enum its texts and
//! its JSON form. Only `interface.rs` has the numbers that represent terms in the C interface. With the feature
//! `serde` every term has a JSON form; plugins build without it.

#![forbid(unsafe_code)]

mod capability;
mod covariance;
mod family;
mod instruction_set;
mod interface;
mod log_level;
mod measures;
mod model;
mod network;
mod parameter;
mod part;
mod reason;
mod shape;
mod solver;
mod words;

pub use capability::{Capabilities, Capability};
pub use covariance::Covariance;
pub use family::Family;
pub use instruction_set::{InstructionSet, UnknownInstructionSet};
pub use log_level::LogLevel;
pub use measures::{Arithmetic, Clock, Entries};
pub use model::ModelKind;
pub use network::{Activation, NetworkShape};
pub use parameter::{ParamKind, ParamSchema, ParamValue};
pub use part::{Part, PartKind};
pub use reason::{Reason, StopReason};
pub use shape::Shape;
pub use solver::{Facts, SolverInfo, SolverKind};
pub use words::UnknownWord;
#[cfg(feature = "serde")]
#[doc(hidden)]
pub use {serde, words::read_word};
