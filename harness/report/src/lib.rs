//! Reports on a run: tables, charts and pages, rebuilt from its journal alone.
//!
//! [`Run::open`] reads a run folder; all else is a pure function of the [`Run`], by the tables of a [`Frame`]. [`write_all`] writes
//! `results.parquet`, `traces.parquet`, `summary.json`, `report.md`, `index.html` and `figures/`; [`export`] gives one format
//! as a string.
//! [`History`] follows a metric over the runs of a spec, and [`reading_page`] documents the files. [`compare`] compares runs by
//! their means, [`exact()`] bit by bit; [`baseline`] detects regressions, which [`step_summary`] lists on the page of a CI job.
//! Nothing here runs a case, prints, or exits.
//!
//! Numbers flow one way: rows of the journal, one frame of tables and the cases that a view shows of it (`frame`), groups with
//! a mean and a standard error over seeds (`aggregate`), the results of a task (`results`), tables (`layout`) and charts
//! (`charts`) in the order of the task's section (`tasks`), the content of a page (`page`), and a format (`export`). Names of
//! metrics, and where they are shown, are known to [`gpbench_record::metric`] alone.

#![forbid(unsafe_code)]

mod acquisition;
mod across;
mod aggregate;
mod agreement;
pub mod baseline;
mod bias;
mod charts;
mod comparable_times;
mod compare;
mod cost;
mod coverage;
mod distance;
mod error;
mod escape;
mod estimator;
mod exact;
mod export;
mod fit;
mod frame;
mod grid;
mod history;
mod layout;
mod number;
mod overview;
mod page;
mod pairs;
mod papers;
mod places;
mod problem;
mod published;
mod published_search;
mod ranking;
mod reading;
mod reference;
mod results;
mod run;
mod search;
mod search_pool;
mod side;
mod step_summary;
mod table;
mod target;
mod tasks;
mod times;
mod worst_residual;
mod write;

pub use across::{AcrossTasks, ComparedMethod};
pub use aggregate::{Group, MeanWithError, groups};
pub use charts::history::history_chart;
pub use compare::{Compared, Comparison, SideBySide, between, compare};
pub use coverage::{COVERAGE, CoveragePage, Estimate, HOURS, Hours, coverage};
pub use error::{Error, Result};
pub use escape::markdown;
pub use exact::{Difference, ExactComparison, exact};
pub use export::{Format, export};
pub use fit::Fitted;
pub use frame::{COLUMNS, Frame};
pub use history::{History, Point};
pub use number::number;
pub use problem::GroupProblem;
pub use reading::{better, reading_page, tasks};
pub use run::Run;
pub use step_summary::step_summary;
pub use table::{Align, Cell, Column, Importance, TextTable};
pub use write::{WriteOptions, Written, write_all};
