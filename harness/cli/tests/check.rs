//! `gpbench check`: a baseline is written, kept to, and missed.

mod support;

use serde_json::Value;
use support::Bench;

const SPEC: &str = r#"schema = 1
name = "gate"
task = "posterior"
seeds = [0]

[matrix]
dataset = ["draw"]
kernel = ["rbf"]
estimator = ["pathwise"]
solver = ["cholesky", "cg"]

[dataset.draw]
from = "gp-draw"
n = 60
d = 2

[kernel.rbf]
hyperparameters = "ones"

[estimator.pathwise]
probes = 2
features = 20

[budget]
tolerance = 0.01
"#;

const BASELINE: &str = "baselines/gate.toml";

/// A folder with the spec and a baseline of it.
fn gate() -> Bench {
    let bench = Bench::new();
    bench.write("gate.toml", SPEC);
    assert_eq!(bench.run(&["check", "gate.toml"]).code, 4, "there is no baseline yet");
    let ended = bench.run(&["check", "gate.toml", "--update"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    bench
}

/// Edits the baseline.
fn edit(bench: &Bench, change: impl FnOnce(String) -> String) {
    let text = std::fs::read_to_string(bench.path(BASELINE)).expect("a baseline");
    bench.write(BASELINE, &change(text));
}

#[test]
fn an_unchanged_program_passes_whole_and_in_part() {
    let bench = gate();
    let ended = bench.run(&["check", "gate.toml"]);
    assert_eq!((ended.code, ended.stdout.lines().count()), (0, 1), "{}", ended.stdout);
    // What was not asked for is not missing, and cannot be written away.
    assert_eq!(bench.run(&["check", "gate.toml", "-s", "cg"]).code, 0);
    assert_eq!(bench.run(&["check", "gate.toml", "-s", "cg", "--update"]).code, 2);
}

#[test]
fn what_regressed_or_is_missing_is_named() {
    let bench = gate();
    edit(&bench, |text| text.replace("epochs = 1.0", "epochs = -5.0") + &a_case("sgd"));
    let ended = bench.run(&["check", "gate.toml", "--format", "json"]);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    let json: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!((&json["schema"], &json["failing"]), (&1.into(), &2.into()));
    let said = |k: usize, key: &str| json["verdicts"][k][key].clone();
    assert_eq!((said(0, "verdict"), said(0, "solver")), ("regressed".into(), "cholesky".into()));
    assert_eq!((said(0, "metric"), said(0, "value")), ("epochs".into(), 1.0.into()));
    assert_eq!((said(1, "verdict"), said(1, "solver")), ("missing".into(), "sgd".into()));
}

#[test]
fn a_case_that_newly_fails_is_named() {
    let bench = gate();
    let ended = bench.run(&["check", "gate.toml", "--set", "solver.cg.params.max_iterations=1"]);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(ended.stdout.contains("newly failed  draw/rbf/pathwise/cg/seed 0"), "{}", ended.stdout);
}

fn a_case(solver: &str) -> String {
    format!(
        "\n[[case]]\ndataset = \"draw\"\nkernel = \"rbf\"\nestimator = \"pathwise\"\n\
         solver = \"{solver}\"\nseed = 0\nstatus = \"ok\"\nmetrics = {{ test_rmse = 1.0 }}\n"
    )
}
