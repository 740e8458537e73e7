//! Questions to `gpbench-worker`, which alone opens plugins and links the numerics.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gpbench_record::{BenchAnswer, BenchRequest, CheckVerdict, LibraryInfo};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::args::PluginTest;
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
    /// Environment variables that spare a worker starting itself anew.
    pub(crate) blas_settings: BTreeMap<String, String>,
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

    /// Tries the solvers of a library by the conformance suite, and hands each verdict to `tell` as it
    /// comes. What the solvers log goes to standard error if `log_wanted`.
    pub(crate) fn conform(
        &self,
        args: &PluginTest,
        log_wanted: bool,
        tell: &mut dyn FnMut(CheckVerdict),
    ) -> Result<(), Failure> {
        let mut command = Command::new(&self.file);
        command.arg("conform").arg(&args.file).args(["--limit", &args.limit.to_string()]);
        if let Some(solver) = &args.solver {
            command.args(["--solver", solver]);
        }
        let log = if log_wanted { Stdio::inherit() } else { Stdio::null() };
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(|e| Failure::internal(format!("{} cannot be started: {e}", self.file.display())))?;
        let stdout = child.stdout.take().expect("standard output is piped");
        let failed = |what: String| Failure::internal(format!("`gpbench-worker conform` failed: {what}"));
        for line in BufReader::new(stdout).lines() {
            let line = line.map_err(|e| failed(e.to_string()))?;
            tell(serde_json::from_str(&line).map_err(|e| failed(e.to_string()))?);
        }
        let status = child.wait().map_err(|e| failed(e.to_string()))?;
        if status.success() { Ok(()) } else { Err(failed(status.to_string())) }
    }

    /// The worker's numerics.
    pub(crate) fn numerics(&self) -> Result<Numerics, Failure> {
        self.ask("environment", &[])
    }

    /// Times kernel products.
    pub(crate) fn bench(&self, request: &BenchRequest) -> Result<BenchAnswer, Failure> {
        let job = serde_json::to_vec(request).expect("plain data serialises");
        self.ask_about("bench", &[], &job)
    }

    fn ask<T: DeserializeOwned>(&self, verb: &str, files: &[&Path]) -> Result<T, Failure> {
        self.ask_about(verb, files, &[])
    }

    /// Starts the worker, hands it `job` on its standard input, and reads its one answer.
    fn ask_about<T: DeserializeOwned>(&self, verb: &str, files: &[&Path], job: &[u8]) -> Result<T, Failure> {
        let mut command = Command::new(&self.file);
        command.arg(verb).args(files).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let answered = command.spawn().and_then(|mut child| {
            // A worker that ended without reading says why in its answer.
            let _ = child.stdin.take().expect("standard input is piped").write_all(job);
            child.wait_with_output()
        });
        let output = answered
            .map_err(|e| Failure::internal(format!("{} cannot be started: {e}", self.file.display())))?;
        serde_json::from_slice(&output.stdout).map_err(|e| {
            let log = String::from_utf8_lossy(&output.stderr);
            Failure::internal(format!("`gpbench-worker {verb}` failed ({}): {e}\n{log}", output.status))
        })
    }
}
