//! Reports on a run: tables, charts and pages, rebuilt from its journal alone.
//!
//! [`Run::open`] reads a run folder; everything else is a pure function of the
//! [`Run`]: [`write_all`] fills the folder with `results.parquet`,
//! `traces.parquet`, `summary.json`, `report.md`, `index.html` and `figures/`;
//! [`json`], [`csv`], [`markdown`] and [`text`] give the same results in one
//! string; [`compare`] sets runs side by side; [`baseline`] tells whether a run
//! regressed, and [`step_summary`] says so on the page of a CI job. Nothing here runs a case, prints, or exits.
//!
//! Numbers flow one way: rows of the journal, a data frame with one row a case
//! (`frame`), groups with a mean and a standard error over seeds
//! (`aggregate`), tables of formatted cells (`tables`), and at last a page
//! (`markdown`, `html`). Charts (`charts`) start from the rows, since they need
//! the traces.

#![forbid(unsafe_code)]

mod aggregate;
pub mod baseline;
mod bibliography;
mod charts;
mod compare;
mod distance;
mod error;
mod export;
mod frame;
mod html;
mod likelihood;
mod markdown;
mod metric;
mod reference;
mod run;
mod step_summary;
mod table;
mod tables;
mod training;
mod write;

pub use aggregate::{Estimate, Group, Problem, groups};
pub use compare::{Compared, Comparison, between, compare};
pub use error::{Error, Result};
pub use export::{csv, json, markdown, summary, text};
pub use run::Run;
pub use step_summary::step_summary;
pub use table::{Align, Cell, Column, Table};
pub use write::{Options, Written, write_all};
