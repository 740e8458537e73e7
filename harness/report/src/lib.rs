//! Reports on a run: tables, charts and pages, rebuilt from its journal alone.
//!
//! [`Run::open`] reads a run folder; all else is a pure function of the [`Run`]. [`write_all`] fills the folder with
//! `results.parquet`, `traces.parquet`, `summary.json`, `report.md`, `index.html` and `figures/`; [`export`] gives one
//! form as a string. [`History`] follows a metric over the runs of a spec, [`reading_page`] describes the files. [`compare`] compares runs, [`across_tasks`] learners with solvers, [`exact`] bit by bit; [`baseline`] tells whether a run regressed, and
//! [`step_summary`] writes that for the page of a CI job. Nothing here runs a case, prints, or exits.
//!
//! Numbers flow one way: rows of the journal, a data frame with a row for each case (`frame`), groups with a mean and a
//! standard error over seeds (`aggregate`), the results of a task (`results`), tables (`layout`) and charts (`charts`)
//! as the task's section arranges them (`tasks`), the content of a page (`page`), and a form of it (`export`). What a
//! metric is called and where it is shown is known to [`gpbench_record::metric`] alone.

#![forbid(unsafe_code)]

mod acquisition;
mod across;
mod aggregate;
mod agreement;
pub mod baseline;
mod bias;
mod charts;
mod compare;
mod cost;
mod coverage;
mod distance;
mod doubt;
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
mod published;
mod published_search;
mod ranking;
mod reading;
mod reference;
mod results;
mod run;
mod search;
mod search_pool;
mod step_summary;
mod table;
mod target;
mod tasks;
mod times;
mod untimed;
mod write;

pub use across::{AcrossTasks, Method, across_tasks};
pub use aggregate::{Group, MeanWithError, Problem, groups};
pub use charts::history::history_chart;
pub use compare::{Compared, Comparison, between, compare};
pub use coverage::{COVERAGE, CoveragePage, Estimate, HOURS, Hours, coverage};
pub use error::{Error, Result};
pub use escape::markdown;
pub use exact::{Difference, ExactComparison, exact};
pub use export::{Format, export, for_terminal};
pub use fit::Fitted;
pub use frame::COLUMNS;
pub use history::{History, Point};
pub use number::number;
pub use reading::{better, reading_page, tasks};
pub use run::Run;
pub use step_summary::step_summary;
pub use table::{Align, Cell, Column, Importance, Table};
pub use write::{Options, Written, write_all};
