//! A packed run, as a stranger may have made it.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

#[path = "../../harness/runs/tests/arbitrary_pack.rs"]
mod pack;

fuzz_target!(|bytes: &[u8]| {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("a temporary folder"));
    drop(pack::read(bytes, folder.path()));
});
