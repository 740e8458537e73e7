//! `gpbench check`: a baseline is written, kept, and missed.

use crate::support::{Sandbox, spec};

const BASELINE: &str = "baselines/spec.toml";

/// A folder with the spec and its baseline.
fn with_baseline() -> Sandbox {
    let sandbox = Sandbox::with_spec(&spec("gate", &[]));
    sandbox.run(&["check", "spec.toml"]).exits(4);
    sandbox.run(&["check", "spec.toml", "--update"]).exits(0);
    sandbox
}

#[test]
fn an_unchanged_program_passes_in_whole_and_in_part() {
    let sandbox = with_baseline();
    let ended = sandbox.run(&["check", "spec.toml"]).exits(0);
    assert_eq!(ended.stdout.lines().count(), 2, "{}", ended.stdout);
    ended.prints(&["the baseline holds no seconds, so none were compared"]);
    // A filtered case is not missing, and a baseline is not written in part.
    sandbox.run(&["check", "spec.toml", "-s", "cg"]).exits(0);
    sandbox.run(&["check", "spec.toml", "-s", "cg", "--update"]).exits(2);
}

#[test]
fn regressions_and_missing_cases_are_named() {
    let sandbox = with_baseline();
    let missing = "\n[[case]]\ndataset = \"draw\"\nkernel = \"matern32\"\nestimator = \"pathwise\"\nsolver = \"sgd\"\n\
                   seed = 0\nstatus = \"ok\"\nmetrics = { test_rmse = 1.0 }\n";
    let text = sandbox.read(BASELINE).replace("epochs = 1.0", "epochs = -5.0") + missing;
    sandbox.write(BASELINE, &text);
    let json = sandbox.run(&["check", "spec.toml", "--format", "json"]).exits(3).json();
    assert_eq!((&json["schema"], &json["failing"]), (&1.into(), &2.into()));
    let said = |k: usize, key: &str| json["verdicts"][k][key].clone();
    assert_eq!((said(0, "verdict"), said(0, "solver")), ("regressed".into(), "cholesky".into()));
    assert_eq!((said(0, "metric"), said(0, "value")), ("epochs".into(), 1.0.into()));
    assert_eq!((said(1, "verdict"), said(1, "solver")), ("missing".into(), "sgd".into()));
}

#[test]
fn a_newly_failing_case_is_named() {
    let ended = with_baseline().run(&["check", "spec.toml", "--set", "solver.cg.params.max_iterations=1"]);
    ended.exits(3).prints(&["newly failed  draw/matern32/pathwise/cg/seed 0"]);
}

#[test]
fn a_packed_run_is_a_baseline_as_its_folder_is() {
    let sandbox = Sandbox::with_spec(&spec("gate", &[]));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    sandbox.run(&["pack", "gate", "-o", "a.gpbench"]).exits(0);
    let folder = std::fs::canonicalize(sandbox.path("reports/gate/latest")).expect("a run");
    let baselines = ["a.gpbench", folder.to_str().expect("UTF-8")];
    let check = |baseline: &str, more: &[&str]| {
        let args = ["check", "spec.toml", "--baseline", baseline, "--allow-undecided"];
        sandbox.run(&[&args[..], more].concat())
    };
    for baseline in baselines {
        let answer = check(baseline, &["--format", "json"]).exits(0).json();
        assert_eq!((&answer["matched"], &answer["failing"]), (&2.into(), &0.into()), "{baseline}");
    }
    sandbox.run(&["compare", "a.gpbench", "gate", "--allow-undecided"]).exits(0);
    let failing = |baseline: &str| {
        let ended = check(baseline, &["--set", "solver.cg.params.max_iterations=1"]);
        (ended.code, ended.stdout.contains("cg/seed 0"))
    };
    assert_eq!(failing(baselines[0]), failing(baselines[1]));
    let update = check("a.gpbench", &["--update"]).exits(2);
    update.says(&["`--update` writes a baseline file, and a run is given"]);
    let history = check("a.gpbench", &["--history", "h.toml"]).exits(2);
    history.says(&["`--history` goes with a baseline file, and a run is given"]);
    let compare = sandbox.run(&["compare", "gate", "--baseline", "a.gpbench"]).exits(2);
    compare
        .says(&["a.gpbench is a packed run, and no baseline file; `gpbench compare a.gpbench RUN` checks"]);
    sandbox.write("bad.gpbench", "nothing");
    check("bad.gpbench", &[]).exits(2).says(&["bad.gpbench: it is no packed run"]);
    check("none.gpbench", &[]).exits(4).says(&["there is no baseline none.gpbench"]);
}
