//! A flipped bit of a kept file is found, or changes nothing that is read.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use gpbench_record::{CaseStatus, Environment};
use gpbench_runs::{Journal, JournalContents, PlanFile, RunError, RunFolder, RunRecord, read_journal};

use crate::record::{create, plan};
use crate::row;

/// Calls `look` with bits of a file flipped in turn, one in every byte, and puts the file back.
fn flip_each_byte(path: &Path, mut look: impl FnMut(usize)) {
    let good = fs::read(path).unwrap();
    let file = OpenOptions::new().write(true).open(path).unwrap();
    for (place, byte) in good.into_iter().enumerate() {
        let bit = 5 * place % 8;
        file.write_all_at(&[byte ^ (1 << bit)], place as u64).unwrap();
        look(8 * place + bit);
        file.write_all_at(&[byte], place as u64).unwrap();
    }
}

#[test]
fn a_flip_in_the_journal_loses_at_most_its_own_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(folder.path()).unwrap().0;
    let rows = [row("a", CaseStatus::Ok), row("b", CaseStatus::Crashed), row("c", CaseStatus::Ok)];
    for row in &rows {
        journal.append(row).unwrap();
    }
    let path = folder.path().join("journal.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let ends: Vec<usize> = text.match_indices('\n').map(|(end, _)| end).collect();
    flip_each_byte(&path, |bit| {
        let JournalContents { rows: read, damaged, truncated, .. } = read_journal(folder.path()).unwrap();
        assert!(read.iter().all(|row| rows.contains(row)), "bit {bit}: a changed row");
        // A flipped end of a line joins two lines.
        let lost = if ends[..2].contains(&(bit / 8)) { 2 } else { 1 };
        assert!(read.len() + lost >= rows.len(), "bit {bit}");
        assert!(
            read.len() == rows.len() || !damaged.is_empty() || truncated,
            "bit {bit}: a row lost in silence"
        );
        let line = 1 + ends.iter().filter(|&&end| end < bit / 8).count();
        assert!(damaged.first().is_none_or(|damaged| damaged.line == line), "bit {bit}: {damaged:?}");
    });
}

#[test]
fn a_flip_in_the_plan_is_found() {
    let output = tempfile::tempdir().unwrap();
    let plan = plan(&["a"]);
    let folder = create(output.path(), &plan);
    flip_each_byte(&folder.path().join("plan.json"), |bit| match PlanFile::read(folder.path()) {
        Ok(read) => assert_eq!(read, plan, "bit {bit}"),
        Err(error) => assert!(matches!(error, RunError::Damaged { .. }), "bit {bit}: {error}"),
    });
}

#[test]
fn a_flip_in_an_environment_is_found_and_the_file_stays() {
    let output = tempfile::tempdir().unwrap();
    let folder = create(output.path(), &plan(&["a"]));
    Journal::open(folder.path()).unwrap();
    let path = folder.path().join("environment.json");
    flip_each_byte(&path, |bit| {
        let record = RunRecord::open(folder.path()).unwrap();
        match record.environments.first() {
            Some(read) => assert_eq!(*read, Environment::default(), "bit {bit}"),
            None => assert_eq!(record.unreadable_environments.len(), 1, "bit {bit}"),
        }
    });
    let bad = fs::read_to_string(&path).unwrap().replacen('0', "1", 1);
    fs::write(&path, &bad).unwrap();
    let compared = folder.add_environment(&Environment::default()).unwrap();
    let [warning] = &compared.warnings[..] else { panic!("{compared:?}") };
    assert!(warning.contains("environment.json is damaged (its checksum is wrong); "), "{warning}");
    assert_eq!(fs::read_to_string(&path).unwrap(), bad);
    let record = RunRecord::open(folder.path()).unwrap();
    assert_eq!((record.environments.len(), record.warnings()), (1, compared.warnings));
}

#[test]
fn a_folder_with_a_damaged_plan_is_found_by_its_rows() {
    let output = tempfile::tempdir().unwrap();
    let plan = plan(&["a", "b"]);
    let folder = create(output.path(), &plan);
    Journal::open(folder.path()).unwrap().0.append(&row("a", CaseStatus::Ok)).unwrap();
    let path = folder.path().join("plan.json");
    let bad = fs::read_to_string(&path).unwrap().replacen("\"n\": 30", "\"n\": 31", 1);
    fs::write(&path, bad).unwrap();
    assert!(matches!(PlanFile::read(folder.path()), Err(RunError::Damaged { .. })));
    let found = RunFolder::find(output.path(), "toy", &["b", "a"]).unwrap();
    assert_eq!(found, folder);
    let record = RunRecord::open(folder.path()).unwrap();
    assert_eq!((record.rows.len(), record.warnings().len()), (1, 1));
    assert!(record.warnings()[0].contains("plan.json is damaged (its checksum is wrong); "));

    // Other cases, or a row of another case: the folder is named and not continued.
    let [error] = &RunFolder::find(output.path(), "toy", &["a"]).unwrap_err()[..] else {
        panic!("one error")
    };
    assert!(matches!(error, RunError::Damaged { .. }), "{error}");
    Journal::open(folder.path()).unwrap().0.append(&row("c", CaseStatus::Ok)).unwrap();
    assert_eq!(RunFolder::find(output.path(), "toy", &["b", "a"]).unwrap_err().len(), 1);

    found.write_plan(&plan, "").unwrap();
    assert_eq!(PlanFile::read(folder.path()).unwrap(), plan);
}
