//! Runs a plan: one process per case, and nothing lost whatever happens.
//!
//! [`Engine::run`] takes resolved cases in the order in which they shall run and
//! leaves a run folder behind, whose journal holds one terminal row a case. A
//! case goes through up to three worker processes: `exact` makes the reference
//! solution (once per data set, split and hyperparameters), `case` loads the
//! plugin and solves, `verify` computes the truth from the solution without the
//! plugin. What became of a case is decided in one place, [`judge`], from what
//! the processes reported and how they ended.
//!
//! The engine talks to workers through the [`Executor`] trait alone. The one
//! implementation here, [`LocalExecutor`], spawns processes on this machine; a
//! mock runs the schedule in tests, and a cluster would be a third.
//!
//! A row is on the disk before its case is announced, so that a run may be
//! killed at any instant: rerunning the same plan cuts off a half-written line
//! and goes on with what is missing.

#![forbid(unsafe_code)]

mod cases;
mod control_group;
mod engine;
mod environment;
mod error;
mod event;
mod exact;
mod executor;
mod folder;
mod forsaken;
mod interrupt;
mod journal;
mod local;
mod options;
mod plan;
mod resolve;
mod status;
mod stream;
mod text;
mod usage;
mod worker;

pub use engine::{Clock, Engine, SystemClock};
pub use environment::environment;
pub use error::EngineError;
pub use event::{Event, Progress, Stop, Summary};
pub use executor::{End, Executor, Outcome, Work};
pub use folder::{PlanEntry, PlanFile, RunFolder};
pub use interrupt::Interrupt;
pub use journal::{Journal, read_rows};
pub use local::LocalExecutor;
pub use options::Options;
pub use plan::{Plan, PlannedCase};
pub use resolve::{list_runs, resolve_run};
pub use status::{Evidence, Verdict, judge};
pub use worker::find_worker;
