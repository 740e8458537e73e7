//! A single case, of which nothing is stored.

use gpbench_engine::{Engine, Interrupt, RunOptions, SingleCase};
use gpbench_record::CaseStatus;
use tempfile::tempdir;

use crate::support::{Mock, Noon, change, options, plan_of, planned};

#[test]
fn a_trial_has_the_limits_of_a_run_and_leaves_no_run() {
    let folder = tempdir().unwrap();
    let mut entry = planned("cg", 0);
    change(&mut entry, |case, _| case.budget.seconds = Some(3.0));
    let plan = plan_of([entry]);
    let executor = Mock::default();
    let engine = Engine {
        executor: &executor,
        clock: &Noon,
        interrupt: Interrupt::default(),
        renew_dataset: &|_| Ok(()),
    };
    let options =
        RunOptions { memory_bytes: Some(1 << 30), cpu_seconds: Some(90.0), ..options(folder.path()) };
    let own = folder.path().join("trial");
    let ended = engine.trial(&[], plan.planned(0), &own, &options, &|_| {}).unwrap();
    let SingleCase::Row(row) = ended else { panic!("{ended:?}") };
    assert_eq!((row.status, row.id.as_str()), (CaseStatus::Ok, plan.file.cases[0].id.as_str()));
    assert_eq!(executor.asked(), ["case cg", "verify cg"]);
    let jobs = executor.jobs.lock().unwrap();
    let limits = jobs["cg"].limits;
    assert_eq!((limits.kill_after_seconds, limits.memory_bytes), (Some(11.0), Some(1 << 30)));
    assert_eq!(limits.cpu_seconds, Some(90.0));
    assert!(jobs["cg"].solution_file.starts_with(&own));
    assert!(!options.output_dir.exists());
}

#[test]
fn an_interrupted_trial_has_no_row() {
    let folder = tempdir().unwrap();
    let plan = plan_of([planned("interrupted", 0)]);
    let executor = Mock::default();
    let engine = Engine {
        executor: &executor,
        clock: &Noon,
        interrupt: Interrupt::default(),
        renew_dataset: &|_| Ok(()),
    };
    let ended = engine.trial(&[], plan.planned(0), folder.path(), &options(folder.path()), &|_| {}).unwrap();
    assert!(matches!(ended, SingleCase::Unfinished), "{ended:?}");
    assert_eq!(engine.interrupt.signal(), Some(2));
}
