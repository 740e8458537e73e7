//! What of a run can be checked on this machine, and whether it agrees: the checks of `gpbench verify`.
//!
//! Files are compared with each other first (`files`). The plan is compared with what its spec means here
//! (`spec`), data and plugins with those that are here (`contents`). Then results are computed again: those that
//! follow from solutions that were kept (`solutions`), compared with rows (`agreement`, `outputs`), and whole cases
//! where they are cheap (`again`).
//! What could not be checked is said as well.

mod again;
mod agreement;
mod check;
mod contents;
mod files;
mod here;
mod outputs;
mod solutions;
mod spec;

pub(crate) use again::{Sampling, again};
pub(crate) use check::{Check, Verification};
pub(crate) use contents::{data_sets, plugins};
pub(crate) use files::{content_of_pack, damaged_plan, of_pack, of_run};
pub(crate) use here::{Here, Wanted};
pub(crate) use solutions::solutions;
pub(crate) use spec::of_spec;
