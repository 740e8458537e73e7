//! Runs on a cluster: tasks that are sent, and rows that come back.

pub(crate) mod launch;
mod numerics;
mod poll;
mod programs;
mod rows;
mod run;
mod settle;
mod status;

pub(crate) use self::poll::poll;
pub(crate) use self::run::{ClusterRun, Until};
pub(crate) use self::settle::settle;

use std::ffi::OsStr;
use std::path::Path;

use gpbench_cluster::ClusterError;

use crate::exit::Failure;
use crate::output::shell_command;

/// The failure of the program for an error of a cluster run.
fn failure(error: ClusterError) -> Failure {
    match error {
        ClusterError::Scheduler(_) | ClusterError::BadRequest(_) | ClusterError::Unquotable { .. } => {
            Failure::usage(error)
        }
        ClusterError::Io { .. } | ClusterError::Damaged { .. } | ClusterError::Journal(_) => {
            Failure::internal(error)
        }
    }
}

/// A command for a run folder, which the user can paste.
pub(crate) fn command(verb: &str, folder: &Path) -> String {
    shell_command([OsStr::new("gpbench"), OsStr::new(verb), folder.as_os_str()].into_iter())
}
