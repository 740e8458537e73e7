//! Benchmark specs, from text to a list of cases.
//!
//! A spec passes three stages, each a type:
//!
//! 1. [`Typed`]: what the user wrote, every value with its place in the file. `tables` declares every key, with type,
//!    range, default and documentation; [`reference()`] lists them.
//! 2. [`Checked`]: what it means. `axes` looks names up in a [`Catalog`], `tasks` decides what the spec's task has and
//!    needs, and the product of the axes is taken. A `Checked` holds no mistake.
//! 3. [`SpecPlan`]: the cases in the order in which they run.
//!
//! Mistakes of the first two stages are collected and reported together: a spec with a misspelt key and a misspelt
//! solver gets both reports at once. So [`load`] returns a [`Typed`] that may hold mistakes, and [`Typed::check`]
//! reports them beside its own. (Deriving the first stage with serde was rejected: it stops at the first mistake
//! and loses the places of values that are found wrong later.)
//!
//! Nothing is read but the spec: the caller describes libraries, looks for archived results, and reads the files of
//! data sets and a run that is replayed.

#![forbid(unsafe_code)]

mod axes;
mod catalog;
mod checked;
mod cost;
mod data_file;
mod dataset_table;
mod error;
mod exclude;
mod files;
mod keys;
mod library_override;
mod named_library;
mod nearest;
mod overrides;
mod own_files;
mod plan;
mod points;
mod product;
mod published;
mod report;
mod schema;
mod shard;
mod site;
mod source;
mod spec_case;
mod tables;
mod target;
mod task_keys;
mod tasks;
mod tree;
mod typed;
mod units;

pub use catalog::{Catalog, DatasetSize, KnownDataset, SplitCheck, TrainingRows};
pub use checked::Checked;
pub use cost::{Assumption, CaseCost, Optima, ThompsonSeconds, optimum_seconds, reference_seconds};
pub use dataset_table::dataset_table;
pub use error::{SpecError, SpecErrors};
pub use files::FileDataset;
pub use keys::{Range, SpecKey, ValueType};
pub use named_library::{NamedLibrary, UnusableLibrary};
pub use own_files::OwnFiles;
pub use plan::{SpecPlan, UnknownName};
pub use published::published_kernel;
pub use schema::{json_schema, reference_page};
pub use site::{load_site, site_reference};
pub use spec_case::SpecCase;
pub use typed::{Typed, is_standard_input, load, reference};
pub use units::{parse_memory, parse_time};
