//! Runs on a cluster: what is sent there, and what comes back.

pub(crate) mod launch;
mod numerics;
mod programs;
mod rows;
mod run;
mod status;

pub(crate) use self::run::{ClusterRun, Until};

use gpbench_cluster::ClusterError;

use crate::exit::Failure;

/// What an error of a cluster run ends the program with.
fn failure(error: ClusterError) -> Failure {
    match error {
        ClusterError::Scheduler(_) | ClusterError::BadAsk(_) | ClusterError::Unquotable { .. } => {
            Failure::usage(error)
        }
        ClusterError::Io { .. } | ClusterError::Damaged { .. } | ClusterError::Journal(_) => {
            Failure::internal(error)
        }
    }
}
