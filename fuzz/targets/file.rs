//! Imports bytes as a file.

use std::path::Path;
use std::sync::OnceLock;

use gpbench_import::{ImportSource, import};
use gpbench_record::ReadOptions;
use tempfile::TempDir;

/// Writes the bytes to a file of this name and imports it: the outcome is a table of finite numbers or an error message.
pub fn import_file(name: &str, bytes: &[u8]) {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("a temporary folder"));
    let path: &Path = &folder.path().join(name);
    std::fs::write(path, bytes).expect("a file in it");
    match import(&ImportSource::File { path, options: &ReadOptions::default() }) {
        Ok(table) => assert!(table.x.iter().chain(&table.y).all(|value| value.is_finite())),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
