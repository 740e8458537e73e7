//! Which cases run, which files remain, and what a second run does.

use std::fs;
use std::path::Path;

use gpbench_engine::{Beginning, EngineError, Event, RunOptions, Stop, WorkItem};
use gpbench_record::{CaseStatus, Job, Limits, Row, names};
use gpbench_runs::{Journal, PlanFile, RunError, read_journal};

use crate::support::{Mock, add, change, options, plan, plan_of, planned, run};

fn rows(folder: &Path) -> Vec<Row> {
    read_journal(folder).unwrap().rows
}

#[test]
fn every_case_ends_in_one_row_with_all_its_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(&["cg", "segfault", "refuses"]);
    add(&mut plan, planned("absent", 0));
    change(&mut plan.file.cases[0], |case, _| case.budget.memory_bytes = Some(1 << 30));
    plan.file.cases[3].skip = Some("data set unavailable".into());
    let (summary, events) = run(&Mock::default(), &plan, &options(folder.path())).unwrap();

    assert_eq!((summary.total, summary.ran, summary.failures()), (4, 4, 2));
    assert!(summary.is_complete() && summary.interrupted.is_none());
    let rows = rows(&summary.folder);
    let ends: Vec<(&str, CaseStatus, &str)> =
        rows.iter().map(|row| (row.labels.solver.as_str(), row.status, row.reason.as_str())).collect();
    assert_eq!(
        ends,
        [
            ("cg", CaseStatus::Ok, ""),
            ("segfault", CaseStatus::Crashed, "ended by SIGSEGV"),
            ("refuses", CaseStatus::Invalid, "no such parameter"),
            ("absent", CaseStatus::Skipped, "data set unavailable"),
        ]
    );
    let metrics: Vec<(&str, f64)> = rows[0].metrics.iter().collect();
    assert_eq!(
        metrics,
        [
            (names::CLAIMED_PROBES, 0.009),
            (names::CLAIMED_Y, 0.004),
            (names::CPU_SECONDS, 2.5),
            (names::EPOCHS, 3.0),
            (names::EPOCHS_EVALUATED, 1.0),
            (names::EPOCHS_FOUND, 0.0),
            (names::EPOCHS_SELF_REPORTED, 0.0),
            (names::EPOCHS_SETUP, 0.5),
            (names::ITERATIONS, 3.0),
            (names::PEAK_MEMORY_BYTES, 4096.0),
            (names::RESIDUAL_PROBES, 0.01),
            (names::RESIDUAL_Y, 0.005),
            (names::SECONDS_POSE, 0.25),
            (names::SECONDS_PREPARE, 0.25),
            (names::SECONDS_SOLVE, 1.0),
            (names::SECONDS_STARTUP, 0.125),
        ]
    );
    assert_eq!((rows[0].trace.len(), rows[0].solver_values["rank"], rows[0].d), (1, 7.0, Some(1)));
    assert_eq!(rows[1].metrics.get(names::PEAK_MEMORY_BYTES), Some(512.0));

    let reported: Vec<&str> = events
        .iter()
        .map(|event| match event {
            Event::Begun { .. } => "begun",
            Event::CaseStarted { .. } => "started",
            Event::CaseFinished { .. } => "finished",
            Event::ReferenceStarted { .. } => "reference",
            Event::CaseAdvanced { .. } => "case advanced",
            Event::Warning(_) => "warning",
        })
        .collect();
    let pair = ["started", "finished"];
    assert_eq!(reported, [&["begun"][..], &pair, &pair, &pair, &pair].concat());
    let Some(Event::CaseFinished { progress, .. }) = events.last() else { panic!("{events:?}") };
    assert_eq!((progress.total, progress.done, progress.failed), (4, 4, 2));
}

#[test]
fn the_run_folder_holds_what_was_asked_and_where() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(&["cg", "ap"]);
    let (summary, _) = run(&Mock::default(), &plan, &options(folder.path())).unwrap();
    let name = summary.folder.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("20260102T120000Z-") && name.len() == 23, "{name}");
    let latest = fs::read_link(summary.folder.with_file_name("latest")).unwrap();
    assert_eq!(latest, Path::new(name));
    let mut files: Vec<_> = fs::read_dir(&summary.folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(
        files,
        ["attempts.jsonl", "environment.json", "journal.jsonl", "logs", "plan.json", "spec.toml"]
    );
    let file = PlanFile::read(&summary.folder).unwrap();
    assert_eq!(file.ids().collect::<Vec<_>>(), plan.file.ids().collect::<Vec<_>>());
}

#[test]
fn a_second_run_computes_nothing_and_a_fresh_one_everything() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let first = run(&Mock::default(), &plan(&["cg", "segfault"]), &options).unwrap().0;
    let mock = Mock::default();
    // The order of the cases and the text of the spec do not make another plan.
    let mut same = plan(&["segfault", "cg"]);
    same.spec_toml.push_str("[report]\n");
    same.file.report.baseline = Some("cg".into());
    let (second, events) = run(&mock, &same, &options).unwrap();
    assert_eq!((&second.folder, second.ran, second.failures()), (&first.folder, 0, 1));
    assert!(mock.asked().is_empty());
    assert!(
        matches!(&events[..], [Event::Begun { beginning: Beginning::Continued, progress, .. }] if progress.done == 2)
    );
    assert!(fs::read_to_string(first.folder.join("spec.toml")).unwrap().contains("[report]"));
    let stored = PlanFile::read(&first.folder).unwrap();
    assert_eq!((stored.report, stored.created.as_str()), (same.file.report.clone(), "2026-01-02T12:00:00Z"));

    let fresh = run(&mock, &same, &RunOptions { fresh: true, ..options.clone() }).unwrap().0;
    assert_ne!(fresh.folder, first.folder);
    assert_eq!(fresh.ran, 2);
    let other = run(&mock, &plan(&["cg"]), &options).unwrap().0;
    assert_ne!(other.folder, fresh.folder, "another plan is another run");
    assert_eq!((other.ran, other.is_complete()), (0, true), "which takes the rows that it needs");
}

#[test]
fn failures_stay_unless_they_are_retried() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path());
    let plan = plan(&["cg", "segfault"]);
    run(&Mock::default(), &plan, &options).unwrap();
    options.retry_failed = true;
    let mock = Mock::default();
    let summary = run(&mock, &plan, &options).unwrap().0;
    assert_eq!(mock.asked(), ["case segfault"]);
    assert_eq!(summary.ran, 1);
    assert_eq!(rows(&summary.folder).len(), 2, "one row a case");
}

#[test]
fn an_interrupted_run_keeps_its_rows_and_continues_later() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let plan = plan(&["cg", "interrupted", "ap"]);
    let (stopped, _) = run(&Mock::default(), &plan, &options).unwrap();
    assert_eq!((stopped.interrupted, stopped.ran, stopped.is_complete()), (Some(2), 1, false));
    assert!(!stopped.folder.join("scratch").exists());
    let mock = Mock::default();
    let (again, _) = run(&mock, &plan, &options).unwrap();
    assert_eq!(again.folder, stopped.folder);
    assert_eq!(mock.asked(), ["case interrupted"], "what has a row is not run again");
}

#[test]
fn failures_may_end_a_run_which_continues_later() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = RunOptions { max_failures: Some(2), ..options(folder.path()) };
    let mut plan = plan(&["segfault", "cg", "refuses", "ap"]);
    let (stopped, _) = run(&Mock::default(), &plan, &options).unwrap();
    assert_eq!((stopped.stopped, stopped.ran, stopped.is_complete()), (Some(Stop::Failures), 3, false));
    // Failures of earlier attempts do not count.
    let mock = Mock::default();
    let (again, _) = run(&mock, &plan, &options).unwrap();
    assert_eq!(mock.asked(), ["case ap", "verify ap"]);
    assert_eq!((again.stopped, again.is_complete(), again.folder), (None, true, stopped.folder));
    // A failure of the last case ends nothing early.
    plan.file.cases.truncate(1);
    plan.files.truncate(1);
    options.max_failures = Some(1);
    assert_eq!(run(&Mock::default(), &plan, &options).unwrap().0.stopped, None);
}

#[test]
fn a_case_without_room_for_its_solution_has_not_failed() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let plan = plan(&["cg", "no-room", "ap"]);
    let error = run(&Mock::default(), &plan, &options).unwrap_err();
    assert!(
        matches!(error, EngineError::NoRoom { .. }) && error.to_string().contains("make room"),
        "{error}"
    );
    let mock = Mock { has_room: true, ..Mock::default() };
    let (whole, _) = run(&mock, &plan, &options).unwrap();
    assert_eq!(mock.asked(), ["case no-room", "verify no-room", "case ap", "verify ap"]);
    assert_eq!((whole.failures(), whole.is_complete()), (0, true));
}

#[test]
fn a_run_that_continues_elsewhere_warns_and_stores_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let mut plan = plan(&["cg"]);
    run(&Mock::default(), &plan, &options).unwrap();
    plan.environment.load = vec![9.0];
    let warned = |plan: &_| {
        let (summary, events) = run(&Mock::default(), plan, &options).unwrap();
        let warning = events.into_iter().find_map(|event| match event {
            Event::Warning(text) => Some(text),
            _ => None,
        });
        (summary.folder, warning)
    };
    let (first, warning) = warned(&plan);
    assert_eq!(warning, None, "another load is the same machine");
    plan.environment.cpu = "another".into();
    for _ in 0..2 {
        assert!(warned(&plan).1.is_some_and(|text| text.contains("(cpu); do not compare its times")));
    }
    plan.environment.cpu = "a third".into();
    warned(&plan);
    let files = fs::read_dir(&first).unwrap();
    let environments =
        files.filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().starts_with("environment"));
    assert_eq!(environments.count(), 3, "each environment once");
}

#[test]
fn a_killed_run_continues_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let plan = plan(&["cg", "ap"]);
    let first = run(&Mock::default(), &plan, &options).unwrap().0;
    let whole = rows(&first.folder);
    // As after SIGKILL: half a last row, and scratch files.
    let journal = first.folder.join("journal.jsonl");
    let bytes = fs::read(&journal).unwrap();
    fs::write(&journal, &bytes[..bytes.len() - 10]).unwrap();
    fs::remove_dir_all(options.output_dir.join(".finished")).unwrap();
    fs::create_dir(first.folder.join("scratch")).unwrap();
    fs::write(first.folder.join("scratch/old.solution"), "old").unwrap();
    let mock = Mock::default();
    let again = run(&mock, &plan, &options).unwrap().0;
    assert_eq!(mock.asked(), ["case ap", "verify ap"]);
    assert_eq!(rows(&again.folder), whole);
    assert!(!again.folder.join("scratch").exists());
}

#[test]
fn a_damaged_line_is_one_warning_and_its_case_runs_again() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let plan = plan(&["cg", "ap", "sgd"]);
    let first = run(&Mock::default(), &plan, &options).unwrap().0;
    let journal = first.folder.join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&journal, format!("{}\n{{\"kind\":\"case\",\n{}\n", lines[0], lines[2])).unwrap();
    fs::remove_dir_all(options.output_dir.join(".finished")).unwrap();
    let warned = |mock: &Mock| {
        let (_, events) = run(mock, &plan, &options).unwrap();
        let warnings = events.into_iter().filter_map(|event| match event {
            Event::Warning(text) => Some(text),
            _ => None,
        });
        warnings.collect::<Vec<_>>()
    };
    let mock = Mock::default();
    let warnings = warned(&mock);
    assert_eq!(mock.asked(), ["case ap", "verify ap"]);
    assert!(
        matches!(&warnings[..], [text] if text.starts_with("journal.jsonl line 2 cannot be read (")
        && text.ends_with("); its case runs again")),
        "{warnings:?}"
    );
    let warnings = warned(&mock);
    assert!(
        matches!(&warnings[..], [text] if text.ends_with("; every case has another row")),
        "{warnings:?}"
    );
    assert_eq!(rows(&first.folder).len(), 3);
}

#[test]
fn a_folder_in_use_is_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let plan = plan(&["cg"]);
    let first = run(&Mock::default(), &plan, &options).unwrap().0;
    let _other = Journal::open(&first.folder).unwrap();
    let mut changed = plan.clone();
    changed.spec_toml = "changed".into();
    assert!(matches!(
        run(&Mock::default(), &changed, &options),
        Err(EngineError::Run(RunError::Busy { .. }))
    ));
    assert_eq!(fs::read_to_string(first.folder.join("spec.toml")).unwrap(), plan.spec_toml);
}

#[test]
fn plans_that_cannot_be_run_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let twice = run(&Mock::default(), &plan(&["cg", "cg"]), &options(folder.path())).unwrap_err();
    assert_eq!(twice.to_string(), "the plan contains the case draw/matern32/pathwise/cg/seed 0 twice");
    for name in ["", "latest", "..", "a/b", ".hidden"] {
        let mut named = plan(&["cg"]);
        named.file.name = name.into();
        let refused = run(&Mock::default(), &named, &options(folder.path()));
        assert!(matches!(refused, Err(EngineError::Run(RunError::BadName { .. }))), "{name}");
    }
    assert!(!folder.path().join("reports").exists());
}

#[test]
fn an_exact_reference_is_made_once_and_stored() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let mut plan = plan(&["cg", "ap", "cholesky"]);
    for planned in &mut plan.file.cases {
        change(planned, |_, fingerprint| fingerprint.exact = true);
    }
    add(&mut plan, planned("large", 0));
    let mock = Mock::default();
    run(&mock, &plan, &options).unwrap();
    let made = |mock: &Mock| mock.asked().iter().filter(|item| *item == "exact draw").count();
    assert_eq!(made(&mock), 1);
    let jobs = mock.jobs.lock().unwrap();
    let reference = jobs["cg"].exact_file.clone().unwrap();
    assert!(reference.starts_with(folder.path().join("cache/exact")));
    assert_eq!(fs::read_to_string(&reference).unwrap(), "exact");
    assert_eq!(fs::read_dir(reference.parent().unwrap()).unwrap().count(), 1, "no unfinished file stays");
    assert_eq!(jobs["ap"].exact_file, Some(reference));
    assert_eq!(jobs["large"].exact_file, None);
    let later = Mock::default();
    run(&later, &plan, &RunOptions { fresh: true, ..options }).unwrap();
    assert_eq!(made(&later), 0);
}

#[test]
fn jobs_run_every_case_once_on_the_threads_of_its_fingerprint() {
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions { jobs: 3, ..options(folder.path()) };
    let mut plan = plan_of((0..20).map(|seed| planned("cg", seed)));
    for planned in &mut plan.file.cases {
        change(planned, |_, fingerprint| fingerprint.threads = 2);
    }
    let mock = Mock::default();
    let (summary, events) = run(&mock, &plan, &options).unwrap();
    assert_eq!((summary.ran, summary.statuses[&CaseStatus::Ok]), (20, 20));
    assert_eq!(mock.asked().len(), 40);
    assert_eq!(mock.jobs.lock().unwrap()["cg"].threads, 2);
    let mut done: Vec<usize> = events
        .iter()
        .filter_map(|event| match event {
            Event::CaseFinished { progress, .. } => Some(progress.done),
            _ => None,
        })
        .collect();
    done.sort_unstable();
    assert_eq!(done, (1..=20).collect::<Vec<_>>());
}

#[test]
fn limits_come_from_the_budget_or_the_options() {
    let folder = tempfile::tempdir().unwrap();
    let options =
        RunOptions { kill_after_seconds: Some(5.0), cpu_seconds: Some(9.0), ..options(folder.path()) };
    let options = RunOptions { memory_bytes: Some(1000), ..options };
    let mut plan = plan(&["bounded", "free"]);
    change(&mut plan.file.cases[0], |case, _| {
        (case.budget.seconds, case.budget.memory_bytes) = (Some(10.0), Some(77));
    });
    let mock = Mock::default();
    run(&mock, &plan, &options).unwrap();
    let jobs = mock.jobs.lock().unwrap();
    let limits = |solver: &str| (jobs[solver].limits.kill_after_seconds, jobs[solver].limits.memory_bytes);
    assert_eq!(limits("bounded"), (Some(80.0), Some(77)));
    assert_eq!(limits("free"), (Some(5.0), Some(1000)));
    assert_eq!(jobs["free"].limits.cpu_seconds, Some(9.0));
}

#[test]
fn every_work_item_has_a_limit_of_time() {
    let folder = tempfile::tempdir().unwrap();
    let mock = Mock::default();
    run(&mock, &plan(&["free"]), &options(folder.path())).unwrap();
    let job = mock.jobs.lock().unwrap()["free"].clone();
    assert_eq!(job.limits.kill_after_seconds, None, "neither the spec nor the command line sets one");
    for item in [WorkItem::Case(job.clone()), WorkItem::Verify(job.clone())] {
        assert_eq!(item.limits().kill_after_seconds, Some(86_400.0), "{}", item.verb());
    }
    let limits = Limits { kill_after_seconds: Some(5.0), ..job.limits };
    assert_eq!(WorkItem::Case(Job { limits, ..job }).limits().kill_after_seconds, Some(5.0));
}
