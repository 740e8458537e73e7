//! The command that starts a worker.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use super::stale::MARK;
use crate::WorkItem;

/// How glibc allocates a worker's memory, unless the user has set it: in huge pages, and without returning freed memory to
/// the system. Otherwise a solver's vectors cost a page fault for every 4 KiB in each iteration.
const ALLOCATION: (&str, &str) = (
    "GLIBC_TUNABLES",
    "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=2147483648",
);

/// The same for a worker of one thread: that thread's memory is the process's own too. glibc gives other threads heaps of
/// 64 MiB, which it returns whenever they are empty: 18 % of the time of `sgd-rff` with 10 000 rows and 201 columns.
const OF_ONE_THREAD: &str = ":glibc.malloc.arena_max=1";

/// The command for a work item: the words of `program`, then the worker's sub-command, with these variables.
pub(super) fn command(
    program: impl Iterator<Item = OsString>,
    variables: &BTreeMap<String, String>,
    item: &WorkItem,
    log: &Path,
    log_file: File,
) -> Command {
    let mut command = of_worker(program, variables, item);
    command.arg(item.verb()).env(MARK, log).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log_file);
    command
}

/// The words of `program` with the environment of a worker: these variables, and those of its numerics.
pub(super) fn of_worker(
    mut program: impl Iterator<Item = OsString>,
    variables: &BTreeMap<String, String>,
    item: &WorkItem,
) -> Command {
    let mut command = Command::new(program.next().expect("a program has at least one word"));
    command
        .args(program)
        .env("LC_ALL", "C")
        // The worker raises OpenBLAS's threads for dense work; idle ones must not spin.
        .env("OPENBLAS_NUM_THREADS", "1")
        .env("OPENBLAS_THREAD_TIMEOUT", "4")
        .env("OMP_NUM_THREADS", "1")
        .env("RAYON_NUM_THREADS", item.threads().to_string())
        .envs(allocation(item.threads()))
        .envs(variables);
    command
}

/// The variable that tells glibc how to allocate the memory of a worker of so many threads, and its value; `None` where
/// the user has set it.
pub fn allocation(threads: usize) -> Option<(&'static str, String)> {
    let value = ALLOCATION.1.to_owned() + if threads == 1 { OF_ONE_THREAD } else { "" };
    std::env::var_os(ALLOCATION.0).is_none().then_some((ALLOCATION.0, value))
}
