//! Rows survive however the process ended.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;

use gpbench_files::checksum::seal;
use gpbench_record::{Row, Status};
use gpbench_runs::{Journal, RunError, read_journal};

use crate::row;

#[test]
fn rows_are_read_back_and_the_newer_one_counts() {
    let folder = tempfile::tempdir().unwrap();
    let (mut journal, damaged) = Journal::open(folder.path()).unwrap();
    assert!(damaged.is_empty());
    for (id, status) in [("a", Status::Crashed), ("b", Status::Ok), ("a", Status::Ok)] {
        journal.append(&row(id, status)).unwrap();
    }
    assert_eq!(journal.status("a"), Some(Status::Ok));
    assert_eq!(journal.count(["a", "b", "c"])[&Status::Ok], 2);
    let rows = read_journal(folder.path()).unwrap().rows;
    assert_eq!(rows, [row("a", Status::Ok), row("b", Status::Ok)]);
}

#[test]
fn a_journal_cut_anywhere_keeps_its_whole_lines_and_continues() {
    let folder = tempfile::tempdir().unwrap();
    let (mut journal, _) = Journal::open(folder.path()).unwrap();
    journal.append(&row("a", Status::Ok)).unwrap();
    journal.append(&row("b", Status::Ok)).unwrap();
    drop(journal);
    let path = folder.path().join("journal.jsonl");
    let whole = fs::read(&path).unwrap();
    let first = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    // The last cut leaves a row that lacks nothing but its end.
    for cut in [0, 1, first - 1, first, first + 1, whole.len() - 1] {
        fs::write(&path, &whole[..cut]).unwrap();
        let read = read_journal(folder.path()).unwrap();
        assert_eq!((read.rows.len(), read.truncated), (usize::from(cut >= first), cut != 0 && cut != first));
        let (mut journal, damaged) = Journal::open(folder.path()).unwrap();
        assert!(damaged.is_empty(), "cut at {cut}");
        assert_eq!(journal.status("a").is_some(), cut >= first, "cut at {cut}");
        assert_eq!(journal.status("b"), None, "cut at {cut}");
        journal.append(&row("c", Status::Ok)).unwrap();
        let read = read_journal(folder.path()).unwrap();
        let ids: Vec<&str> = read.rows.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids, if cut >= first { vec!["a", "c"] } else { vec!["c"] }, "cut at {cut}");
        assert!(!read.truncated);
    }
}

#[test]
fn damaged_and_unknown_lines_are_skipped_and_the_damaged_named() {
    let folder = tempfile::tempdir().unwrap();
    let (mut journal, _) = Journal::open(folder.path()).unwrap();
    journal.append(&row("a", Status::Ok)).unwrap();
    let mut file = OpenOptions::new().append(true).open(folder.path().join("journal.jsonl")).unwrap();
    let [unknown, partial] =
        ["{\"kind\":\"step\",\"loss\":1}", "{\"kind\":\"case\"}"].map(|text| seal(text.as_bytes()));
    file.write_all(&[b"\0\0\0\n", &unknown[..], &partial].join(&b'\n')).unwrap();
    file.write_all(b"\n").unwrap();
    journal.append(&row("b", Status::Ok)).unwrap();
    drop(journal);
    let (journal, damaged) = Journal::open(folder.path()).unwrap();
    assert_eq!((journal.status("a"), journal.status("b")), (Some(Status::Ok), Some(Status::Ok)));
    assert_eq!(read_journal(folder.path()).unwrap().damaged, damaged);
    let named: Vec<String> = damaged.iter().map(|line| line.warning(false)).collect();
    assert_eq!(
        named,
        [
            "journal.jsonl line 2 cannot be read (it has no checksum); its case runs again",
            "journal.jsonl line 5 cannot be read (missing field `id`); its case runs again",
        ]
    );
    let complete = damaged[0].warning(true);
    assert!(complete.ends_with("; every case has another row"), "{complete}");
}

#[test]
fn only_one_process_may_write() {
    let folder = tempfile::tempdir().unwrap();
    let first = Journal::open(folder.path()).unwrap();
    assert!(matches!(Journal::open(folder.path()), Err(RunError::Busy { .. })));
    drop(first);
    assert!(Journal::open(folder.path()).is_ok());
}

#[test]
fn numbers_are_read_back_bit_by_bit() {
    let folder = tempfile::tempdir().unwrap();
    let mut state = 1_u64;
    let mut number = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        f64::from_bits(state ^ (state >> 29))
    };
    let values: BTreeMap<String, f64> = (0..2000)
        .map(|i| (format!("{i}"), number()))
        .filter(|(_, value)| value.is_finite())
        .chain([("tenth".into(), 0.1), ("smallest".into(), 5e-324), ("zero".into(), -0.0)])
        .collect();
    let row = Row { solver_values: values.clone(), ..row("a", Status::Ok) };
    Journal::open(folder.path()).unwrap().0.append(&row).unwrap();
    let read = &read_journal(folder.path()).unwrap().rows[0].solver_values;
    let moved = |(name, value): &(&String, &f64)| read[*name].to_bits() != value.to_bits();
    assert_eq!(values.iter().filter(moved).collect::<Vec<_>>(), []);
}
