//! Published runs keep what their reports are made of.

use std::fs;
use std::path::Path;

use gpbench_record::{JournalEntry, Row};
use gpbench_report::{Error, Format, Frame, MOST_PUBLISHED_BYTES, Run, export, published_faults};
use gpbench_runs::{NeutralNames, ReplacedName};

use crate::support::run as stored;

#[test]
fn the_report_of_a_published_run_can_be_made_again() {
    let published = tempfile::tempdir().unwrap();
    let folder = published.path().join("example");
    let run = stored();
    Frame::new(&run).unwrap().publish(&folder, &NeutralNames::default()).unwrap();
    for name in
        ["journal.jsonl", "plan.json", "spec.toml", "environment.json", "report.md", "results.parquet"]
    {
        assert!(folder.join(name).is_file(), "{name}");
    }
    let again = Run::open(&folder).unwrap();
    assert_eq!(export(&again, Format::Markdown).unwrap(), export(&run, Format::Markdown).unwrap());
    // Published into its own folder, nothing is lost.
    let journal = || fs::read_to_string(folder.join("journal.jsonl")).unwrap();
    let before = journal();
    Frame::new(&again).unwrap().publish(&folder, &NeutralNames::default()).unwrap();
    assert_eq!(journal(), before);
}

#[test]
fn a_published_run_names_no_machine() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    // A run with another before it.
    for name in ["runs/20260101T000000Z-aa", "runs/20260102T000000Z-bb"] {
        fs::create_dir_all(at(name)).unwrap();
        for file in stored().record.sources() {
            fs::copy(&file, at(name).join(file.file_name().unwrap())).unwrap();
        }
    }
    let run = at("runs/20260102T000000Z-bb");
    let mut row: Row = stored().record.rows.remove(0);
    row.log_tail = "cannot open /home/ann/work/x\n/home/ann/y on lab7".to_owned();
    let line = serde_json::to_string(&JournalEntry::Case(Box::new(row))).unwrap();
    fs::write(run.join("journal.jsonl"), line + "\n").unwrap();
    let names = [("/home/ann", "~"), ("/home/ann/work", "<work>"), ("lab7", "<host>")];
    let names = NeutralNames::new(names.map(|(name, by)| (name.to_owned(), by.to_owned())));

    let publish =
        |folder: &Path| Frame::new(&Run::open(&run).unwrap()).unwrap().publish(folder, &names).unwrap();
    let replaced = publish(&at("published/one"));
    let counted = |name: &str| {
        replaced
            .iter()
            .find(|found| found.name == name)
            .map(|ReplacedName { by, count, .. }| (by.as_str(), *count))
    };
    assert_eq!(counted("/home/ann"), Some(("~", 1)));
    assert_eq!((counted("/home/ann/work"), counted("lab7")), (Some(("<work>", 1)), Some(("<host>", 1))));
    let again = Run::open(at("published/one")).unwrap();
    assert_eq!(again.record.rows[0].log_tail, "cannot open <work>/x\n~/y on <host>");
    assert!(again.warnings.is_empty(), "{:?}", again.warnings);
    // Wherever it is published, the page is the same.
    publish(&at("runs/20260103T000000Z-cc"));
    let page = |name: &str| fs::read_to_string(at(name).join("report.md")).unwrap();
    assert_eq!(page("published/one"), page("runs/20260103T000000Z-cc"));
    assert!(!page("published/one").contains("the run before"));
}

#[test]
fn a_run_that_is_too_large_is_not_published() {
    let dir = tempfile::tempdir().unwrap();
    let mut row: Row = stored().record.rows.remove(0);
    row.log_tail = "x".repeat(MOST_PUBLISHED_BYTES as usize);
    let line = serde_json::to_string(&JournalEntry::Case(Box::new(row))).unwrap();
    fs::write(dir.path().join("journal.jsonl"), line + "\n").unwrap();
    let run = Run::open(dir.path()).unwrap();
    let folder = dir.path().join("published");
    let refused = Frame::new(&run).unwrap().publish(&folder, &NeutralNames::default()).unwrap_err();
    assert!(matches!(refused, Error::TooLarge { .. }));
    let text = refused.to_string();
    assert!(text.contains("have 8.0 MiB; those of a published run have at most 8 MiB"), "{text}");
    assert!(!folder.exists(), "nothing is written");
}

#[test]
fn the_check_names_folders_whose_report_cannot_be_made_again() {
    let published = tempfile::tempdir().unwrap();
    let at = |name: &str| published.path().join(name);
    let faults = || published_faults(published.path()).unwrap();
    let mut complete = stored();
    // Complete lines alone.
    let rows = complete.record.rows.iter().map(|row| JournalEntry::Case(Box::new(row.clone())));
    let lines: Vec<String> = rows.map(|entry| serde_json::to_string(&entry).unwrap() + "\n").collect();
    complete.record.truncated = false;
    for name in ["good", "cut", "missing"] {
        Frame::new(&complete).unwrap().publish(&at(name), &NeutralNames::default()).unwrap();
        fs::write(at(name).join("journal.jsonl"), lines.concat()).unwrap();
    }
    assert_eq!(faults(), [""; 0]);

    fs::write(at("cut").join("journal.jsonl"), lines.concat().trim_end()).unwrap();
    fs::write(at("missing").join("journal.jsonl"), lines[1..].concat()).unwrap();
    fs::create_dir(at("bare")).unwrap();
    fs::write(at("bare/report.md"), "").unwrap();
    fs::create_dir(at("coverage")).unwrap();
    let found = faults();
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(
        found[0].starts_with("bare has no journal or no plan: write it with `gpbench report RUN --publish ")
    );
    assert!(found[1].starts_with("cut: "), "{found:?}");
    assert_eq!(found[2], "missing: 1 planned cases have no row");

    // Those of before are listed, and are taken off the list once they have a journal.
    fs::write(at("without-journal.txt"), "# published before\nbare\ngood\n").unwrap();
    let found = faults();
    assert_eq!(found[1], "good has a journal: take it off without-journal.txt");
    assert!(!found.iter().any(|fault| fault.starts_with("bare")), "{found:?}");
}
