//! Binary copies of data sets.
#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use gpbench_data::copy;
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

fuzz_target!(|bytes: &[u8]| {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("a temporary folder"));
    let path: &Path = &folder.path().join("copy");
    std::fs::write(path, bytes).expect("a file in it");
    match copy::header(path) {
        Ok(_) => drop(copy::read(path)),
        Err(error) => assert!(copy::read(path).is_err(), "{error}"),
    }
});
