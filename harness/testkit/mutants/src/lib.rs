//! Mutants: one solver and one learner that keep every rule of the conformance suite, and copies of them that break
//! one rule each, to show that every rule finds its fault.
//!
//! The library's name does not match the pattern of plugins, so the harness does not find it by itself.

#![warn(missing_docs)]

mod acts;
mod fault;
mod fit_fault;
mod learner;
mod solver;
mod tables;

use std::sync::OnceLock;

use gpbench_sdk::{abi, export};

/// The plugin's entry, written by hand, since the SDK cannot make the tables of some mutants.
///
/// # Safety
/// `host` is null or points to the host's table, which lives until the process ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpbench_plugin_v1(host: *const abi::Host) -> *const abi::Plugin {
    static PLUGIN: OnceLock<&'static abi::Plugin> = OnceLock::new();
    // SAFETY: promised by the caller.
    unsafe {
        export::enter(host, || {
            PLUGIN.get_or_init(|| {
                export::plugin("mutants", env!("CARGO_PKG_VERSION"), tables::all(), tables::learners())
            })
        })
    }
}
