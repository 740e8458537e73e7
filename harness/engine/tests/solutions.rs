//! Solutions that are kept, and verified again.

use std::fs;
use std::path::Path;

use gpbench_engine::{Engine, Interrupt, Recomputed, RunOptions};
use gpbench_record::{TaskKind, TaskOutput, names};
use tempfile::tempdir;

use crate::support::{Mock, Noon, options, plan, run};

/// The names of the solutions that a run folder keeps.
fn kept(folder: &Path) -> Vec<String> {
    gpbench_runs::kept_solutions(folder).into_keys().collect()
}

#[test]
fn as_many_solutions_are_kept_as_are_asked_for() {
    let folder = tempdir().unwrap();
    let plan = plan(&["cg", "ap", "writes"]);
    let mut ids: Vec<&str> = plan.file.ids().collect();
    ids.sort_unstable();
    let (executor, options) = (Mock { writes_solutions: true, ..Mock::default() }, options(folder.path()));
    let without = run(&executor, &plan, &options).unwrap().0;
    assert_eq!(kept(&without.folder), [""; 0]);
    let options = RunOptions { keep_solutions: 2, ..options };
    let fresh = run(&executor, &plan, &RunOptions { fresh: true, ..options.clone() }).unwrap().0;
    assert_eq!(kept(&fresh.folder), ids[..2]);
    // Nothing of a row that is taken from the store can be kept, so that these cases run.
    fs::remove_dir_all(&fresh.folder).unwrap();
    fs::remove_dir_all(&without.folder).unwrap();
    executor.asked.lock().unwrap().clear();
    let again = run(&executor, &plan, &options).unwrap().0;
    assert_eq!((kept(&again.folder), again.ran), (ids[..2].iter().map(|id| (*id).to_owned()).collect(), 2));
}

#[test]
fn a_solution_is_verified_without_its_plugin() {
    let folder = tempdir().unwrap();
    let mut plan = plan(&["cg"]);
    plan.files[0].plugin_file = "gone.so".into();
    let executor = Mock::default();
    let engine = Engine {
        executor: &executor,
        clock: &Noon,
        interrupt: Interrupt::default(),
        renew_dataset: &|_| Ok(()),
    };
    let (output, options) = (TaskOutput::empty(TaskKind::Posterior), options(folder.path()));
    let solution = folder.path().join("cg.safetensors");
    let found =
        engine.recompute(plan.planned(0), &output, &solution, folder.path(), &options, &|_| {}).unwrap();
    let Recomputed::Verified(verified) = found else { panic!("{found:?}") };
    assert_eq!(verified.metrics.get(names::RESIDUAL_Y), Some(0.005));
    assert_eq!(executor.asked(), ["verify cg"]);
}
