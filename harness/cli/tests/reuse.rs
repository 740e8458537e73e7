//! Finished cases are re-used by other runs: only what is new in a spec runs.

use std::fs;

use crate::support::{Ended, Sandbox, library, reproducible, spec};

/// How many cases a run has run: the others have no line.
fn ran(ended: &Ended) -> usize {
    ended.stderr.lines().filter(|line| line.starts_with('[')).count()
}

/// A spec of two solvers, `cholesky` and `cg`, on one seed.
fn sandbox() -> Sandbox {
    Sandbox::with_spec(&spec("reuse", &[]))
}

#[test]
fn a_new_seed_and_a_new_solver_run_alone_and_the_report_is_that_of_an_unbroken_run() {
    let whole = sandbox();
    whole.run(&["run", "spec.toml", "--set", "seeds=[0, 1]"]).exits(0);

    let broken = sandbox();
    assert_eq!(ran(&broken.run(&["run", "spec.toml", "-s", "cg"]).exits(0)), 1);
    assert_eq!(ran(&broken.run(&["run", "spec.toml"]).exits(0)), 1);
    let last = broken.run(&["run", "spec.toml", "--set", "seeds=[0, 1]"]).exits(0);
    assert_eq!(ran(&last), 2);
    assert!(last.stderr.contains("2 as there, 2 added"), "{}", last.stderr);
    assert!(last.stderr.contains("finished cases re-used from earlier runs: 2"), "{}", last.stderr);

    let (expected, found) = (whole.sorted_cases(), broken.sorted_cases());
    assert_eq!((expected.len(), found.len()), (4, 4));
    for (a, b) in expected.iter().zip(&found) {
        assert_eq!((&a["id"], &a["status"]), (&b["id"], &b["status"]));
        assert_eq!(reproducible(a), reproducible(b));
    }
    assert_eq!(found.iter().filter(|case| case["reused_from"].is_string()).count(), 2);
    let report = broken.read("reports/reuse/latest/report.md");
    assert!(report.contains("re-used: 2 of 4 cases ran in earlier runs: reuse/"), "{report}");
    assert!(!whole.read("reports/reuse/latest/report.md").contains("re-used"));
}

#[test]
fn an_edited_plugin_runs_its_own_cases_alone() {
    let entry = |solver: &str| format!("[solver.{solver}]\nlibrary = \"{solver}.so\"\n\n[budget]");
    let both = format!("{}\n", entry("cg")).replace("[budget]", &entry("cholesky"));
    let sandbox = Sandbox::with_spec(&spec("reuse", &[("[budget]", both.trim_end())]));
    for solver in ["cg", "cholesky"] {
        let copy = sandbox.path(&format!("{solver}.so"));
        fs::copy(library(&format!("gpbench_plugin_{solver}")), copy).expect("a copy");
    }
    assert_eq!(ran(&sandbox.run(&["run", "spec.toml"]).exits(0)), 2);
    // As after another build: other bytes, the same code.
    let mut bytes = fs::read(sandbox.path("cg.so")).expect("a library");
    bytes.push(0);
    fs::remove_file(sandbox.path("cg.so")).expect("a library");
    fs::write(sandbox.path("cg.so"), bytes).expect("a writable folder");
    let edited = sandbox.run(&["run", "spec.toml"]).exits(0);
    assert_eq!(ran(&edited), 1);
    assert!(edited.stderr.contains("1 as there, 1 changed"), "{}", edited.stderr);
}

#[test]
fn exact_figures_are_part_of_a_case() {
    let sandbox = sandbox();
    sandbox.run(&["run", "spec.toml", "--exact-limit", "10"]).exits(0);
    assert!(sandbox.cases()[0]["metrics"]["rmse_to_exact"].is_null());
    assert_eq!(ran(&sandbox.run(&["run", "spec.toml"]).exits(0)), 2);
    assert!(sandbox.cases()[0]["metrics"]["rmse_to_exact"].is_number());
    // Another limit above the number of rows asks for the same figures.
    assert_eq!(ran(&sandbox.run(&["run", "spec.toml", "--exact-limit", "500"]).exits(0)), 0);
}

#[test]
fn checks_fresh_runs_and_cleaned_stores_take_nothing() {
    let sandbox = sandbox();
    sandbox.run(&["run", "spec.toml"]).exits(0);
    assert_eq!(ran(&sandbox.run(&["run", "spec.toml", "--fresh"]).exits(0)), 2);
    let checked = sandbox.run(&["check", "spec.toml", "--update", "--baseline", "new.toml"]).exits(0);
    assert_eq!(ran(&checked), 2);
    sandbox.run(&["clean"]).exits(0).prints(&[".finished"]);
    assert_eq!(ran(&sandbox.run(&["run", "spec.toml", "-s", "cg"]).exits(0)), 1);
}

#[test]
fn other_threads_run_again_unless_the_user_takes_any() {
    let sandbox = sandbox();
    sandbox.run(&["run", "spec.toml", "-t", "2", "-j", "2"]).exits(0);
    let again = sandbox.run(&["run", "spec.toml", "-t", "1", "-s", "cg"]).exits(0);
    assert_eq!(ran(&again), 1);
    assert!(again.stderr.contains("of another environment (jobs), which run again: 1"), "{}", again.stderr);
    let any = sandbox.run(&["run", "spec.toml", "-t", "1", "--reuse", "any"]).exits(0);
    assert_eq!(ran(&any), 0);
}
