//! Packed runs that were unpacked to be read.

use std::fs;
use std::path::{Path, PathBuf};

use gpbench_files::open_regular;
use gpbench_record::sha256_hex;

use super::read::{read_manifest, unpack};
use crate::RunError;
use crate::error::Context as _;
use crate::layout::{UNPACKED, is_run};

/// Digits of the SHA-256 of a packed run that name its folder.
const DIGITS: usize = 16;

/// The packed runs that were unpacked to be read, each once: `<output folder>/.unpacked/<SHA-256>/<name>/<id>`.
#[derive(Debug, Clone)]
pub struct UnpackedRuns {
    folder: PathBuf,
}

impl UnpackedRuns {
    /// Those of an output folder.
    pub fn of(output_dir: &Path) -> Self {
        Self { folder: output_dir.join(UNPACKED) }
    }

    /// Their folder, which can be removed as a whole.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The run folder of a packed run, which is unpacked unless it was before.
///
/// # Errors
/// Those of [`unpack`].
pub(crate) fn open_packed(output_dir: &Path, file: &Path) -> Result<PathBuf, RunError> {
    let manifest = read_manifest(file)?;
    let digest = open_regular(file).and_then(sha256_hex).context("read", file)?;
    let above = UnpackedRuns::of(output_dir).folder.join(&digest[..DIGITS]).join(&manifest.name);
    let folder = above.join(&manifest.run);
    if is_run(&folder) {
        return Ok(folder);
    }
    fs::create_dir_all(&above).context("create", &above)?;
    match unpack(file, &folder) {
        // Another process has unpacked it meanwhile.
        Err(_) if is_run(&folder) => Ok(folder),
        unpacked => unpacked.map(|_| folder),
    }
}
