//! Damaged journals and baselines: each is read, or refused with an error message.

use std::cell::Cell;
use std::fs;

use gpbench_report::baseline::{Baseline, against, check, update, update_with_seconds};
use gpbench_report::{Format, Run, export};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;

use crate::support::run;

/// A text with a piece of it replaced.
fn spliced(text: &[u8], from: Index, length: usize, put: &[u8]) -> Vec<u8> {
    let from = from.index(text.len());
    let to = (from + length).min(text.len());
    [&text[..from], put, &text[to..]].concat()
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let words = [
        "",
        "null",
        "-1",
        "1e999",
        "18446744073709551616",
        "nan",
        "inf",
        "\"",
        "{",
        "}",
        "[",
        "]",
        ",",
        "\n",
        "\\u0000",
        "\\ud800",
        "\"ok\"",
        "\"crashed\"",
        "true",
        "{}",
        "[]",
        "0.5",
        "\u{202e}",
        "\u{0}",
        "'",
        "#",
        "=",
        "[[case]]",
        "\n\n",
    ];
    prop_oneof![
        3 => prop::sample::select(words.to_vec()).prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
    ]
}

fn try_all(what: &str, text: &[u8], read: impl Fn(&[u8]) -> bool) -> (usize, usize) {
    let config = gpbench_testkit::proptest_config!(2000);
    let (taken, refused) = (Cell::new(0), Cell::new(0));
    let survived =
        TestRunner::new(config).run(&(any::<Index>(), 0..40_usize, pieces()), |(from, length, put)| {
            let count = if read(&spliced(text, from, length, &put)) { &taken } else { &refused };
            count.set(count.get() + 1);
            Ok(())
        });
    survived.unwrap();
    println!("{} {what}: {} taken, {} refused", taken.get() + refused.get(), taken.get(), refused.get());
    (taken.get(), refused.get())
}

#[test]
fn journals() {
    let run = run();
    let lines = fs::read_to_string(run.record.folder.join("journal.jsonl")).unwrap();
    let lines: String = lines.lines().skip(1).take(3).map(|line| format!("{line}\n")).collect();
    let dir = tempfile::tempdir().unwrap();
    let (taken, refused) = try_all("journals", lines.as_bytes(), |bytes| {
        fs::write(dir.path().join("journal.jsonl"), bytes).unwrap();
        let found = Run::open(dir.path()).unwrap();
        // Whatever was read can be compared and written down.
        against(&found, &run).unwrap();
        against(&run, &found).unwrap();
        assert!(!export(&found, Format::Json).unwrap().is_empty());
        assert!(found.warnings.iter().all(|warning| warning.contains("line ")), "{:?}", found.warnings);
        found.warnings.is_empty() && !found.record.truncated
    });
    assert!(taken > 100 && refused > 200, "{taken} {refused}");
}

#[test]
fn baselines() {
    let mut run = run();
    run.record.rows.truncate(3);
    baselines_like(&run, &update(&run, None).unwrap());
}

#[test]
fn baselines_with_seconds() {
    let mut run = run();
    run.record.rows.truncate(3);
    baselines_like(&run, &update_with_seconds(&run, None).unwrap());
}

/// Reads damaged forms of a baseline, and compares the run with each that can be read.
fn baselines_like(run: &Run, text: &str) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("baseline.toml");
    let (taken, refused) = try_all("baselines", text.as_bytes(), |bytes| {
        fs::write(&file, bytes).unwrap();
        match Baseline::read(&file) {
            Ok(baseline) => {
                check(run, &baseline).unwrap();
                assert!(baseline.cases.iter().flat_map(|c| c.metrics.iter()).all(|(_, v)| v.is_finite()));
                true
            }
            Err(error) => {
                assert!(error.to_string().contains("baseline.toml"), "{error}");
                false
            }
        }
    });
    assert!(taken > 100 && refused > 200, "{taken} {refused}");
}
