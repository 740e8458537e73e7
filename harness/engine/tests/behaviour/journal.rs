//! Rows survive whatever the end of the process was.

use std::fs::{self, OpenOptions};
use std::io::Write as _;

use gpbench_engine::{EngineError, Journal, read_rows};
use gpbench_record::{Metrics, Row, Status};

use crate::support::planned;

fn row(id: &str, status: Status) -> Row {
    let case = planned("cg", 0).case;
    Row {
        id: id.into(),
        labels: case.labels(),
        case,
        status,
        reason: String::new(),
        n: None,
        d: None,
        metrics: Metrics::default(),
        solver_values: Default::default(),
        trace: Vec::new(),
        steps: Vec::new(),
        hyperparameters: Default::default(),
        curve: None,
        landscape: None,
        log_tail: String::new(),
        reproducible: true,
        finished: "2026-01-02T12:00:00Z".into(),
    }
}

#[test]
fn rows_are_read_back_and_the_newer_one_counts() {
    let folder = tempfile::tempdir().unwrap();
    let (mut journal, unreadable) = Journal::open(folder.path()).unwrap();
    assert_eq!(unreadable, 0);
    for (id, status) in [("a", Status::Crashed), ("b", Status::Ok), ("a", Status::Ok)] {
        journal.append(&row(id, status)).unwrap();
    }
    assert_eq!(journal.status("a"), Some(Status::Ok));
    let rows = read_rows(folder.path()).unwrap();
    assert_eq!(rows, [row("a", Status::Ok), row("b", Status::Ok)]);
}

#[test]
fn a_journal_cut_anywhere_keeps_its_whole_lines_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (mut journal, _) = Journal::open(folder.path()).unwrap();
    journal.append(&row("a", Status::Ok)).unwrap();
    journal.append(&row("b", Status::Ok)).unwrap();
    drop(journal);
    let path = folder.path().join("journal.jsonl");
    let whole = fs::read(&path).unwrap();
    let first = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    for cut in [0, 1, first - 1, first, first + 1, whole.len() - 1] {
        fs::write(&path, &whole[..cut]).unwrap();
        let (mut journal, unreadable) = Journal::open(folder.path()).unwrap();
        assert_eq!(unreadable, 0, "cut at {cut}");
        assert_eq!(journal.status("a").is_some(), cut >= first, "cut at {cut}");
        assert_eq!(journal.status("b"), None, "cut at {cut}");
        journal.append(&row("c", Status::Ok)).unwrap();
        let ids: Vec<String> = read_rows(folder.path()).unwrap().into_iter().map(|row| row.id).collect();
        assert_eq!(ids, if cut >= first { vec!["a", "c"] } else { vec!["c"] }, "cut at {cut}");
    }
}

#[test]
fn unreadable_and_unknown_lines_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let (mut journal, _) = Journal::open(folder.path()).unwrap();
    journal.append(&row("a", Status::Ok)).unwrap();
    drop(journal);
    let mut file = OpenOptions::new().append(true).open(folder.path().join("journal.jsonl")).unwrap();
    file.write_all(b"\0\0\0\n{\"kind\":\"step\",\"loss\":1}\n").unwrap();
    let (journal, unreadable) = Journal::open(folder.path()).unwrap();
    assert_eq!((unreadable, journal.status("a")), (1, Some(Status::Ok)));
}

#[test]
fn only_one_may_write() {
    let folder = tempfile::tempdir().unwrap();
    let first = Journal::open(folder.path()).unwrap();
    assert!(matches!(Journal::open(folder.path()), Err(EngineError::Busy { .. })));
    drop(first);
    assert!(Journal::open(folder.path()).is_ok());
}
