//! A run folder from its creation to its record.

use std::fs;
use std::path::Path;

use gpbench_files::process_tag;
use gpbench_record::testing::case;
use gpbench_record::{Axes, CaseStatus, Environment, Fingerprint, PlannedCase, ReportOptions, revisions};
use gpbench_runs::{Journal, PlanFile, RunError, RunFolder, RunRecord};
use jiff::Timestamp;

use crate::row;

pub(crate) fn now() -> Timestamp {
    "2026-01-02T12:00:00Z".parse().unwrap()
}

fn entry(id: &str) -> PlannedCase {
    let fingerprint = Fingerprint {
        plugin_sha256: "p".into(),
        dataset_sha256: None,
        worker_sha256: "w".into(),
        threads: 1,
        cpu_dispatch: "portable".into(),
        blas_core: "Generic".into(),
        exact: false,
    };
    PlannedCase { id: id.into(), ..PlannedCase::new(case(id), fingerprint, Some(30), None) }
}

pub(crate) fn plan(ids: &[&str]) -> PlanFile {
    PlanFile { cases: ids.iter().map(|id| entry(id)).collect(), ..PlanFile::new("toy", now()) }
}

pub(crate) fn create(output: &Path, plan: &PlanFile) -> RunFolder {
    RunFolder::create(output, plan, "schema = 1\n", &Environment::default(), now()).unwrap()
}

#[test]
fn a_folder_is_found_by_its_cases_and_read_by_its_plan() {
    let output = tempfile::tempdir().unwrap();
    let mut plan = plan(&["ap", "cg", "sgd"]);
    let first = create(output.path(), &plan);
    let name = first.path().file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("20260102T120000Z-") && name.len() == 23, "{name}");
    let second = create(output.path(), &plan);
    assert_eq!(second.path(), first.path().with_file_name(format!("{name}-2")));
    assert_eq!(RunFolder::find(output.path(), "toy", &["sgd", "ap", "cg"]).unwrap(), second);
    assert_eq!(second.created(), Some(now()));
    assert!(RunFolder::find(output.path(), "toy", &["ap", "cg"]).unwrap_err().is_empty());

    // The resolved form counts, whatever is in spec.toml.
    plan.axes = Axes { solver: vec!["sgd".into(), "cg".into(), "ap".into()], ..Axes::default() };
    plan.report = ReportOptions { baseline: Some("cg".into()), ..ReportOptions::default() };
    plan.sources.insert("cg".into(), "Hestenes and Stiefel 1952".into());
    second.write_plan(&plan, "solver = [").unwrap();
    assert_eq!(PlanFile::read(second.path()).unwrap(), plan);
    let (mut journal, _) = Journal::open(second.path()).unwrap();
    for solver in ["ap", "sgd", "ap"] {
        let solved = gpbench_record::testing::row(case(solver), &[]);
        journal.append(&gpbench_record::Row { id: solver.into(), ..solved }).unwrap();
    }
    let record = RunRecord::open(second.path()).unwrap();
    let solvers: Vec<&str> = record.rows.iter().map(|row| row.labels.solver.as_str()).collect();
    assert_eq!(solvers, ["sgd", "ap"], "in the order of the spec");
    assert_eq!((record.missing, record.name.as_str()), (vec![entry("cg")], "toy"));
    assert_eq!((record.axes, record.report, record.sources), (plan.axes, plan.report, plan.sources));
    assert_eq!((record.environments.len(), record.damaged.len(), record.truncated), (1, 0, false));
}

#[test]
fn the_journal_alone_is_enough_for_a_record() {
    let output = tempfile::tempdir().unwrap();
    let folder = output.path().join("toy/1");
    fs::create_dir_all(&folder).unwrap();
    assert!(matches!(RunRecord::open(&folder), Err(RunError::NotARun { .. })));
    Journal::open(&folder).unwrap().0.append(&row("a", CaseStatus::Ok)).unwrap();
    let record = RunRecord::open(&folder).unwrap();
    assert_eq!((record.name.as_str(), record.planned(), record.environments.len()), ("toy", 1, 0));
}

#[test]
fn a_damaged_line_is_one_warning() {
    let output = tempfile::tempdir().unwrap();
    let folder = create(output.path(), &plan(&["a", "b"]));
    let (mut journal, _) = Journal::open(folder.path()).unwrap();
    journal.append(&row("a", CaseStatus::Ok)).unwrap();
    let path = folder.path().join("journal.jsonl");
    fs::write(&path, [b"{\"kind\":\"ca\n".as_slice(), &fs::read(&path).unwrap()].concat()).unwrap();
    let warning = &RunRecord::open(folder.path()).unwrap().warnings()[..];
    assert!(
        matches!(warning, [text] if text.starts_with("journal.jsonl line 1 cannot be read (EOF")
        && text.ends_with("; its case runs again")),
        "{warning:?}"
    );
    journal.append(&row("b", CaseStatus::Ok)).unwrap();
    let record = RunRecord::open(folder.path()).unwrap();
    assert!(record.missing.is_empty() && record.warnings()[0].ends_with("every case has another row"));
}

#[test]
fn each_environment_is_stored_once() {
    let output = tempfile::tempdir().unwrap();
    let folder = create(output.path(), &plan(&["a"]));
    let other = Environment { cpu: "another".into(), ..Environment::default() };
    for _ in 0..2 {
        assert_eq!(folder.add_environment(&other).unwrap().differences, ["cpu"]);
        assert!(folder.add_environment(&Environment::default()).unwrap().differences.is_empty());
    }
    let third = Environment { cores: 7, ..Environment::default() };
    folder.add_environment(&third).unwrap();
    Journal::open(folder.path()).unwrap();
    let stored = RunRecord::open(folder.path()).unwrap().environments;
    assert_eq!(stored, [Environment::default(), other, third]);
}

#[test]
fn an_environment_names_each_revision_that_the_run_continued_with() {
    let output = tempfile::tempdir().unwrap();
    let folder = create(output.path(), &plan(&["a"]));
    let at = |commit: &str| Environment { git_revision: Some(commit.into()), ..Environment::default() };
    for commit in ["first", "second", "first", "second"] {
        folder.add_environment(&at(commit)).unwrap();
    }
    folder.note_load(&at("third"), 0.5).unwrap();
    Journal::open(folder.path()).unwrap();
    let stored = RunRecord::open(folder.path()).unwrap().environments;
    assert_eq!(revisions(&stored).as_deref(), Some("first; second"));
    assert_eq!((stored.len(), stored[0].other_load), (1, Some(0.5)));
}

#[test]
fn files_of_running_cases_are_removed_at_the_end() {
    let output = tempfile::tempdir().unwrap();
    let folder = create(output.path(), &plan(&["a"]));
    folder.begin().unwrap();
    fs::write(folder.workspace().solution("a"), "numbers").unwrap();
    fs::write(folder.workspace().programs().join("library.so"), "code").unwrap();
    fs::write(folder.workspace().checkpoint("a"), "a step").unwrap();
    let ended = process_tag().replace(&format!("-{}", std::process::id()), "-4294967295");
    fs::write(folder.path().join(format!("checkpoints/a.safetensors.{ended}.x.part")), "half a step")
        .unwrap();
    let link = output.path().join(format!("toy/.latest.{ended}.part"));
    std::os::unix::fs::symlink("gone", &link).unwrap();
    // What a killed process has left, and an earlier version.
    fs::create_dir_all(folder.path().join("scratch").join(&ended)).unwrap();
    fs::write(folder.path().join("scratch/a.solution"), "numbers").unwrap();
    folder.end().unwrap();
    assert!(!folder.path().join("scratch").exists() && !folder.path().join("programs").exists());
    assert!(folder.path().join("logs").is_dir());
    assert_eq!(fs::read_dir(folder.path().join("checkpoints")).unwrap().count(), 1);
    fs::remove_file(folder.workspace().checkpoint("a")).unwrap();
    folder.end().unwrap();
    assert!(!folder.path().join("checkpoints").exists());
    folder.begin().unwrap();
    let latest = fs::read_link(output.path().join("toy/latest")).unwrap();
    assert_eq!(latest, Path::new(folder.path().file_name().unwrap()));
    assert!(!link.is_symlink());
}

#[test]
fn files_of_another_host_stay() {
    let output = tempfile::tempdir().unwrap();
    let folder = create(output.path(), &plan(&["a"]));
    folder.begin().unwrap();
    // The number is that of this process, which is not the other.
    let other = format!("h0123456789ab-{}", std::process::id());
    for kind in ["scratch", "programs"] {
        fs::create_dir(folder.path().join(kind).join(&other)).unwrap();
    }
    let files = [format!("scratch/{other}/a.solution"), format!("checkpoints/a.safetensors.{other}.x.part")];
    files.iter().for_each(|file| fs::write(folder.path().join(file), "numbers").unwrap());
    fs::write(folder.workspace().solution("a"), "numbers").unwrap();
    folder.end().unwrap();
    assert!(!folder.workspace().scratch().exists() && !folder.workspace().programs().exists());
    assert!(folder.path().join("programs").join(&other).is_dir());
    assert!(files.iter().all(|file| folder.path().join(file).is_file()));
    // Its folder of checkpoints stays even without one.
    fs::remove_file(folder.path().join(&files[1])).unwrap();
    folder.end().unwrap();
    assert!(folder.path().join("checkpoints").is_dir());
}

#[test]
fn names_that_are_no_folders_and_plans_of_the_future_are_refused() {
    let output = tempfile::tempdir().unwrap();
    for name in ["", "latest", "published", ".hidden", "a/b"] {
        let plan = PlanFile { name: name.into(), ..plan(&["a"]) };
        let refused = RunFolder::create(output.path(), &plan, "", &Environment::default(), now());
        assert!(matches!(refused, Err(RunError::BadName { .. })), "{name}");
    }
    let folder = create(output.path(), &PlanFile { schema: 3, ..plan(&["a"]) });
    assert!(matches!(PlanFile::read(folder.path()), Err(RunError::Newer { schema: 3, .. })));
}
