//! `gpbench compare`: a run against another, against a baseline, bit for bit, and one solver against another.

use crate::support::{Ended, Sandbox, library, spec};
use serde_json::Value;

/// Runs the spec twice. Returns the folder of the first run.
fn two_runs(sandbox: &Sandbox) -> String {
    sandbox.write("pair.toml", &spec("pair", &[("seeds = [0]", "seeds = [0]\nrepeats = 2")]));
    let [first, second] = [(); 2].map(|()| {
        sandbox.run(&["run", "pair.toml", "--fresh"]).exits(0);
        std::fs::canonicalize(sandbox.path("reports/pair/latest")).expect("a run")
    });
    assert_ne!(first, second);
    first.to_string_lossy().into_owned()
}

/// Changes the rows of one solver in the journal of a run, and removes all checksums.
fn edit(folder: &str, solver: &str, change: impl Fn(&mut Value)) {
    let journal = format!("{folder}/journal.jsonl");
    let text = std::fs::read_to_string(&journal).expect("a journal");
    let changed = text.lines().map(|line| {
        let mut row: Value = serde_json::from_str(line).expect("a row");
        row.as_object_mut().expect("a row is an object").remove("check");
        if row["labels"]["solver"] == solver {
            change(&mut row);
        }
        format!("{row}\n")
    });
    std::fs::write(&journal, changed.collect::<String>()).expect("a writable journal");
}

/// Multiplies a metric of a row.
fn scale(metric: &str, factor: f64) -> impl Fn(&mut Value) + use<'_> {
    move |row| {
        let value = row["metrics"][metric].as_f64().expect("a metric");
        row["metrics"][metric] = (factor * value).into();
    }
}

#[test]
fn a_run_is_checked_against_another_against_a_baseline_and_against_itself() {
    let sandbox = Sandbox::new();
    let first = two_runs(&sandbox);
    sandbox.run(&["compare", &first, "latest"]).exits(0).prints(&[
        "2 cases matched, ",
        ": 0 failing",
        // Two repeats are too few to compare times.
        "seconds of 2 of 2 solvers were not compared: 2 repeats",
    ]);

    // A smaller error in the first run makes the second one worse.
    edit(&first, "cg", scale("test_rmse", 1.0 / 1.01));
    let page = sandbox.path("page.md");
    let mut command = sandbox.command(&["compare", &first, "latest", "--format", "json", "--step-summary"]);
    let answer = Ended::of(command.env("GITHUB_STEP_SUMMARY", &page)).exits(3).json();
    assert_eq!(answer["check"]["failing"], 1);
    let verdict = &answer["check"]["verdicts"][0];
    assert_eq!((&verdict["verdict"], &verdict["solver"]), (&"regressed".into(), &"cg".into()));
    assert_eq!((&verdict["metric"], &verdict["seed"]), (&"test_rmse".into(), &0.into()));
    let page = sandbox.read("page.md");
    assert!(page.starts_with("### gpbench compare ") && page.contains(": regressed\n"), "{page}");
    assert!(page.contains("| regressed | draw/matern32/pathwise/cg/seed 0 | test_rmse |"), "{page}");

    // Filtered cases are not compared; where nothing can be compared, the exit code says so.
    sandbox.run(&["compare", &first, "latest", "-s", "cholesky"]).exits(0);
    sandbox.run(&["compare", &first, "latest", "-s", "sgd"]).exits(4);
    sandbox.run(&["compare", &first]).exits(4);
    sandbox.run(&["compare", "latest", "--between", "cg,sgd"]).exits(4);
    sandbox.run(&["compare", "latest", "--between", "cg"]).exits(2);
    let mut no_page = sandbox.command(&["compare", &first, "latest", "--step-summary"]);
    Ended::of(no_page.env_remove("GITHUB_STEP_SUMMARY")).exits(2);

    // Exact against iterative, in one run: the residual is much larger.
    let ended = sandbox.run(&["compare", "latest", "--between", "cholesky,cg", "--format", "md"]);
    ended.exits(3).prints(&["| regressed | draw/matern32/pathwise/cholesky → cg/seed 0 | residual_y |"]);
}

#[test]
fn a_check_uses_an_earlier_run_as_its_baseline() {
    let sandbox = Sandbox::new();
    let first = two_runs(&sandbox);
    sandbox.run(&["check", "pair.toml", "--baseline", &first]).exits(0);
    sandbox.run(&["check", "pair.toml", "--baseline", &first, "--update"]).exits(2);
    edit(&first, "cg", scale("residual_y", 0.5));
    sandbox.run(&["check", "pair.toml", "--baseline", &first, "-s", "cg"]).exits(3).prints(&["residual_y"]);

    // A baseline file for an existing run.
    sandbox.run(&["check", "pair.toml", "--update"]).exits(0);
    sandbox.run(&["compare", "latest", "--baseline", "baselines/pair.toml"]).exits(0);
    let ended = sandbox.run(&["compare", &first, "--baseline", "baselines/pair.toml", "--format", "json"]);
    assert_eq!(ended.json()["matched"], 2);
    sandbox.run(&["compare", &first, "latest", "--baseline", "baselines/pair.toml"]).exits(2);
}

#[test]
fn an_exact_comparison_lists_each_value_that_differs() {
    let sandbox = Sandbox::new();
    let first = two_runs(&sandbox);
    let exact = ["compare", &first, "latest", "--exact"];
    sandbox.run(&exact).exits(0).prints(&["4 cases, ", ": 0 differ"]);

    // Seconds may differ.
    edit(&first, "cg", |row| row["metrics"]["seconds_solve"] = 1000.0.into());
    sandbox.run(&exact).exits(0);
    // One bit of a metric may not, nor may a status.
    edit(&first, "cg", |row| {
        let value = row["metrics"]["test_rmse"].as_f64().expect("a metric");
        row["metrics"]["test_rmse"] = f64::from_bits(value.to_bits() + 1).into();
    });
    edit(&first, "cholesky", |row| row["status"] = "not_converged".into());
    let ended = sandbox.run(&exact).exits(3);
    let ended =
        ended.prints(&["draw/matern32/pathwise/cg/seed 0/repeat 1", "metrics/test_rmse", "not_converged"]);
    assert!(ended.stdout.contains(": 4 differ"), "{}", ended.stdout);
    let json = sandbox.run(&[&exact[..], &["--format", "json"]].concat()).exits(3).json();
    assert_eq!((&json["schema"], &json["agree"]), (&1.into(), &false.into()));

    // A run without common cases, a single run, and options that do not fit.
    sandbox.run(&[&exact[..], &["-s", "cholesky,cg", "-d", "none"]].concat()).exits(4);
    sandbox.run(&["compare", &first, "--exact"]).exits(2);
    sandbox.run(&[&exact[..], &["--baseline", "file.toml"]].concat()).exits(2);
}

/// A learner with two learning rates on the rows that the solvers' spec draws.
const LEARNERS: &str = r#"schema = 1
name = "learners"
task = "learn"
seeds = [0]

[matrix]
dataset = ["draw"]
kernel = ["rbf"]
solver = ["scgd"]

[dataset.draw]
from = "gp-draw"
n = 60
d = 2

[learn]
epochs = 2

[solver.scgd]
params = { features = 20, batch = 10, learning_rate = { grid = [0.1, 0.3] } }
"#;

#[test]
fn learners_stand_beside_solvers() {
    library("gpbench_plugin_scgd");
    let sandbox = Sandbox::new();
    sandbox.write("pair.toml", &spec("pair", &[]));
    sandbox.run(&["run", "pair.toml"]).exits(0);
    sandbox.write("learners.toml", LEARNERS);
    // Random features of an RBF kernel on the inputs: no network is needed.
    sandbox.run(&["run", "learners.toml"]).exits(0);
    let ended = sandbox.run(&["compare", "pair", "learners"]).exits(0);
    ended.prints(&["test RMSE", "test NLL", "cholesky", "scgd"]);
    let json = sandbox.run(&["compare", "pair", "learners", "--format", "json"]).exits(0).json();
    assert_eq!(json["runs"], serde_json::json!(["pair", "learners"]));
    let rows = json["rows"].as_array().expect("rows");
    let solvers: Vec<_> = rows.iter().map(|row| (&row["solver"], &row["run"])).collect();
    assert!(solvers.contains(&(&"cg".into(), &0.into())) && solvers.contains(&(&"scgd".into(), &1.into())));
    assert!(
        rows.iter().all(|row| row["means"]["test_rmse"].is_number() && row["means"]["test_nll"].is_number())
    );
    sandbox.run(&["compare", "pair", "learners", "--format", "md"]).exits(0).prints(&["| scgd |"]);
    sandbox.run(&["compare", "learners", "pair", "--format", "csv"]).exits(0);

    // Learners of one run, and of two runs of one spec, are compared as solvers are.
    let points = "scgd@learning_rate=0.1,scgd@learning_rate=0.3";
    sandbox.run(&["compare", "learners", "--between", points]).prints(&["→", "NLML"]);
    let ended = sandbox.run(&["compare", "learners", "--between", "scgd@learning_rate=0.1,bsgd"]).exits(4);
    ended.says(&["no case of the learner `bsgd`"]);
    let first = std::fs::canonicalize(sandbox.path("reports/learners/latest")).expect("a run");
    sandbox.run(&["run", "learners.toml", "--fresh"]).exits(0);
    let first = first.to_string_lossy().into_owned();
    sandbox.run(&["compare", &first, "learners", "--exact"]).exits(0);
    let ended = sandbox.run(&["compare", &first, "learners"]).exits(0);
    ended.prints(&["2 cases matched", "0 failing", "of 2 learners were not compared"]);
    // The name of a grid stands for all of its points, and beside another learner for the chosen one.
    sandbox.run(&["compare", &first, "learners", "-s", "scgd"]).exits(0).prints(&["2 cases matched"]);
    let point = "scgd@learning_rate=0.3";
    sandbox.run(&["compare", &first, "learners", "-s", point]).exits(0).prints(&["1 cases matched"]);
    sandbox.run(&["compare", &first, "learners", "-s", "sc"]).exits(4);
    sandbox.run(&["compare", "learners", "--between", "scgd,scgd"]).exits(0).prints(&["scgd → scgd"]);
    // A check of learners, against a baseline and against a run of solvers.
    sandbox.run(&["check", "learners.toml", "--update"]).exits(0);
    sandbox.run(&["check", "learners.toml"]).exits(0).prints(&["2 cases matched"]);
    sandbox.run(&["check", "learners.toml", "-s", "scgd"]).exits(0).prints(&["2 cases matched"]);
    sandbox.run(&["check", "learners.toml", "-s", point]).exits(0).prints(&["1 cases matched"]);
    let solvers = sandbox.path("reports/pair/latest").to_string_lossy().into_owned();
    let ended = sandbox.run(&["check", "learners.toml", "--baseline", &solvers]).exits(4);
    ended.prints(&["the task is learn here and posterior in the earlier run"]);

    // Targets in other units are not compared.
    let raw = LEARNERS.replace("\"learners\"", "\"raw\"").replace("d = 2", "d = 2\ntargets = \"centred\"");
    sandbox.write("raw.toml", &raw);
    sandbox.run(&["run", "raw.toml"]).exits(0);
    sandbox.run(&["compare", "pair", "raw"]).exits(4).says(&["the runs differ in its scaling of targets"]);
}
