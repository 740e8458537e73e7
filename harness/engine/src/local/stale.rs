//! Processes that outlive a killed engine, found by a mark in their environment.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};

/// The environment variable that marks a worker and what it forks: the path of its log.
pub(super) const MARK: &str = "GPBENCH_LOG";

/// Kills the processes that were started with one of these logs.
pub(super) fn kill_marked(logs: &[PathBuf]) {
    let logs: BTreeSet<&[u8]> = logs.iter().map(|log| log.as_os_str().as_bytes()).collect();
    let is_mark = |variable: &[u8]| {
        let log = variable.strip_prefix(MARK.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
        log.is_some_and(|log| logs.contains(log))
    };
    let is_marked = |process: &u32| {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(is_mark)
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for process in processes.filter(|process| *process != std::process::id()).filter(is_marked) {
        if let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) {
            // Fails for a process that has ended in the meantime.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}
