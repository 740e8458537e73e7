//! Faults of the machine and of files: no row, one more try, and a list at the end.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use gpbench_engine::{
    End, Engine, Event, Executor, Interrupt, Outcome, Plan, Planned, RunOptions, RunSummary, WorkItem,
};
use gpbench_record::{
    CaseStatus, Environment, ExactSummary, Failure, Fault, FaultCause, Message, Metrics, Row, StopReason,
};
use gpbench_runs::{Attempts, read_journal};

use crate::support::{Noon, change, options, plan, solved, verified};

/// Answers each work item as the test says; `answer` gets the item as `<verb> <name>` and how often it came before,
/// and passes what ends well.
struct Scripted<F> {
    answer: F,
    asked: Mutex<Vec<String>>,
}

impl<F: Fn(&str, usize) -> Option<Outcome> + Sync> Scripted<F> {
    fn new(answer: F) -> Self {
        Self { answer, asked: Mutex::default() }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn exited(messages: Vec<Message>) -> Outcome {
    Outcome { messages, ..Outcome::of(End::Exited(0)) }
}

impl<F: Fn(&str, usize) -> Option<Outcome> + Sync> Executor for Scripted<F> {
    fn machine(&self) -> Environment {
        Environment::default()
    }

    fn run(&self, item: &WorkItem, _log: &Path, _interrupt: &Interrupt, _seen: &dyn Fn(&Message)) -> Outcome {
        let name = match item {
            WorkItem::Case(job) | WorkItem::Verify(job) => &job.case.solver.name,
            WorkItem::Exact(request) => &request.dataset.name,
            WorkItem::Optimum(request) => &request.system.dataset.name,
        };
        let what = format!("{} {name}", item.verb());
        let before = {
            let mut asked = self.asked.lock().unwrap();
            asked.push(what.clone());
            asked.iter().filter(|other| **other == what).count() - 1
        };
        if let Some(outcome) = (self.answer)(&what, before) {
            return outcome;
        }
        match item {
            WorkItem::Case(_) => {
                exited(vec![Message::Loading, solved(StopReason::Converged, &[0.004, 0.009], 3.0)])
            }
            WorkItem::Verify(_) => exited(vec![verified(0.005, 0.01)]),
            WorkItem::Exact(request) => {
                fs::write(&request.output, "exact").unwrap();
                exited(vec![Message::Exact(ExactSummary { metrics: Metrics::default() })])
            }
            WorkItem::Optimum(_) => panic!("no optimum was requested"),
        }
    }
}

/// The report of a fault before the plugin's library is opened.
fn fault(cause: FaultCause) -> Outcome {
    exited(vec![Message::Fault(Fault { cause, reason: "as told".into(), plugin_ran: false })])
}

/// The same after.
fn later_fault(cause: FaultCause) -> Outcome {
    let Outcome { mut messages, .. } = fault(cause);
    messages.insert(0, Message::Loading);
    exited(messages)
}

fn killed() -> Outcome {
    let end = End::Signalled { signal: 9, memory_pressure: false };
    Outcome { messages: vec![Message::Loading], ..Outcome::of(end) }
}

/// Runs a plan with a way to renew data sets.
fn run_with(
    executor: &dyn Executor,
    plan: &Plan,
    options: &RunOptions,
    renew: &(dyn Fn(Planned<'_>) -> Result<(), String> + Sync),
) -> (RunSummary, Vec<Event>) {
    let interrupt = Interrupt::default();
    let engine = Engine { executor, clock: &Noon, interrupt, renew_dataset: renew };
    let mut events = Vec::new();
    let summary = engine.run(plan, options, &mut |event| events.push(event)).unwrap();
    (summary, events)
}

fn run(executor: &dyn Executor, plan: &Plan, options: &RunOptions) -> RunSummary {
    run_with(executor, plan, options, &|_| Ok(())).0
}

fn rows(summary: &RunSummary) -> Vec<Row> {
    read_journal(&summary.folder).unwrap().rows
}

/// The solver and the status of each row.
fn statuses(summary: &RunSummary) -> Vec<(String, CaseStatus)> {
    rows(summary).into_iter().map(|row| (row.labels.solver, row.status)).collect()
}

/// The solvers without rows, and what was at fault.
fn without_rows(summary: &RunSummary) -> Vec<(&str, FaultCause)> {
    summary.without_rows.iter().map(|case| (case.labels.solver.as_str(), case.cause)).collect()
}

fn ok(solver: &str) -> (String, CaseStatus) {
    (solver.to_owned(), CaseStatus::Ok)
}

#[test]
fn a_fault_is_tried_once_more_and_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let quiet = run(&Scripted::new(|_, _| None), &plan(&["cg", "ap"]), &options(folder.path()));
    for cause in FaultCause::ALL {
        for answer in [fault, later_fault] {
            let folder = tempfile::tempdir().unwrap();
            let once = |what: &str, before: usize| (what == "case cg" && before == 0).then(|| answer(cause));
            let summary = run(&Scripted::new(once), &plan(&["cg", "ap"]), &options(folder.path()));
            let mut found = rows(&summary);
            found.sort_by_key(|row| row.labels.solver != "cg");
            assert_eq!(found, rows(&quiet), "{cause:?}");
            assert!(summary.is_complete() && summary.without_rows.is_empty());
        }
    }
}

#[test]
fn a_fault_that_stays_costs_no_other_case_and_is_listed() {
    for cause in FaultCause::ALL {
        let folder = tempfile::tempdir().unwrap();
        let options = options(folder.path());
        let plan = plan(&["cg", "ap", "sgd"]);
        let always = Scripted::new(|what: &str, _| (what == "case cg").then(|| fault(cause)));
        // However often: the plugin cannot have caused it.
        for _ in 0..4 {
            let summary = run(&always, &plan, &options);
            assert_eq!(statuses(&summary), [ok("ap"), ok("sgd")]);
            assert_eq!(without_rows(&summary), [("cg", cause)]);
            assert!(!summary.is_complete() && summary.stopped.is_none());
            assert!(!summary.without_rows[0].advice().is_empty());
        }
        // One more try in each attempt; a machine that stands still has more.
        let tries = if cause == FaultCause::Standstill { 10 } else { 2 };
        assert_eq!(always.asked().iter().filter(|item| *item == "case cg").count(), 4 * tries, "{cause}");
        // The same command goes on.
        let repaired = Scripted::new(|_, _| None);
        assert_eq!(statuses(&run(&repaired, &plan, &options)), [ok("ap"), ok("sgd"), ok("cg")]);
        assert_eq!(repaired.asked(), ["case cg", "verify cg"]);
    }
}

#[test]
fn each_cause_has_one_more_try() {
    let folder = tempfile::tempdir().unwrap();
    // As after `gpbench clean`, which removes references and then copies.
    let cleaned = |what: &str, before| match (what, before) {
        ("case cg", 0) => Some(fault(FaultCause::Reference)),
        ("case cg", 1) => Some(fault(FaultCause::Dataset)),
        _ => None,
    };
    assert_eq!(statuses(&run(&Scripted::new(cleaned), &plan(&["cg"]), &options(folder.path()))), [ok("cg")]);
}

#[test]
fn what_the_system_refuses_is_tried_again_when_all_others_have_ended() {
    let folder = tempfile::tempdir().unwrap();
    let once = |what: &str, before| (what == "case cg" && before == 0).then(|| fault(FaultCause::Resources));
    let executor = Scripted::new(once);
    run(&executor, &plan(&["cg", "ap"]), &RunOptions { jobs: 2, ..options(folder.path()) });
    assert_eq!(
        executor.asked().iter().rposition(|item| item == "case cg"),
        Some(3),
        "{:?}",
        executor.asked()
    );
}

#[test]
fn a_worker_that_is_killed_from_outside_runs_again_three_times() {
    let folder = tempfile::tempdir().unwrap();
    let twice = |what: &str, before| (what == "case cg" && before < 2).then(killed);
    assert_eq!(statuses(&run(&Scripted::new(twice), &plan(&["cg"]), &options(folder.path()))), [ok("cg")]);
    let folder = tempfile::tempdir().unwrap();
    let always = Scripted::new(|what: &str, _| (what == "case cg").then(killed));
    let summary = run(&always, &plan(&["cg", "ap"]), &options(folder.path()));
    assert_eq!(statuses(&summary), [("cg".to_owned(), CaseStatus::Crashed), ok("ap")]);
    let reason = rows(&summary)[0].reason.clone();
    assert!(reason.contains("SIGKILL") && reason.contains("3 times"), "{reason}");
    assert_eq!(always.asked().iter().filter(|item| *item == "case cg").count(), 3);
}

#[test]
fn a_fault_that_the_plugin_may_have_caused_counts_over_attempts() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let plan = plan(&["cg", "ap"]);
    let always =
        Scripted::new(|what: &str, _| (what == "case cg").then(|| later_fault(FaultCause::Solution)));
    let first = run(&always, &plan, &options);
    assert_eq!(
        (statuses(&first), without_rows(&first)),
        (vec![ok("ap")], vec![("cg", FaultCause::Solution)])
    );
    let second = run(&always, &plan, &options);
    assert_eq!(statuses(&second), [ok("ap"), ("cg".to_owned(), CaseStatus::Crashed)]);
    assert!(second.is_complete() && second.without_rows.is_empty());
}

#[test]
fn what_the_system_refuses_counts_only_where_other_cases_could_run() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let plan = plan(&["cg", "ap"]);
    let refused = |what: &str, _| what.starts_with("case").then(|| later_fault(FaultCause::Resources));
    for _ in 0..4 {
        let summary = run(&Scripted::new(refused), &plan, &options);
        assert!(statuses(&summary).is_empty() && summary.without_rows.len() == 2);
    }
    let one = |what: &str, _| (what == "case cg").then(|| later_fault(FaultCause::Resources));
    let ends: Vec<bool> = (0..3).map(|_| run(&Scripted::new(one), &plan, &options).is_complete()).collect();
    assert_eq!(ends, [false, false, true]);
}

#[test]
fn a_verification_that_is_killed_is_no_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let plan = plan(&["cg", "ap"]);
    let end = || Outcome::of(End::Signalled { signal: 9, memory_pressure: false });
    let always = Scripted::new(|what: &str, _| (what == "verify cg").then(end));
    for _ in 0..4 {
        let summary = run(&always, &plan, &options);
        assert_eq!(
            (statuses(&summary), without_rows(&summary)),
            (vec![ok("ap")], vec![("cg", FaultCause::Worker)])
        );
    }
    let once = Scripted::new(|what: &str, before| (what == "verify cg" && before == 0).then(end));
    assert!(run(&once, &plan, &options).is_complete());
}

#[test]
fn a_data_set_is_renewed_before_the_next_try() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let plan = plan(&["cg"]);
    let renewals = AtomicUsize::new(0);
    let damaged = |what: &str, _| {
        (what == "case cg" && renewals.load(Ordering::SeqCst) < 2).then(|| fault(FaultCause::Dataset))
    };
    let fails = |_: Planned<'_>| {
        renewals.fetch_add(1, Ordering::SeqCst);
        Err("the source is away".to_owned())
    };
    let (summary, _) = run_with(&Scripted::new(damaged), &plan, &options, &fails);
    assert_eq!(summary.without_rows[0].reason, "as told; the source is away");
    let renews = |_: Planned<'_>| {
        renewals.fetch_add(1, Ordering::SeqCst);
        Ok(())
    };
    let (summary, _) = run_with(&Scripted::new(damaged), &plan, &options, &renews);
    assert_eq!((statuses(&summary), renewals.into_inner()), (vec![ok("cg")], 2));
}

fn with_references(solvers: &[&str]) -> Plan {
    let mut plan = plan(solvers);
    for planned in &mut plan.file.cases {
        change(planned, |_, fingerprint| fingerprint.exact = true);
    }
    plan
}

#[test]
fn a_reference_that_cannot_be_read_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let cut = |what: &str, before| (what == "verify cg" && before == 0).then(|| fault(FaultCause::Reference));
    let executor = Scripted::new(cut);
    let summary = run(&executor, &with_references(&["cg", "ap"]), &options);
    assert_eq!(statuses(&summary), [ok("cg"), ok("ap")]);
    let made =
        ["exact draw", "case cg", "verify cg", "exact draw", "case cg", "verify cg", "case ap", "verify ap"];
    assert_eq!(executor.asked(), made);
    // One that is removed while the run goes on is made again too.
    let folder = tempfile::tempdir().unwrap();
    let options = self::options(folder.path());
    let cleans = |what: &str, _| {
        if what == "verify cg" {
            fs::remove_dir_all(options.cache_dir.join("exact")).unwrap();
        }
        None
    };
    let executor = Scripted::new(cleans);
    assert!(run(&executor, &with_references(&["cg", "ap"]), &options).is_complete());
    assert_eq!(executor.asked().iter().filter(|item| *item == "exact draw").count(), 2);
}

#[test]
fn no_row_lacks_its_exact_figures_for_a_fault() {
    let plan = with_references(&["cg", "ap"]);
    let signalled = || Outcome::of(End::Signalled { signal: 9, memory_pressure: false });
    let not_started = || Outcome::of(End::NotStarted { reason: "Too many open files (os error 24)".into() });
    let ends: [(&(dyn Fn() -> Outcome + Sync), FaultCause); 3] = [
        (&signalled, FaultCause::Worker),
        (&not_started, FaultCause::Resources),
        (&|| fault(FaultCause::Dataset), FaultCause::Dataset),
    ];
    for (end, cause) in ends {
        let folder = tempfile::tempdir().unwrap();
        let options = options(folder.path());
        let summary = run(&Scripted::new(|what: &str, _| (what == "exact draw").then(end)), &plan, &options);
        assert_eq!((rows(&summary).len(), without_rows(&summary)), (0, vec![("cg", cause), ("ap", cause)]));
        let repaired = Scripted::new(|_, _| None);
        assert!(run(&repaired, &plan, &options).is_complete());
        assert_eq!(repaired.asked()[0], "exact draw");
    }
    // A matrix that is singular is so on every day.
    let folder = tempfile::tempdir().unwrap();
    let failure = || Failure { status: CaseStatus::Invalid, reason: "singular".into() };
    let singular = |what: &str, _| (what == "exact draw").then(|| exited(vec![Message::Failed(failure())]));
    let (summary, events) = run_with(&Scripted::new(singular), &plan, &options(folder.path()), &|_| Ok(()));
    assert_eq!(statuses(&summary), [ok("cg"), ok("ap")]);
    let warnings =
        events.iter().filter(|event| matches!(event, Event::Warning(text) if text.contains("singular")));
    assert_eq!(warnings.count(), 1);
}

/// As a killed engine leaves it: the case is started and does not end.
fn start(folder: &Path, id: &str) {
    Attempts::open(folder).unwrap().start(id, None).unwrap();
}

#[test]
fn a_case_that_takes_the_engine_down_runs_last_and_has_its_row_after_three_times() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let plan = plan(&["killer", "cg", "ap"]);
    let killer = &plan.file.cases[0].id;
    // An attempt that was killed at its first case.
    let interrupted = Scripted::new(|_: &str, _| Some(Outcome::of(End::Interrupted)));
    let path = run(&interrupted, &plan, &options).folder;
    start(&path, killer);
    let executor =
        Scripted::new(|what: &str, _| (what == "case killer").then(|| Outcome::of(End::Interrupted)));
    let summary = run(&executor, &plan, &options);
    assert_eq!(executor.asked(), ["case cg", "verify cg", "case ap", "verify ap", "case killer"]);
    assert_eq!(statuses(&summary), [ok("cg"), ok("ap")], "an interrupted case is not blamed");
    start(&path, killer);
    assert!(!run(&executor, &plan, &options).is_complete());
    start(&path, killer);
    let summary = run(&executor, &plan, &options);
    let row = rows(&summary).pop().unwrap();
    assert_eq!((row.labels.solver.as_str(), row.status), ("killer", CaseStatus::Crashed));
    assert!(row.reason.contains("3 times"), "{}", row.reason);
    // One that is run again on request has its three times again.
    let retried = Scripted::new(|_, _| None);
    let summary = run(&retried, &plan, &RunOptions { retry_failed: true, ..options });
    assert_eq!(retried.asked(), ["case killer", "verify killer"]);
    assert!(summary.failures() == 0 && summary.is_complete());
}

/// A solve of 31 seconds during which the machine stood still for 30.
fn standstill(reason: StopReason) -> Outcome {
    standstill_of(31.0, reason)
}

/// A solve of so many seconds during which the machine stood still for 30.
fn standstill_of(seconds: f64, reason: StopReason) -> Outcome {
    let mut message = solved(reason, &[0.004, 0.009], 3.0);
    if let Message::Solved(solved) = &mut message {
        solved.solve.wall = seconds;
    }
    Outcome { stood_still: Some(30.0), ..exited(vec![Message::Loading, message]) }
}

#[test]
fn a_standstill_of_the_machine_is_no_verdict() {
    let timeout = || Failure { status: CaseStatus::Timeout, reason: "too long".into() };
    let failed = || Outcome { stood_still: Some(30.0), ..exited(vec![Message::Failed(timeout())]) };
    let ends: [&(dyn Fn() -> Outcome + Sync); 3] =
        [&|| standstill(StopReason::Time), &|| standstill(StopReason::Converged), &failed];
    for end in ends {
        let folder = tempfile::tempdir().unwrap();
        let once = Scripted::new(|what: &str, before| (what == "case cg" && before == 0).then(end));
        let summary = run(&once, &plan(&["cg"]), &options(folder.path()));
        assert_eq!(once.asked(), ["case cg", "case cg", "verify cg"]);
        assert_eq!(statuses(&summary), [ok("cg")]);
        assert_eq!(rows(&summary)[0].reason, "");
    }
}

#[test]
fn a_machine_that_stands_still_again_and_again_gives_no_verdict_by_time() {
    let folder = tempfile::tempdir().unwrap();
    let of_time = Scripted::new(|what: &str, _| (what == "case cg").then(|| standstill(StopReason::Time)));
    let summary = run(&of_time, &plan(&["cg", "ap"]), &options(folder.path()));
    assert_eq!(statuses(&summary), [ok("ap")]);
    assert_eq!(summary.without_rows[0].cause, FaultCause::Standstill);
    assert!(summary.without_rows[0].reason.contains("stood still for 30 s"));
    // What no time limit decided counts in the end, with a remark on its times.
    let folder = tempfile::tempdir().unwrap();
    let solved =
        Scripted::new(|what: &str, _| (what == "case cg").then(|| standstill(StopReason::Converged)));
    let summary = run(&solved, &plan(&["cg"]), &options(folder.path()));
    assert_eq!(solved.asked(), ["case cg", "case cg", "case cg", "verify cg"]);
    assert_eq!(statuses(&summary), [ok("cg")]);
    assert!(rows(&summary)[0].reason.ends_with("which its times include"), "{}", rows(&summary)[0].reason);
}

#[test]
fn a_short_standstill_of_a_long_solve_counts_with_a_remark() {
    let tries = |seconds: f64, reason: StopReason| {
        let folder = tempfile::tempdir().unwrap();
        let once = Scripted::new(move |what: &str, before| {
            (what == "case cg" && before == 0).then(|| standstill_of(seconds, reason))
        });
        let summary = run(&once, &plan(&["cg"]), &options(folder.path()));
        assert_eq!(statuses(&summary), [ok("cg")]);
        let remark = rows(&summary)[0].reason.clone();
        (once.asked().len() - 1, remark)
    };
    let remark = "the machine stood still for 30 s while it was solved, which its times include";
    assert_eq!(tries(3030.0, StopReason::Converged), (1, remark.to_owned()));
    assert_eq!(tries(2970.0, StopReason::Converged), (2, String::new()));
    assert_eq!(tries(3030.0, StopReason::Time), (2, String::new()));
}

#[test]
fn a_worker_that_ran_on_by_itself_has_its_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let ran = || Outcome {
        stood_still: Some(30.0),
        ..exited(vec![Message::Loading, solved(StopReason::Converged, &[0.004, 0.009], 3.0)])
    };
    let executor = Scripted::new(|what: &str, _| (what == "case cg").then(ran));
    let summary = run(&executor, &plan(&["cg"]), &options(folder.path()));
    assert_eq!(executor.asked(), ["case cg", "verify cg"]);
    assert_eq!(rows(&summary)[0].reason, "");
}
