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
    // Two repeats are too few to compare times.
    let few = "seconds of 2 of 2 solvers are undecided: 2 repeats of 1 seed cannot tell a change from chance; set `repeats = 6`";
    let ended = sandbox.run(&["compare", &first, "latest"]).exits(3);
    let changes = "change: last / first (×) or last − first, seed by seed";
    ended.prints(&["2 cases matched, ", ": 2 failing (2 undecided)", few, changes]);
    let allowed = ["compare", &first, "latest", "--allow-undecided"];
    sandbox.run(&allowed).exits(0).prints(&["2 cases matched, ", ": 0 failing", few]);
    let told = ["compares the last run with the first, seed by seed", "no interval: 1 seed."];
    sandbox.run(&[&allowed[..], &["--format", "md"]].concat()).exits(0).prints(&told);

    // A smaller error in the first run makes the second one worse.
    edit(&first, "cg", scale("test_rmse", 1.0 / 1.01));
    let page = sandbox.path("page.md");
    let mut command = sandbox.command(&[&allowed[..], &["--format", "json", "--step-summary"]].concat());
    let answer = Ended::of(command.env("GITHUB_STEP_SUMMARY", &page)).exits(3).json();
    assert_eq!(answer["check"]["failing"], 1);
    let verdict = &answer["check"]["verdicts"][0];
    assert_eq!((&verdict["verdict"], &verdict["solver"]), (&"regressed".into(), &"cg".into()));
    assert_eq!((&verdict["metric"], &verdict["seed"]), (&"test_rmse".into(), &0.into()));
    let page = sandbox.read("page.md");
    assert!(page.starts_with("### gpbench compare ") && page.contains(": regressed\n"), "{page}");
    assert!(page.contains("| regressed | draw/matern32/pathwise/cg/seed 0 | test_rmse |"), "{page}");

    // Filtered cases are not compared; where nothing can be compared, the exit code says so.
    sandbox.run(&[&allowed[..], &["-s", "cholesky"]].concat()).exits(0);
    sandbox.run(&["compare", &first, "latest", "-s", "sgd"]).exits(4);
    sandbox.run(&["compare", &first]).exits(4);
    sandbox.run(&["compare", "latest", "--between", "cg,sgd"]).exits(4);
    sandbox.run(&["compare", "latest", "--between", "cg"]).exits(2);
    let mut no_page = sandbox.command(&["compare", &first, "latest", "--step-summary"]);
    Ended::of(no_page.env_remove("GITHUB_STEP_SUMMARY")).exits(2);

    // Within one run nothing regresses, and there is no earlier run.
    let ended = sandbox.run(&["compare", "latest", "--between", "cholesky,cg", "--format", "md"]).exits(0);
    assert!(!ended.stdout.contains("regress") && !ended.stdout.contains("earlier"), "{}", ended.stdout);
    let page = ["compare", "latest", "--between", "cholesky,cg", "--step-summary"];
    sandbox.run(&page).exits(2).says(&["cannot be used with"]);
}

#[test]
fn a_check_uses_an_earlier_run_as_its_baseline() {
    let sandbox = Sandbox::new();
    let first = two_runs(&sandbox);
    sandbox.run(&["check", "pair.toml", "--baseline", &first, "--allow-undecided"]).exits(0);
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

#[test]
fn between_two_solvers_there_is_a_sentence_with_an_interval_and_a_table_for_each_data_set() {
    let text = spec(
        "both",
        &[
            ("seeds = [0]", "seeds = [0, 1, 2]\nrepeats = 2"),
            ("dataset = [\"draw\"]", "dataset = [\"draw\", \"other\"]"),
            ("solver = [\"cholesky\", \"cg\"]", "solver = [\"cholesky\", \"cg\", \"ranks\"]"),
        ],
    );
    let more = "\n[dataset.other]\nfrom = \"gp-draw\"\nn = 80\nd = 1\n\n[solver.ranks]\nplugin = \"cg\"\n\
                params = { preconditioner = \"pivoted_cholesky\", rank = [2, 4] }\n";
    let sandbox = Sandbox::with_spec(&(text + more));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let between = |names: &str, more: &[&str]| {
        sandbox.run(&[&["compare", "both", "--between", names, "--wide"][..], more].concat())
    };
    let ended = between("cg,cholesky", &[]).exits(0).prints(&[
        " on draw/matern32",
        "(95 % interval ",
        ", 3 seeds; seconds to residual 0.01; held equal: seeds, estimator, budget, threads, machine)",
        "on these 2 data sets",
        "Of data sets like these nothing is claimed: 2 data sets are too few.",
        "Ratios (×) are those of cholesky to cg, geometric means over 3 seeds, of medians of 2 repeats",
        "differences are cg − cholesky",
        "Timing noise ",
        "Machine: ",
    ]);
    assert!(
        ended.stdout.contains("\ndraw/matern32/pathwise\n") && ended.stdout.contains("\nother/"),
        "{}",
        ended.stdout
    );
    between("cg,cholesky", &["--format", "md"])
        .exits(0)
        .prints(&["### draw/matern32/pathwise\n", "| ratio (×) or difference |"]);
    between("cg,cholesky", &["--format", "csv"]).exits(0).prints(&["data set,kernel,", "\nother,matern32,"]);
    let json = between("cg,cholesky", &["--format", "json"]).exits(0).json();
    assert_eq!((&json["schema"], &json["runs"]), (&1.into(), &serde_json::json!(["cg", "cholesky"])));
    let rows = json["rows"].as_array().expect("rows");
    let row = |metric: &str| {
        let of = |row: &&Value| row["metric"] == metric && row["dataset"] == "draw";
        rows.iter().find(of).unwrap_or_else(|| panic!("{metric}: {json}"))
    };
    let number = |row: &Value, name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"));
    let seconds = row("seconds");
    let ratio = number(seconds, "ratio");
    assert!(number(seconds, "low") <= ratio && ratio <= number(seconds, "high"), "{seconds}");
    let means = [0, 1].map(|side| seconds["means"][side].as_f64().expect("seconds"));
    assert!((means[1] / means[0] / ratio - 1.0).abs() < 1e-9, "{seconds}");
    let rmse = row("test_rmse");
    let means = [0, 1].map(|side| rmse["means"][side].as_f64().expect("an error"));
    assert!((means[0] - means[1] - number(rmse, "difference")).abs() < 1e-12, "{rmse}");
    assert!(json["over_datasets"]["these"]["ratio"].is_number() && json["over_datasets"]["such"].is_null());
    // The other way round it is the inverse.
    let inverse = between("cholesky,cg", &["--format", "json"]).exits(0).json();
    let other = inverse["rows"].as_array().expect("rows").iter().find(|row| row["metric"] == "seconds");
    assert!((number(other.expect("seconds"), "ratio") * ratio - 1.0).abs() < 1e-9, "{inverse}");
    // A point of a grid has a name; the grid itself has several.
    between("cg,ranks@rank=4", &[]).exits(0).prints(&["ranks@rank=4"]);
    between("cg,ranks", &[]).exits(2).says(&["`ranks` stands for several", "ranks@rank=2, ranks@rank=4"]);
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
    let ended = sandbox.run(&["compare", "learners", "--between", points]).exits(0);
    ended.prints(&["times as fast as", "seconds of the whole fit", "no interval: 1 seed", "NLML"]);
    let ended = sandbox.run(&["compare", "learners", "--between", "scgd@learning_rate=0.1,bsgd"]).exits(4);
    ended.says(&["no case of the learner `bsgd`"]);
    let first = std::fs::canonicalize(sandbox.path("reports/learners/latest")).expect("a run");
    sandbox.run(&["run", "learners.toml", "--fresh"]).exits(0);
    let first = first.to_string_lossy().into_owned();
    sandbox.run(&["compare", &first, "learners", "--exact"]).exits(0);
    let allowed = ["compare", &first, "learners", "--allow-undecided"];
    let ended = sandbox.run(&allowed).exits(0);
    ended.prints(&["2 cases matched", "0 failing", "of 2 learners are undecided"]);
    // The name of a grid stands for all of its points, and beside another learner for the chosen one.
    sandbox.run(&[&allowed[..], &["-s", "scgd"]].concat()).exits(0).prints(&["2 cases matched"]);
    let point = "scgd@learning_rate=0.3";
    sandbox.run(&[&allowed[..], &["-s", point]].concat()).exits(0).prints(&["1 cases matched"]);
    sandbox.run(&["compare", &first, "learners", "-s", "sc"]).exits(4);
    let chosen = sandbox.run(&["compare", "learners", "--between", "scgd,scgd"]).exits(0);
    chosen.prints(&["scgd@learning_rate="]);
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
