//! Processes that outlive their worker or their engine, found by a mark in their environment.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

use super::usage::marked;

/// The environment variable that marks a worker and what it forks: the path of its log.
pub(super) const MARK: &str = "GPBENCH_LOG";

/// Kills the processes that were started with a log whose path begins with `log`.
pub(super) fn kill_marked(log: &Path) {
    for process in marked(MARK, log.as_os_str()) {
        if let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) {
            // Fails for a process that has ended in the meantime.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}
