//! Questions to `gpbench-worker`, which alone opens plugins and links the numerics.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gpbench_record::LibraryInfo;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::exit::Failure;

/// The worker program, beside this one.
#[derive(Debug, Clone)]
pub(crate) struct Worker {
    /// Its file.
    pub(crate) file: PathBuf,
}

/// What the worker says of its numerics.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Numerics {
    /// Instruction set chosen at run time.
    pub(crate) cpu_dispatch: String,
    /// Version and build options of OpenBLAS.
    pub(crate) blas: String,
    /// OpenBLAS core type.
    pub(crate) blas_core: String,
}

/// A library, or why it cannot be used.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Described {
    /// A usable plugin.
    Library(LibraryInfo),
    /// A file that is not one.
    Unusable {
        /// The file.
        file: PathBuf,
        /// Why it cannot be used.
        error: String,
    },
}

impl Worker {
    /// Finds the worker beside this program.
    pub(crate) fn locate() -> Result<Worker, Failure> {
        let here = std::env::current_exe().map_err(|e| Failure::internal(format!("where am I? {e}")))?;
        let file = here.with_file_name(format!("gpbench-worker{}", std::env::consts::EXE_SUFFIX));
        if file.is_file() {
            return Ok(Worker { file });
        }
        Err(Failure::internal(format!(
            "{} is missing; build the whole workspace with `cargo build --release`",
            file.display()
        )))
    }

    /// The plugins at `files`, or all that are found if `files` is empty.
    pub(crate) fn describe(&self, files: &[PathBuf]) -> Result<Vec<Described>, Failure> {
        let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        self.ask("describe", &files)
    }

    /// The worker's numerics.
    pub(crate) fn numerics(&self) -> Result<Numerics, Failure> {
        self.ask("environment", &[])
    }

    fn ask<T: DeserializeOwned>(&self, verb: &str, files: &[&Path]) -> Result<T, Failure> {
        let output = Command::new(&self.file)
            .arg(verb)
            .args(files)
            .stdin(Stdio::null())
            .output()
            .map_err(|e| Failure::internal(format!("{} cannot be started: {e}", self.file.display())))?;
        serde_json::from_slice(&output.stdout).map_err(|e| {
            let log = String::from_utf8_lossy(&output.stderr);
            Failure::internal(format!("`gpbench-worker {verb}` failed ({}): {e}\n{log}", output.status))
        })
    }
}
