//! What gpbench writes down: resolved cases, result rows, statuses, and the
//! messages between the engine and its worker processes.
//!
//! Every type here is plain data with a serde form, so that a journal written
//! today can be read by a later version: fields are only ever added, and each
//! file carries [`SCHEMA`]. The crate does nothing; it is the common language of
//! the crates that do.

#![forbid(unsafe_code)]

mod bench;
mod case;
mod conformance;
mod curve;
mod dataset;
mod environment;
mod family;
mod job;
mod message;
mod metrics;
mod plugin;
mod row;
mod train;

pub use bench::{Arithmetic, BenchAnswer, BenchRequest, BlockTiming, Inputs, Product, Timing};
pub use case::{
    Budget, Case, Estimator, EstimatorMethod, Frequencies, Inducing, Kernel, Labels, Param, Precision,
    ProbeDistribution, Quadrature, Solver, Task,
};
pub use conformance::{CheckStatus, CheckVerdict};
pub use curve::{Curve, Spectrum};
pub use dataset::{Dataset, Fractions, GpDraw, Source, Subsample};
pub use environment::{Environment, Fingerprint};
pub use family::{Family, UnknownFamily};
pub use job::{ExactRequest, Job, Limits};
pub use message::{Clock, Entries, ExactSummary, Failure, Message, Solved, StopReason, Verified};
pub use metrics::{Metrics, names};
pub use plugin::{LibraryInfo, ParamInfo, ParamKind, SolverInfo, SolverKind};
pub use row::{JournalEntry, Row, Status, TracePoint};
pub use train::{Grid, Hyperparameters, Landscape, Scale, Schedule, Step, Subset, Trained, Training};

/// Version of every JSON form in this crate.
pub const SCHEMA: u32 = 1;
