//! Where the worker program is.

use std::path::{Path, PathBuf};

use crate::EngineError;
use crate::error::Context as _;

/// File name of the worker program.
const WORKER: &str = "gpbench-worker";

/// The worker program: `explicit`, or else the one beside the running executable.
///
/// # Errors
/// When there is no such file.
pub fn find_worker(explicit: Option<&Path>) -> Result<PathBuf, EngineError> {
    let path = match explicit {
        Some(path) => path.to_owned(),
        None => {
            let this = std::env::current_exe().context("find", Path::new("the running executable"))?;
            this.with_file_name(WORKER)
        }
    };
    if path.is_file() { Ok(path) } else { Err(EngineError::WorkerNotFound { path }) }
}
