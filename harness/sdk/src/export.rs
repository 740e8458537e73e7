//! The tables of the interface, made from a [`Solver`](crate::Solver) or [`Learner`](crate::Learner). No panic crosses
//! the interface.
//!
//! Authors of plugins use [`export_plugin!`](crate::export_plugin) alone.

mod learner;
mod object;
mod solver;

use gpbench_abi as abi;

use object::{catch, sound};

pub use learner::learner;
pub use solver::solver;

/// Exports solvers and learners as a plugin: the entry function with its tables.
///
/// It is called once, in `lib.rs` of a crate of type `cdylib`. Either list may be left out.
///
/// ```ignore
/// gpbench_sdk::export_plugin! { name: "my-methods", solvers: [Mine, Yours], learners: [Ours] }
/// ```
#[macro_export]
macro_rules! export_plugin {
    (
        name: $name:expr
        $(, solvers: [$($solver:ty),* $(,)?])?
        $(, learners: [$($learner:ty),* $(,)?])?
        $(,)?
    ) => {
        /// The plugin's entry, called once by the host after loading.
        ///
        /// # Safety
        /// `host` is null or points to the host's table, which lives until the process ends.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn gpbench_plugin_v1(
            host: *const $crate::abi::Host,
        ) -> *const $crate::abi::Plugin {
            static PLUGIN: ::std::sync::OnceLock<&'static $crate::abi::Plugin> = ::std::sync::OnceLock::new();
            // SAFETY: promised by the caller.
            unsafe {
                $crate::export::enter(host, || {
                    *PLUGIN.get_or_init(|| {
                        $crate::export::plugin(
                            $name,
                            ::std::env!("CARGO_PKG_VERSION"),
                            ::std::vec![$($($crate::export::solver::<$solver>()),*)?],
                            ::std::vec![$($($crate::export::learner::<$learner>()),*)?],
                        )
                    })
                })
            }
        }
    };
}

/// Runs the entry function, catching panics; null if it fails.
///
/// # Safety
/// `host` is null or points to the host's table, which lives until the process ends.
pub unsafe fn enter(
    host: *const abi::Host,
    describe: impl FnOnce() -> &'static abi::Plugin,
) -> *const abi::Plugin {
    // SAFETY: promised by the caller.
    let Ok(host) = (unsafe { sound(host) }) else { return std::ptr::null() };
    let mut plugin = std::ptr::null();
    catch(host, || {
        plugin = describe();
        Ok(())
    });
    plugin
}

/// Describes a plugin. Leaks the description, which lives until the process ends.
pub fn plugin(
    name: &'static str,
    version: &'static str,
    solvers: Vec<abi::Solver>,
    learners: Vec<abi::Learner>,
) -> &'static abi::Plugin {
    let (solvers, learners) = (solvers.leak(), learners.leak());
    Box::leak(Box::new(abi::Plugin {
        size: size_of::<abi::Plugin>() as u32,
        minor: abi::MINOR,
        name: abi::Str::new(name),
        version: abi::Str::new(version),
        solvers: if solvers.is_empty() { std::ptr::null() } else { solvers.as_ptr() },
        n_solvers: solvers.len() as i64,
        solver_stride: size_of::<abi::Solver>() as i64,
        learners: if learners.is_empty() { std::ptr::null() } else { learners.as_ptr() },
        n_learners: learners.len() as i64,
        learner_stride: size_of::<abi::Learner>() as i64,
        parts: std::ptr::null(),
        n_parts: 0,
        part_stride: size_of::<abi::Part>() as i64,
    }))
}
