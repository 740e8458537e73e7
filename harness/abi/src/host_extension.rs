//! Extensions of the host: threads, scripts, processes, and parts of a library.

use core::ffi::c_void;

use crate::{Host, Part, Status, Str};

/// The host's threads.
#[repr(C)]
#[derive(Debug)]
pub struct ParallelFor {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// Calls `body(ctx, i)` for i in 0..n, on as many threads as the problem allows, and returns
    /// when all are done. `body` makes no calls to the host. From the thread that the host called
    /// the plugin on.
    pub run: Option<
        unsafe extern "C" fn(
            host: *const Host,
            n: i64,
            body: Option<unsafe extern "C" fn(ctx: *mut c_void, i: i64)>,
            ctx: *mut c_void,
        ) -> Status,
    >,
}

/// The script that a bridge is asked to serve.
///
/// A script is a library that is no shared object, such as a source file of an interpreted language. For `x.END` the
/// host loads the shared object `libgpbench_bridge_END.so` in its place, the bridge, whose entry function reads
/// this table and describes the script's solvers and learners. Lives until the process ends.
#[repr(C)]
#[derive(Debug)]
pub struct Script {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Threads that the solvers and learners of this process may use; 1 where the library is only described.
    pub threads: u32,
    /// The script: an absolute path.
    pub file: Str,
    /// The program that runs the script, as the user named it; empty if the bridge chooses one.
    pub runtime: Str,
    /// Bytes of memory at which this process and its children are ended; 0 where there is no limit.
    pub memory: i64,
}

/// Processes that belong to a library.
#[repr(C)]
#[derive(Debug)]
pub struct Process {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// Adopts a child process of this one: from now on its processor time and its memory count as the library's own,
    /// and so do those of its children that it has waited for. Time that it used before counts too. Any thread. The library
    /// itself waits for its child. `INVALID_ARGUMENT` if `pid` is no process that this one has started.
    pub adopt: Option<unsafe extern "C" fn(host: *const Host, pid: i64) -> Status>,
}

/// Parts of a library that are found while it runs.
#[repr(C)]
#[derive(Debug)]
pub struct Parts {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// Reports a part that is in use; what it points to is copied. If it is not one of [`crate::Plugin::parts`], the
    /// result of the case is not used again by later runs, and its row names the part. Any thread.
    pub add: Option<unsafe extern "C" fn(host: *const Host, part: *const Part) -> Status>,
}
