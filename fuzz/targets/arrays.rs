//! Array files of the worker, solutions and exact references, with a checksum made for the fuzzer's bytes.
#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use gpbench_files::{Durability, replace_sealed};
use gpbench_worker::{exact_file, solution};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// Sizes that the files are read for.
const SIZES: [usize; 2] = [3, 2];

fuzz_target!(|bytes: &[u8]| {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("a temporary folder"));
    let path: &Path = &folder.path().join("arrays");
    let [rows, columns] = SIZES;
    replace_sealed(path, Durability::ThisRun, |file| file.write_all(bytes)).expect("a file in it");
    if let Ok(solution) = solution::read(path, rows, columns) {
        assert_eq!(solution.dim(), (rows, columns));
    }
    if let Ok(reference) = exact_file::read(path, rows, columns) {
        assert_eq!((reference.v.len(), reference.mean.len()), (rows, columns));
    }
    std::fs::write(path, bytes).expect("a file in it");
    assert!(solution::read(path, rows, columns).is_err(), "no bytes have their own checksum");
});
