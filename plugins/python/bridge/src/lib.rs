//! Serves a Python file as a plugin.
//!
//! The host loads this library in place of a file `x.py`. Its entry function describes the file's solvers and learners
//! without running it ([`script::open`]); the first object that is made starts a child process, in which the
//! interpreter runs the file. The child's arrays lie in memory that both processes see ([`arena`]). Its requests come
//! as frames over a socket ([`mod@frame`]), and are served by calls of the host ([`serve`]). `../PROTOCOL.md` has the
//! protocol.
//!
//! Nothing that the child sends is trusted: a malformed frame ends it and fails the call. If it ends by itself, this
//! process ends in the same way, so that the fault of a script is recorded like that of a native library.

#![allow(unsafe_code)]

pub mod arena;
pub mod child;
pub mod description;
pub mod failure;
pub mod frame;
pub mod host;
pub mod interpreter;
pub mod object;
pub mod package;
pub mod process;
pub mod region;
pub mod script;
pub mod serve;
pub mod tables;

use std::path::Path;
use std::ptr::null;

use gpbench_abi::{self as abi, Plugin};

use crate::failure::Failure;
use crate::host::Host;
use crate::script::ScriptLimits;

/// The entry function of the interface, see [`gpbench_abi::ENTRY`].
///
/// # Safety
/// As the interface has it: called on the thread that loaded the library, with a host that lives until the process ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpbench_plugin_v1(host: *const abi::Host) -> *const Plugin {
    // SAFETY: promised by the host.
    let Some(host) = (unsafe { Host::new(host) }) else { return null() };
    let mut plugin = null();
    host.wall(|| {
        let script = host.extension::<abi::Script>(abi::id::SCRIPT).ok_or_else(|| {
            Failure::invalid("this library serves Python files: name such a file in its place")
        })?;
        // SAFETY: texts of the host's, which live until the process ends.
        let (file, runtime) = unsafe { (host::read(&script.file)?, host::read(&script.runtime)?) };
        let described = script::open(
            Path::new(&file),
            &runtime,
            ScriptLimits { threads: script.threads, memory: script.memory },
        )?;
        plugin = described.plugin;
        Ok(())
    });
    plugin
}
