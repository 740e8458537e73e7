//! A plugin that misbehaves on request, for tests that the harness survives it.
//!
//! One solver, `hostile`, and one learner, `hostile-learner`; their parameter `act` chooses what they do. The
//! library's name does not match the pattern of plugins, so the harness does not find it by itself: a spec names it
//! by `library`. `c/` has faults that only C can have, and faults of a library as a whole.

#![warn(missing_docs)]

mod act;
mod acts;
mod descriptors;
mod files;
mod forks;
mod honest;
mod learner;
mod limits;
mod memory;
mod signals;
mod solver;
mod text;

use std::sync::OnceLock;

use gpbench_sdk::{abi, export};

pub use act::Act;
pub use learner::{HostileLearner, LearnerAct};
pub use solver::Hostile;

/// The plugin's entry.
///
/// Written by hand instead of `export_plugin!`, for reports that the SDK's types cannot express.
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
                export::plugin("hostile", env!("CARGO_PKG_VERSION"), vec![table], vec![learner::table()])
            })
        })
    }
}
