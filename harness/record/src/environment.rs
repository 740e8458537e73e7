//! The machine and the binaries that a result depends on.

use serde::{Deserialize, Serialize};

/// What, besides the case itself, can change a case's result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// SHA-256 of the plugin's library.
    pub plugin_sha256: String,
    /// SHA-256 of the data set's binary copy; absent for generated sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset_sha256: Option<String>,
    /// SHA-256 of the worker program.
    pub worker_sha256: String,
    /// Threads a case may use.
    pub threads: usize,
    /// Instruction set chosen at run time, such as `avx512`.
    pub cpu_dispatch: String,
    /// OpenBLAS core type, such as `SkylakeX`.
    pub blas_core: String,
}

/// Where a run took place: written once per run folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of gpbench.
    pub gpbench: String,
    /// Operating system and kernel release.
    pub os: String,
    /// Processor model.
    pub cpu: String,
    /// Logical processors available to the process.
    pub cores: usize,
    /// Bytes of physical memory.
    pub memory_bytes: u64,
    /// Instruction set chosen at run time.
    pub cpu_dispatch: String,
    /// Version and build options of OpenBLAS.
    pub blas: String,
    /// OpenBLAS core type.
    pub blas_core: String,
    /// Threads a case may use.
    pub threads: usize,
}
