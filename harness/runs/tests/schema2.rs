//! A run folder of schema 2 from before checksums: read as ever, and continued with them.

use std::fs;
use std::path::Path;

use gpbench_record::{CaseStatus, names};
use gpbench_runs::{Journal, PlanFile, RunRecord};

use crate::row;

#[test]
fn a_run_without_checksums_is_read_and_continued_with_them() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/schema2/posterior");
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(fixture).unwrap() {
        let path = entry.unwrap().path();
        assert!(!fs::read_to_string(&path).unwrap().contains("\"check\""), "{}", path.display());
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    let record = RunRecord::open(folder.path()).unwrap();
    assert_eq!((record.rows.len(), record.missing.len(), record.environments.len()), (2, 0, 1));
    assert_eq!(record.warnings(), [""; 0]);
    assert!(record.rows.iter().all(|row| row.metrics.get(names::RESIDUAL_Y).is_some()));
    let plan = PlanFile::read(folder.path()).unwrap();
    assert_eq!(plan.ids().count(), 2);

    let (mut journal, damaged) = Journal::open(folder.path()).unwrap();
    assert!(damaged.is_empty());
    journal.append(&row("a", CaseStatus::Ok)).unwrap();
    let path = folder.path().join("journal.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let checked: Vec<bool> = text.lines().map(|line| line.starts_with("{\"check\":\"")).collect();
    assert_eq!(checked, [false, false, true]);
    // A line without a checksum is no longer accepted.
    fs::write(&path, format!("{text}{}\n", text.lines().next().unwrap())).unwrap();
    let record = RunRecord::open(folder.path()).unwrap();
    assert_eq!((record.rows.len(), record.damaged.len(), record.damaged[0].line), (3, 1, 4));
    assert_eq!(record.damaged[0].reason, "it has no checksum");
}
