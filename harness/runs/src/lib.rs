//! The run folder: its one reader and its one writer.
//!
//! ```text
//! <output folder>/<spec's name>/latest -> <UTC time>-<short id>/
//!     plan.json              the cases, the axes and the report options as resolved
//!     spec.toml              the spec as typed: for people, never read again
//!     environment.json       where the run began; environment-2.json and so on: where it continued
//!     journal.jsonl          one line a case that ended
//!     attempts.jsonl         which cases were started, and which of them did not end
//!     logs/<id>.log          what the worker of a case printed
//!     checkpoints/<id>.safetensors  where a training case continues after an interruption
//!     solutions/<id>.safetensors  solutions of some cases, kept for others to verify
//!     scratch/<process>/<id>.solution  the solution of a running case
//!     programs/<process>/<sha256>/...  the worker and the plugin libraries of a running attempt
//!     results.parquet, results.csv, predictions.parquet, summary.json, report.md, index.html, figures/, ...
//!                            reports, which gpbench-report makes from the above
//! ```
//!
//! [`RunFolder`] and [`Journal`] write a run, [`ReportFolder`] its report, [`RunRecord`] reads one, [`resolve_run`] finds one. A row is on the
//! disk before its case is announced, so that a run may be killed at any instant.
//!
//! Plan, environments and each line of the journal begin with a checksum, which readers compare; files of earlier
//! versions have none. All readers follow one rule. A complete line of the journal that cannot be read, or whose checksum
//! is wrong, is skipped and named by one warning, and its case counts as not run. A last line without its end was cut short by a killed process:
//! readers ignore it and [`Journal::open`] removes it. Where a case was run again, its newest row counts. Lines are read one by
//! one, each up to a stated number of bytes and of values; a longer one counts as one that cannot be read.
//!
//! [`merge()`] unites the rows of several runs, such as shards of one plan, in a run folder of their own. Rows of data or
//! plugins with different contents stand under different names there.
//!
//! [`FinishedStore`] keeps finished cases beside the run folders, in `<output folder>/.finished`, so that other runs can take
//! their rows.
//!
//! [`pack()`] makes one file of a run, and [`unpack`] a run of such a file; [`resolve_run`] takes it for a run.
//!
//! The folder may lie on a file system that several hosts share. One process has the journal open. Others may run
//! cases of it meanwhile: what only running cases need lies in folders named by the [tag](gpbench_files::process_tag)
//! of their process, which another process removes only when that one has ended.
//!
//! A damaged plan is written anew by a run of the same cases; reports do without it. A damaged environment is named
//! and stays. Folders of schema 1 are upgraded as they are read.

#![forbid(unsafe_code)]

mod attempts;
mod audit;
mod before;
mod contents;
mod environments;
mod error;
mod folder;
mod journal;
mod layout;
mod limits;
mod lookup;
mod merge;
mod neutral;
mod object;
mod pack;
mod plan;
mod record;
mod report_folder;
mod solutions;
mod store;
mod upgrade;
mod workspace;
mod writer;

pub use attempts::Attempts;
pub use audit::RunAudit;
pub use before::EarlierPlugins;
pub use contents::{NameKind, OtherContent, short_sha256};
pub use environments::{ComparedEnvironment, environments};
pub use error::RunError;
pub use folder::RunFolder;
pub use journal::{DamagedRow, JournalContents, read_journal};
pub use layout::PACK_FORMAT;
pub use lookup::{list_runs, newest_run, resolve_run, shards_of};
pub use merge::{Merged, merge};
pub use neutral::{NeutralNames, ReplacedName};
pub use pack::{
    PackFault, PackManifest, PackedEntry, UnpackedRuns, is_packed, pack, packed_entries, read_manifest,
    unpack,
};
pub use plan::{MergedRun, PlanFile};
pub use record::RunRecord;
pub use report_folder::ReportFolder;
pub use solutions::{copy_solutions, kept_solutions};
pub use store::{FinishedCase, FinishedStore};
pub use workspace::Workspace;
pub use writer::Journal;
