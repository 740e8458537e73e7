//! Runs a plan: each case in processes of its own, each result on the disk before the next.
//!
//! [`Engine::run`] takes resolved cases in the order in which they are to run and leaves a run folder, whose
//! journal holds one row a case. A case takes up to three worker processes: `exact` makes the reference solution
//! (once per data set, split and hyperparameters), `case` loads the plugin and solves, `verify` computes true
//! residuals and predictions from the solution without the plugin. [`classify`] decides the status of a case from
//! what the processes reported and how they ended. What differs between tasks, a task states itself
//! ([`gpbench_record::TaskRules`]).
//!
//! The engine knows workers and their machine only through the [`Executor`] trait. [`LocalExecutor`] starts
//! processes on this machine; tests have a mock; one that submits to a cluster would be a third.
//!
//! Rows of finished cases are kept beside the run folders; a run with the same case takes its row ([`Reuse`]).
//!
//! A run may be killed at any instant: running the same plan again continues it with the cases that have no row.
//! Where the machine or a file is at fault, a case has no row: it is tried once more, the others go on, and
//! [`RunSummary::without_rows`] names it.

#![forbid(unsafe_code)]

mod attempt;
mod begun;
mod case;
mod clock;
mod distance;
mod engine;
mod error;
mod event;
mod exact;
mod executor;
mod interrupt;
mod judge;
mod load;
mod local;
mod log;
mod memory;
mod open;
mod options;
mod plan;
mod programs;
mod recompute;
mod reference_kind;
mod refusal;
mod reuse;
mod room;
mod row;
mod rows;
mod single;
mod solutions;
mod standstill;
mod status;
mod text;
mod tries;
mod work;

pub use clock::{SystemClock, WallClock};
pub use engine::Engine;
pub use error::EngineError;
pub use event::{Beginning, CaseWithoutRow, Event, Reused, RunProgress, RunSummary, Stop};
pub use executor::{End, Executor, Outcome, WorkItem};
pub use interrupt::Interrupt;
pub use judge::Verdict;
pub use load::ProcessorTimes;
pub use local::{Foreground, LocalExecutor, allocation, installed_memory, physical_memory};
pub use log::Log;
pub use open::OpenRun;
pub use options::{Reuse, RunOptions};
pub use plan::{Plan, Planned};
pub use recompute::Recomputed;
pub use reference_kind::ReferenceKind;
pub use reuse::FinishedCases;
pub use row::row_without_runner;
pub use rows::RowSink;
pub use single::SingleCase;
pub use solutions::kept_sample;
pub use status::{Evidence, classify};
pub use tries::RenewDataset;
pub use work::Workload;
