//! Rows survive however the process ended.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;

use gpbench_files::checksum::seal;
use gpbench_record::{CaseStatus, Message, Row, TracePoint, Verified};
use gpbench_runs::{Journal, RunError, read_journal};
use proptest::prelude::*;

use crate::row;

#[test]
fn rows_are_read_back_and_the_newer_one_counts() {
    let folder = tempfile::tempdir().unwrap();
    let (mut journal, damaged) = Journal::open(folder.path()).unwrap();
    assert!(damaged.is_empty());
    for (id, status) in [("a", CaseStatus::Crashed), ("b", CaseStatus::Ok), ("a", CaseStatus::Ok)] {
        journal.append(&row(id, status)).unwrap();
    }
    assert_eq!(
        ["a", "b", "c"].map(|id| journal.status(id)),
        [Some(CaseStatus::Ok), Some(CaseStatus::Ok), None]
    );
    assert_eq!(
        ["a", "b", "c"]
            .map(|id| journal.status(id))
            .iter()
            .flatten()
            .filter(|s| **s == CaseStatus::Ok)
            .count(),
        2
    );
    let rows = read_journal(folder.path()).unwrap().rows;
    assert_eq!(rows, [row("a", CaseStatus::Ok), row("b", CaseStatus::Ok)]);
}

#[test]
fn a_journal_cut_anywhere_keeps_its_whole_lines_and_continues() {
    let folder = tempfile::tempdir().unwrap();
    let (mut journal, _) = Journal::open(folder.path()).unwrap();
    journal.append(&row("a", CaseStatus::Ok)).unwrap();
    journal.append(&row("b", CaseStatus::Ok)).unwrap();
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
        journal.append(&row("c", CaseStatus::Ok)).unwrap();
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
    journal.append(&row("a", CaseStatus::Ok)).unwrap();
    let mut file = OpenOptions::new().append(true).open(folder.path().join("journal.jsonl")).unwrap();
    let [unknown, partial] =
        ["{\"kind\":\"step\",\"loss\":1}", "{\"kind\":\"case\"}"].map(|text| seal(text.as_bytes()));
    file.write_all(&[b"\0\0\0\n", &unknown[..], &partial].join(&b'\n')).unwrap();
    file.write_all(b"\n").unwrap();
    journal.append(&row("b", CaseStatus::Ok)).unwrap();
    drop(journal);
    let (journal, damaged) = Journal::open(folder.path()).unwrap();
    assert_eq!((journal.status("a"), journal.status("b")), (Some(CaseStatus::Ok), Some(CaseStatus::Ok)));
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

/// A point along a solve that consists of these numbers.
fn point(numbers: &[f64; 4]) -> TracePoint {
    let [seconds, epochs, residual, rmse] = *numbers;
    let metrics = [("residual".to_owned(), residual), ("rmse".to_owned(), rmse)].into_iter().collect();
    TracePoint { iteration: 1, seconds, epochs, metrics }
}

/// The bits of the numbers of a point.
fn bits(point: &TracePoint) -> Vec<u64> {
    let metrics = point.metrics.iter().map(|(_, value)| value);
    [point.seconds, point.epochs].into_iter().chain(metrics).map(f64::to_bits).collect()
}

fn finite() -> impl Strategy<Value = f64> {
    let special = prop::sample::select(vec![0.1, 5e-324, -0.0, f64::MAX, f64::MIN_POSITIVE]);
    let any = any::<u64>().prop_map(f64::from_bits).prop_filter("finite numbers", |x| x.is_finite());
    prop_oneof![1 => special, 9 => any]
}

proptest! {
    #![proptest_config(gpbench_testkit::proptest_config!(64))]

    #[test]
    fn numbers_are_read_back_bit_by_bit(
        numbers in prop::collection::vec(prop::array::uniform4(finite()), 1..40)
    ) {
        let folder = tempfile::tempdir().unwrap();
        let trace: Vec<TracePoint> = numbers.iter().map(point).collect();
        let values = numbers.iter().enumerate().map(|(i, numbers)| (format!("{i:02}"), numbers[0]));
        let values: BTreeMap<String, f64> = values.collect();
        let metrics = values.iter().map(|(name, value)| (name.clone(), *value)).collect();
        let row = Row { solver_values: values, metrics, trace, ..row("a", CaseStatus::Ok) };
        Journal::open(folder.path()).unwrap().0.append(&row).unwrap();
        let read = &read_journal(folder.path()).unwrap().rows[0];
        prop_assert!(read.trace.iter().map(bits).eq(row.trace.iter().map(bits)));
        prop_assert!(read.solver_values.values().map(|x| x.to_bits()).eq(numbers.iter().map(|x| x[0].to_bits())));
        prop_assert!(read.metrics.iter().map(|(_, x)| x.to_bits()).eq(numbers.iter().map(|x| x[0].to_bits())));
    }

    #[test]
    fn numbers_of_a_worker_are_read_bit_by_bit(numbers in prop::array::uniform4(finite())) {
        let sent = Message::Trace(point(&numbers));
        let line = serde_json::to_string(&sent).unwrap();
        let Message::Trace(read) = serde_json::from_str(&line).unwrap() else { panic!("it is a point") };
        prop_assert_eq!(bits(&read), bits(&point(&numbers)));
        let verified = Verified { random_search: numbers.to_vec(), ..Verified::default() };
        let line = serde_json::to_string(&Message::Verified(verified)).unwrap();
        let Message::Verified(read) = serde_json::from_str(&line).unwrap() else { panic!("it is verified") };
        prop_assert_eq!(read.random_search.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), numbers.map(f64::to_bits));
    }
}
