//! The plan of a run, with its checksum as it comes, or made anew so that the plan behind it is read.
#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use gpbench_files::checksum;
use gpbench_runs::PlanFile;
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

fuzz_target!(|bytes: &[u8]| {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder: &Path = FOLDER.get_or_init(|| tempfile::tempdir().expect("a temporary folder")).path();
    let text = if bytes.starts_with(b"{") { checksum::seal(bytes) } else { bytes.to_vec() };
    std::fs::write(folder.join("plan.json"), text).expect("a file in it");
    match PlanFile::read(folder) {
        Ok(plan) => assert!(plan.ids().count() == plan.cases.len()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
