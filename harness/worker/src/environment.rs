//! `gpbench-worker environment`: facts of this machine that are part of a case's fingerprint.

use std::collections::BTreeMap;

use gpbench_gp::{blas, cpu_dispatch};
use serde::Serialize;

/// Instruction set, BLAS and threads, as detected by this program.
#[derive(Debug, Clone, Serialize)]
pub struct Facts {
    /// Instruction set chosen at run time.
    pub cpu_dispatch: &'static str,
    /// Version and build options of OpenBLAS.
    pub blas: String,
    /// OpenBLAS core type.
    pub blas_core: String,
    /// A core type that would be faster on this machine: where the user's environment chooses another, or OpenBLAS
    /// has no choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better_blas_core: Option<&'static str>,
    /// Environment variables that make OpenBLAS faster on this machine. A worker that is started with them does not
    /// need to restart itself.
    pub blas_settings: BTreeMap<&'static str, String>,
    /// Threads that the machine offers to this process.
    pub threads: usize,
}

/// The facts of this machine.
pub fn facts() -> Facts {
    Facts {
        cpu_dispatch: cpu_dispatch(),
        blas: blas::config(),
        blas_core: blas::core_name(),
        better_blas_core: blas::better_core_type(),
        blas_settings: blas_settings(),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    }
}

/// The settings of OpenBLAS in the environment of this process.
fn blas_settings() -> BTreeMap<&'static str, String> {
    let set = |name| Some((name, std::env::var(name).ok()?));
    blas::ENVIRONMENT.into_iter().filter_map(set).collect()
}
