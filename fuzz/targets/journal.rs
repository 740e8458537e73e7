//! The journal of a run folder, with checksums as they come, or made anew so that the rows behind them are read.
#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use gpbench_files::checksum;
use gpbench_runs::{Journal, RunRecord, read_journal};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// Adds a checksum to each line that can have one.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let lines = bytes.split(|&byte| byte == b'\n');
    let sealed = lines.map(|line| if line.starts_with(b"{") { checksum::seal(line) } else { line.to_vec() });
    sealed.collect::<Vec<_>>().join(&b'\n')
}

fuzz_target!(|bytes: &[u8]| {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder: &Path = FOLDER.get_or_init(|| tempfile::tempdir().expect("a temporary folder")).path();
    let text = match bytes.split_first() {
        Some((0, rest)) => sealed(rest),
        _ => bytes.to_vec(),
    };
    std::fs::write(folder.join("journal.jsonl"), &text).expect("a file in it");
    let read = read_journal(folder).expect("any bytes can be read");
    let lines = text.iter().filter(|&&byte| byte == b'\n').count();
    assert!(read.rows.len() + read.damaged.len() <= lines);
    let record = RunRecord::open(folder).expect("any journal can be opened");
    assert_eq!((record.rows.len(), record.damaged.len()), (read.rows.len(), read.damaged.len()));
    // Opening it to go on removes an incomplete line and nothing else.
    let (_, damaged) = Journal::open(folder).expect("any journal can be continued");
    assert_eq!(damaged, read.damaged);
});
