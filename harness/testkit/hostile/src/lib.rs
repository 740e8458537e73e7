//! A plugin that misbehaves on request, so that the harness can be shown to survive it.
//!
//! One solver, `hostile`; its parameter `act` chooses what it does. The library's name does not match
//! the pattern of plugins, so it is never found by itself: a spec names it by `library`. What only C can do,
//! or what a library does without being asked, is in `c/`.

#![warn(missing_docs)]

mod acts;
mod descriptors;
mod forks;
mod honest;
mod solver;

use std::sync::OnceLock;

use gpbench_sdk::{abi, export};

pub use solver::Hostile;

/// The plugin's entry.
///
/// Written by hand, where a decent plugin has `export_plugin!`, to tell lies in reports that the
/// SDK's types have no words for.
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
                let mut table = export::solver::<Hostile>();
                table.solve = Some(solver::solve_and_lie);
                export::plugin("hostile", env!("CARGO_PKG_VERSION"), vec![table])
            })
        })
    }
}
