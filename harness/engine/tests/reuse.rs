//! Rows of finished cases that other runs take.

use std::fs;

use gpbench_engine::{Beginning, Event, Plan, Reuse, Reused, RunOptions};
use gpbench_record::Row;
use gpbench_runs::read_journal;

use crate::support::{Mock, add, change, options, plan, planned, run};

/// Runs a plan; the solves that it took, and what its first event says.
fn ran(plan: &Plan, options: &RunOptions) -> (Vec<String>, Beginning, Reused) {
    let mock = Mock::default();
    let (_, events) = run(&mock, plan, options).unwrap();
    let begun = events.iter().find_map(|event| match event {
        Event::Begun { beginning, reused, .. } => Some((*beginning, reused.clone())),
        _ => None,
    });
    let (beginning, reused) = begun.unwrap();
    let cases = mock.asked().into_iter().filter(|item| item.starts_with("case "));
    (cases.collect(), beginning, reused)
}

fn taken(cases: usize) -> Reused {
    Reused { cases, ..Reused::default() }
}

/// The rows of the newest run.
fn rows(options: &RunOptions) -> Vec<Row> {
    read_journal(&options.output_dir.join("toy/latest")).unwrap().rows
}

#[test]
fn only_what_is_new_in_a_plan_runs() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let mut plan = plan(&["cg", "ap"]);
    assert_eq!(ran(&plan, &options), (vec!["case cg".into(), "case ap".into()], Beginning::First, taken(0)));
    let first = fs::read_link(options.output_dir.join("toy/latest")).unwrap();

    add(&mut plan, planned("sgd", 0));
    let changed = |same, changed, added, removed| Beginning::Changed { same, changed, added, removed };
    assert_eq!(ran(&plan, &options), (vec!["case sgd".into()], changed(2, 0, 1, 0), taken(2)));
    let origins = rows(&options).into_iter().map(|row| row.reused_from);
    let from_first = Some(format!("toy/{}", first.display()));
    assert_eq!(origins.collect::<Vec<_>>(), [from_first.clone(), from_first.clone(), None]);

    add(&mut plan, planned("cg", 1));
    assert_eq!(ran(&plan, &options), (vec!["case cg".into()], changed(3, 0, 1, 0), taken(3)));
    change(&mut plan.file.cases[1], |_, fingerprint| fingerprint.threads = 2);
    plan.file.cases.truncate(3);
    plan.files.truncate(3);
    assert_eq!(ran(&plan, &options), (vec!["case ap".into()], changed(2, 1, 0, 1), taken(2)));
    assert_eq!(rows(&options)[0].reused_from, from_first, "the run in which it ran, not the one before");
}

#[test]
fn a_row_whose_line_is_damaged_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    ran(&plan(&["cg", "ap"]), &options);
    let (journal, whole) = (options.output_dir.join("toy/latest/journal.jsonl"), rows(&options));
    let bytes = fs::read(&journal).unwrap();
    fs::write(&journal, &bytes[..bytes.len() - 10]).unwrap();
    assert_eq!(ran(&plan(&["cg", "ap"]), &options), (vec![], Beginning::Continued, taken(0)));
    assert_eq!(rows(&options), whole);
}

#[test]
fn fresh_runs_take_nothing_and_give_their_rows() {
    let folder = tempfile::tempdir().unwrap();
    let fresh = RunOptions { fresh: true, ..options(folder.path()) };
    assert_eq!(ran(&plan(&["cg"]), &fresh).2, taken(0));
    assert_eq!(ran(&plan(&["cg"]), &fresh).2, taken(0));
    assert_eq!(ran(&plan(&["cg", "ap"]), &options(folder.path())).2, taken(1));
}

#[test]
fn seconds_of_another_environment_are_taken_where_the_user_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    ran(&plan(&["cg"]), &options);
    let mut elsewhere = plan(&["cg", "ap"]);
    elsewhere.environment.cpu = "another".into();
    let found = Reused { cases: 0, elsewhere: 1, differences: vec!["cpu"] };
    let all = vec!["case cg".to_owned(), "case ap".to_owned()];
    let (cases, _, reused) = ran(&elsewhere, &options);
    assert_eq!((cases, reused), (all, found));
    // The store has the newer row now.
    let any = RunOptions { reuse: Reuse::Any, ..options };
    let (cases, _, reused) = ran(&plan(&["cg", "sgd"]), &any);
    assert_eq!((cases, reused), (vec!["case sgd".to_owned()], taken(1)));
    assert!(any.output_dir.join("toy/latest/environment-2.json").exists());
}

#[test]
fn failures_are_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    ran(&plan(&["segfault", "refuses", "cg"]), &options);
    let (cases, _, reused) = ran(&plan(&["segfault", "refuses", "cg", "ap"]), &options);
    assert_eq!((cases.len(), reused), (3, taken(1)));
}

#[test]
fn a_damaged_file_of_the_store_costs_a_run_of_its_case() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    ran(&plan(&["cg"]), &options);
    let store: Vec<_> = fs::read_dir(options.output_dir.join(".finished")).unwrap().collect();
    assert_eq!(store.len(), 1);
    fs::write(store[0].as_ref().unwrap().path(), "{").unwrap();
    let (_, events) = run(&Mock::default(), &plan(&["cg", "ap"]), &options).unwrap();
    let warned =
        |event: &&Event| matches!(event, Event::Warning(text) if text.ends_with("its case runs again"));
    assert_eq!(events.iter().filter(warned).count(), 1);
    assert_eq!(rows(&options).len(), 2);
}
