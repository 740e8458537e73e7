//! One file for each verb, with its arguments.

pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod claims;
pub(crate) mod clean;
pub(crate) mod cluster;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod coverage;
pub(crate) mod data;
pub(crate) mod doctor;
pub(crate) mod history;
pub(crate) mod list;
pub(crate) mod manual;
pub(crate) mod merge;
pub(crate) mod pack;
pub(crate) mod plan;
pub(crate) mod plugin;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod site;
pub(crate) mod verify;
