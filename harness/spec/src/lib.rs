//! A benchmark spec on its way from text to a list of cases.
//!
//! A spec passes three stations, each a module and a type:
//!
//! 1. [`Typed`]: what the user wrote, every value with its place in the file.
//!    Reading it knows nothing of data sets, plugins or published numbers.
//! 2. [`Checked`]: what it means. Names are resolved against a [`Catalog`],
//!    defaults filled in, the product of the axes taken. A `Checked` cannot be wrong.
//! 3. [`Plan`]: the cases in the order in which they run.
//!
//! Mistakes are collected rather than returned at the first one, and across the
//! first two stations together: a spec with a misspelt key and a misspelt solver
//! gets both told in one go. That is why [`load`] hands out a [`Typed`] that may
//! hold mistakes, and [`Typed::check`] reports them beside its own. (Deriving the
//! first station with serde was the road not taken: it stops at the first mistake
//! and loses the places of values that are only found wrong later.)

#![forbid(unsafe_code)]

mod added;
mod catalog;
mod checked;
mod error;
mod nearest;
mod overrides;
mod plan;
mod published;
mod source;
mod tree;
mod typed;
mod units;

pub use catalog::{Catalog, KnownDataset};
pub use checked::Checked;
pub use error::{SpecError, SpecErrors};
pub use plan::{Estimate, Plan, PlannedCase, ReportOptions, UnknownName};
pub use published::published_kernel;
pub use typed::{Typed, load};
pub use units::{parse_memory, parse_time};

/// Version of the spec format that this crate reads: the value of a spec's `schema` key.
pub const SCHEMA: i64 = 1;

/// Collections of published figures that a spec's `report.reference` may name.
pub const REFERENCES: &[&str] = &["lin2023", "lin2024", "rtgps2021"];
