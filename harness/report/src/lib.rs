//! Reports on a run: tables, charts and pages, rebuilt from its journal alone.
//!
//! [`Run::open`] reads a run folder; all else is a pure function of the [`Run`], by the tables of a [`Frame`]. [`write_all`] writes
//! `results.parquet`, `traces.parquet`, `predictions.parquet`, `summary.json`, `report.md`, `index.html` and `figures/`; [`export`] gives one format
//! as a string. [`Frame::bundle`] is a report in one file, [`Frame::write_for_paper`] draws charts in a [`ChartForm`], and
//! [`Frame::publish`] keeps a report with what it is made of.
//! [`coverage()`] sets the papers' tables beside published runs, and [`claims()`] the papers' claims.
//! [`WebSite`] makes pages of many runs, with links, filters and one script.
//! [`History`] follows a metric over the runs of a spec, and [`reading_page`] documents the files. [`compare`] compares runs by
//! their means, [`beside()`] sets archived runs beside one (so does a report, [`Frame::with_archive`]), [`between()`] two solvers of one run by seeds, [`exact()`] bit by bit; [`baseline`] detects regressions, which [`step_summary`] lists on the page of a CI job.
//! Nothing here runs a case, prints, or exits.
//!
//! Numbers flow one way: rows of the journal, one frame of tables and the cases that a view shows of it (`frame`), groups with
//! a mean and a standard error over seeds (`aggregate`), the results of a task (`results`), tables (`layout`) and charts
//! (`charts`) in the order of the task's section (`tasks`), the content of a page (`page`), and a format (`export`). Names of
//! metrics, and where they are shown, are known to [`gpbench_record::metric`] alone.

#![forbid(unsafe_code)]

mod above_optimum;
mod acquisition;
mod across;
mod aggregate;
mod agreement;
mod archived;
pub mod baseline;
mod beside;
mod between;
mod bias;
mod bmf;
mod bold;
mod calibration;
mod change;
mod charts;
mod checksum;
mod claims;
mod clock;
mod comparable_times;
mod compare;
mod cost;
mod costs;
mod coverage;
mod dataset_ranking;
mod distance;
mod error;
mod escape;
mod estimates;
mod estimator;
mod exact;
mod expected;
mod export;
mod first_to_target;
mod fit;
mod frame;
mod grid;
mod history;
mod in_units;
mod layout;
mod legend;
mod notation;
mod number;
mod optimum;
mod overview;
mod page;
mod paired;
mod pairs;
mod papers;
mod performance;
mod places;
mod problem;
mod publish;
mod published;
mod published_search;
mod ratio;
mod reading;
mod reference;
mod results;
mod run;
mod runtimes;
mod search;
mod search_pool;
mod side;
mod site;
mod slug;
mod speed_up;
mod split;
mod step_summary;
mod supported;
mod systems;
mod table;
mod target;
mod tasks;
mod times;
mod worst_residual;
mod write;

pub use across::{AcrossTasks, ComparedMethod};
pub use aggregate::{Group, MeanWithError, groups};
pub use beside::{BesideArchive, beside};
pub use between::Between;
pub use bmf::bmf;
pub use charts::beside::beside_chart;
pub use charts::form::{ChartForm, PaperWidth};
pub use charts::history::history_chart;
pub use claims::{CLAIMS, ClaimsPage, claims};
pub use compare::{Compared, Comparison, OfOneRun, SideBySide, between, compare};
pub use coverage::{COVERAGE, CoveragePage, HOURS, Hours, SpecEstimate, coverage, run_without_journal};
pub use error::{Error, Result};
pub use escape::{latex as latex_words, markdown};
pub use exact::{Difference, ExactComparison, exact};
pub use export::latex::latex;
pub use export::{Format, export};
pub use fit::{Fitted, wrapped};
pub use frame::{COLUMNS, Frame};
pub use history::{History, Point};
pub use number::number;
pub use problem::GroupProblem;
pub use publish::{MOST_PUBLISHED_BYTES, published_faults};
pub use reading::{better, reading_page, tasks, tolerance};
pub use run::Run;
pub use site::{ArchivedRun, VerdictCheck, VerdictFile, Verification, WebSite, WrittenSite};
pub use step_summary::step_summary;
pub use table::{Align, Cell, Column, Importance, TextTable};
pub use write::{WriteOptions, Written, write_all};
