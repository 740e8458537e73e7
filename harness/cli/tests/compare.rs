//! `gpbench compare`: one run against another, against a baseline, and one solver of a run against another.

mod support;

use serde_json::Value;
use support::Bench;

const SPEC: &str = r#"schema = 1
name = "pair"
task = "posterior"
seeds = [0]
repeats = 2

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

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// Runs the spec twice and gives the folder of the first run.
fn two_runs(bench: &Bench) -> String {
    bench.write("pair.toml", SPEC);
    let mut folders = Vec::new();
    for _ in 0..2 {
        let ended = bench.run(&["run", "pair.toml", "--fresh"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        folders.push(std::fs::canonicalize(bench.path("reports/pair/latest")).expect("a run"));
    }
    assert_ne!(folders[0], folders[1]);
    folders[0].to_string_lossy().into_owned()
}

/// Multiplies a metric of one solver by a factor in the journal of a run.
fn spoil(folder: &str, solver: &str, metric: &str, factor: f64) {
    let journal = format!("{folder}/journal.jsonl");
    let text = std::fs::read_to_string(&journal).expect("a journal");
    let changed = text.lines().map(|line| {
        let mut row = json(line);
        if row["labels"]["solver"] == solver {
            let value = row["metrics"][metric].as_f64().expect("a metric");
            row["metrics"][metric] = (factor * value).into();
        }
        format!("{row}\n")
    });
    std::fs::write(&journal, changed.collect::<String>()).expect("a journal can be written");
}

#[test]
fn a_run_is_judged_by_another_by_a_baseline_and_by_itself() {
    let bench = Bench::new();
    let first = two_runs(&bench);
    let ended = bench.run(&["compare", &first, "latest"]);
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    assert!(
        ended.stdout.contains("2 cases matched, ") && ended.stdout.contains(": 0 failing"),
        "{}",
        ended.stdout
    );
    // Two repeats on whatever machine this is are no grounds to judge times on.
    assert!(
        ended.stdout.contains("seconds of 2 of 2 solvers were not judged: 2 repeats"),
        "{}",
        ended.stdout
    );

    // A smaller error in the first run makes the second one worse.
    spoil(&first, "cg", "test_rmse", 1.0 / 1.01);
    let page = bench.path("page.md");
    let mut command = bench.command(&["compare", &first, "latest", "--format", "json", "--step-summary"]);
    let output = command.env("GITHUB_STEP_SUMMARY", &page).output().expect("the program starts");
    let answer = json(&String::from_utf8_lossy(&output.stdout));
    assert_eq!((output.status.code(), &answer["check"]["failing"]), (Some(3), &1.into()));
    let verdict = &answer["check"]["verdicts"][0];
    assert_eq!((&verdict["verdict"], &verdict["solver"]), (&"regressed".into(), &"cg".into()));
    assert_eq!((&verdict["metric"], &verdict["seed"]), (&"test_rmse".into(), &0.into()));
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.starts_with("### gpbench compare ") && page.contains(": regressed\n"), "{page}");
    assert!(page.contains("| regressed | draw/rbf/pathwise/cg/seed 0 | test_rmse |"), "{page}");

    // What was not asked for is not judged; what cannot be judged is said.
    assert_eq!(bench.run(&["compare", &first, "latest", "-s", "cholesky"]).code, 0);
    assert_eq!(bench.run(&["compare", &first, "latest", "-s", "sgd"]).code, 4);
    assert_eq!(bench.run(&["compare", &first]).code, 4);
    assert_eq!(bench.run(&["compare", "latest", "--between", "cg,sgd"]).code, 4);
    assert_eq!(bench.run(&["compare", "latest", "--between", "cg"]).code, 2);
    let nowhere = bench
        .command(&["compare", &first, "latest", "--step-summary"])
        .env_remove("GITHUB_STEP_SUMMARY")
        .output();
    assert_eq!(nowhere.expect("the program starts").status.code(), Some(2));

    // Exact against iterative, in one run: the residual is larger by far, and said to be.
    let ended = bench.run(&["compare", "latest", "--between", "cholesky,cg", "--format", "md"]);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(
        ended.stdout.contains("| regressed | draw/rbf/pathwise/cholesky → cg/seed 0 | residual_y |"),
        "{}",
        ended.stdout
    );
}

#[test]
fn a_check_takes_an_earlier_run_for_its_baseline() {
    let bench = Bench::new();
    let first = two_runs(&bench);
    let ended = bench.run(&["check", "pair.toml", "--baseline", &first]);
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    assert_eq!(bench.run(&["check", "pair.toml", "--baseline", &first, "--update"]).code, 2);
    spoil(&first, "cg", "residual_y", 0.5);
    let ended = bench.run(&["check", "pair.toml", "--baseline", &first, "-s", "cg"]);
    assert_eq!(ended.code, 3, "{}", ended.stdout);
    assert!(ended.stdout.contains("residual_y"), "{}", ended.stdout);

    // A baseline file for a run that is there already.
    assert_eq!(bench.run(&["check", "pair.toml", "--update"]).code, 0);
    let ended = bench.run(&["compare", "latest", "--baseline", "baselines/pair.toml"]);
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    let ended = bench.run(&["compare", &first, "--baseline", "baselines/pair.toml", "--format", "json"]);
    assert_eq!(json(&ended.stdout)["matched"], 2);
    assert_eq!(bench.run(&["compare", &first, "latest", "--baseline", "baselines/pair.toml"]).code, 2);
}
