//! Data that gpbench stores and sends: resolved cases, result rows, statuses, metrics, and the messages between
//! the engine and its worker processes.
//!
//! Every type is plain data with a serde form. Types that plugins share are defined in `gpbench-terms` and
//! re-exported here. Files contain [`SCHEMA`]; `gpbench-runs` upgrades files of earlier schemas when it reads them.

#![forbid(unsafe_code)]

mod bench;
mod calibration;
mod case;
mod cluster;
mod conformance;
mod counted;
mod curve;
mod dataset;
mod dataset_notes;
mod environment;
mod estimator;
mod file_units;
mod hash;
mod inducing;
mod job;
mod json;
mod kernel;
mod message;
pub mod metric;
mod metrics;
mod optimum;
pub mod path;
mod place;
mod plan;
mod planned_case;
mod plugin;
mod predictions;
mod program;
mod read_options;
mod row;
mod search_path;
mod shard;
mod site;
mod solution_output;
mod solver;
mod split_rule;
mod split_sizes;
mod status;
mod target;
mod task;
pub mod testing;
pub mod text;

pub use bench::{
    Acquire, AcquireTiming, BenchAnswer, BenchInputs, BenchRequest, BlockTiming, Bound, DenseTiming,
    LearnerStep, PartTiming, Product, StepTiming, TilePart, TileTiming, Timing, WorkTiming,
};
pub use calibration::{CalibrationShares, RowShares};
pub use case::{Budget, Case, Labels};
pub use cluster::{
    Attempt, CaseFiles, ClusterTask, Ending, Manifest, NoAttempt, NodeOptions, PartLine, STATUS_INTERRUPTED,
    STATUS_UNFIT,
};
pub use conformance::{RuleResult, RuleStatus};
pub use counted::counted;
pub use curve::{Curve, SpectralBasis};
pub use dataset::{
    Dataset, Fractions, GpDraw, InputScaling, Objective, ObjectiveDraw, Source, Subsample, TargetScaling,
};
pub use dataset_notes::DatasetNotes;
pub use environment::{Environment, Fingerprint, PartRecord, disturbance, revisions};
pub use estimator::{
    FeatureEstimator, Frequencies, GradientEstimator, InducingBound, LikelihoodEstimator, PathwiseTargets,
    PointSelection, PriorSource, ProbeDistribution, Probes, Quadrature, StandardProbes, Start,
};
pub use file_units::{ColumnScale, FileUnits};
pub use gpbench_terms::{
    Activation, Arithmetic, Capability, Clock, Covariance, Entries, Facts, Family, InstructionSet, ModelKind,
    NetworkShape, ParamKind, ParamSchema, ParamValue, Part, PartKind, SolverInfo, SolverKind, StopReason,
    UnknownInstructionSet,
};
pub use hash::{sha256, sha256_hex};
pub use inducing::Inducing;
pub use job::{ExactRequest, Job, Limits, PluginParts};
pub use json::Json;
pub use kernel::{DataStart, Hyperparameters, Kernel, Origin, OriginBase, Scale};
pub use message::{ExactSummary, Failure, Fault, FaultCause, Message, Solved, Verified};
pub use metric::names;
pub use metrics::Metrics;
pub use optimum::{Optimum, OptimumRequest};
pub use place::NodePlace;
pub use plan::{Axes, NamedArchive, ReportOptions};
pub use planned_case::PlannedCase;
pub use plugin::{AbsentLibrary, ComposedLibrary, Composition, LibraryInfo};
pub use predictions::Predictions;
pub use program::{Program, ProgramError, Stamp};
pub use read_options::{Missing, ReadOptions, TimeUnit};
pub use row::{JournalEntry, MOST_TRACE_POINTS, Row, TracePoint};
pub use search_path::{finds_by_own_folder, names_own_folder};
pub use shard::{PartOfPlan, Shard, case_digest, plan_digest};
pub use site::{Intervals, NodeSettings, ResourceSettings, Site, TaskSettings, TaskUnit};
pub use solution_output::SolutionOutput;
pub use solver::{GridPoint, Solver, matches, selects};
pub use split_rule::SplitRule;
pub use split_sizes::SplitSizes;
pub use status::{CaseStatus, WITHIN};
pub use target::{Margin, Target, TargetBound, TargetReference};
pub use task::*;

/// Version of every JSON form in this crate.
pub const SCHEMA: u32 = 2;
