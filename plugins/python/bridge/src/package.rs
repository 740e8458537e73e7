//! Where the package `gpbench_harness` and this library lie.

use std::ffi::{CStr, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::description::Part;

/// Name of the package.
const NAME: &str = "gpbench_harness";

/// A file that only the whole package has.
const WORKER: &str = "gpbench_harness/_worker.py";

/// This shared library; none where that is not known.
pub fn library() -> Option<PathBuf> {
    // SAFETY: numbers and pointers, of which zero and null are values.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    let here: fn() -> Option<PathBuf> = library;
    // SAFETY: an address inside this library, and a place to write to.
    let found = unsafe { libc::dladdr(here as *const libc::c_void, &mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a terminated text of the loader's, which lives as long as the library.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    fs::canonicalize(OsStr::from_bytes(name.to_bytes())).ok()
}

/// The folder that has the package: beside the library in an archive, around it in a wheel, or where the library was
/// built.
///
/// # Errors
/// The folders that were looked into, as a sentence.
pub fn folder(library: Option<&Path>) -> Result<PathBuf, String> {
    let near = library.and_then(Path::parent);
    let near = near.into_iter().flat_map(|folder| {
        ["python", "../lib/gpbench/python", "../.."].map(|relative| folder.join(relative))
    });
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders: Vec<PathBuf> = near.chain([source]).collect();
    if let Some(folder) = folders.iter().find(|folder| folder.join(WORKER).is_file()) {
        return fs::canonicalize(folder).map_err(|error| format!("{}: {error}", folder.display()));
    }
    let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    Err(format!(
        "the Python package {NAME}, a part of gpbench, was not found in {}. Install gpbench again",
        folders.join(", ")
    ))
}

/// This library as a part of every script. The description has the files of the package.
pub fn part(library: &Path) -> Result<Part, String> {
    let bytes = fs::read(library).map_err(|error| format!("{}: {error}", library.display()))?;
    let sha256 = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let name = library.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (kind, path) = ("FILE".to_owned(), library.to_string_lossy().into_owned());
    Ok(Part { kind, name, version: String::new(), path, sha256 })
}
