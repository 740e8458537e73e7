//! Files of this checkout, for tests that read them.

use std::path::{Path, PathBuf};

/// What lies in a folder.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("a folder entry").path()).collect()
}

/// The Rust files in a folder and below, except what cargo builds there.
pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) =
        entries(folder).into_iter().partition(|path| path.is_dir());
    let below =
        folders.iter().filter(|folder| !folder.ends_with("target")).flat_map(|folder| rust_files(folder));
    below.chain(files.into_iter().filter(|file| file.extension().is_some_and(|e| e == "rs"))).collect()
}
