//! The numerics of the worker program, which alone links them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::EngineError;

/// What `gpbench-worker environment` reports.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Numerics {
    /// Instruction set chosen at run time.
    pub(super) cpu_dispatch: String,
    /// Version and build options of OpenBLAS.
    pub(super) blas: String,
    /// OpenBLAS core type.
    pub(super) blas_core: String,
    /// Environment variables with which a worker need not start itself again.
    pub(super) blas_settings: BTreeMap<String, String>,
    /// SHA-256 of the program.
    #[serde(skip)]
    pub(super) worker_sha256: String,
}

impl Numerics {
    /// Asks a worker program.
    pub(super) fn ask(worker: &Path) -> Result<Self, EngineError> {
        let unusable = |reason: String| EngineError::Worker { path: worker.to_owned(), reason };
        let program = fs::read(worker).map_err(|error| unusable(error.to_string()))?;
        let asked = Command::new(worker).arg("environment").stdin(Stdio::null()).output();
        let output = asked.map_err(|error| unusable(error.to_string()))?;
        let numerics: Self = serde_json::from_slice(&output.stdout).map_err(|error| {
            let log = String::from_utf8_lossy(&output.stderr);
            unusable(format!("`environment` failed ({}): {error}\n{log}", output.status))
        })?;
        let worker_sha256 = Sha256::digest(program).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { worker_sha256, ..numerics })
    }
}
