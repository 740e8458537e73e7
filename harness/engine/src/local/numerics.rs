//! The numerics of the worker program, which alone links them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use gpbench_processes::exchange;
use gpbench_record::Program;
use serde::Deserialize;

use crate::EngineError;

/// The report of `gpbench-worker environment`.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Numerics {
    /// Instruction set chosen at run time.
    pub(super) cpu_dispatch: String,
    /// Version and build options of OpenBLAS.
    pub(super) blas: String,
    /// OpenBLAS core type.
    pub(super) blas_core: String,
    /// A core type of OpenBLAS that would be faster.
    #[serde(default)]
    pub(super) better_blas_core: Option<String>,
    /// Environment variables with which a worker need not start itself again.
    pub(super) blas_settings: BTreeMap<String, String>,
    /// The program.
    #[serde(skip)]
    pub(super) worker: Option<Program>,
}

impl Numerics {
    /// Queries a worker program.
    pub(super) fn ask(worker: &Path) -> Result<Self, EngineError> {
        let unusable = |reason: String| EngineError::Worker { path: worker.to_owned(), reason };
        let program = Program::of(worker).map_err(|error| unusable(error.to_string()))?;
        let asked = exchange(Command::new(worker).arg("environment"), &[]);
        let output = asked.map_err(|error| unusable(error.to_string()))?;
        let numerics: Self = serde_json::from_slice(&output.stdout).map_err(|error| {
            let log = String::from_utf8_lossy(&output.stderr);
            unusable(format!("`environment` failed ({}): {error}\n{log}", output.status))
        })?;
        Ok(Self { worker: Some(program), ..numerics })
    }
}
