//! `gpbench-worker environment`: what of this machine enters a case's fingerprint.

use gpbench_gp::{blas, cpu_dispatch};
use serde::Serialize;

/// Instruction set, BLAS and threads as this program finds them.
#[derive(Debug, Clone, Serialize)]
pub struct Facts {
    /// Instruction set chosen at run time.
    pub cpu_dispatch: &'static str,
    /// Version and build options of OpenBLAS.
    pub blas: String,
    /// OpenBLAS core type.
    pub blas_core: String,
    /// Threads that the machine offers to this process.
    pub threads: usize,
}

/// Asks the machine.
pub fn facts() -> Facts {
    Facts {
        cpu_dispatch: cpu_dispatch(),
        blas: blas::config(),
        blas_core: blas::core_name(),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    }
}
