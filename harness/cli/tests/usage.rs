//! Wrong usage ends with one error and exit code 2, before any case runs; limits end a run early.

use crate::support::{Ended, Sandbox};

/// A spec on one data set; `dataset` is the body of its table.
fn spec(dataset: &str, rest: &str) -> String {
    format!(
        r#"schema = 1
name = "usage"
task = "posterior"
seeds = [0]

[matrix]
dataset = ["mine"]
kernel = ["rbf"]
estimator = ["pathwise"]
solver = ["cg"]

[dataset.mine]
{dataset}

[kernel.rbf]
family = "rbf"
hyperparameters = "ones"

[estimator.pathwise]
probes = 2
features = 20

{rest}
"#
    )
}

const DRAW: &str = "from = \"gp-draw\"\nn = 50\nd = 1";
const BUDGET: &str = "[budget]\ntolerance = 0.01\nmax_epochs = 100";

/// Runs a spec that must be refused.
#[track_caller]
fn refused(sandbox: &Sandbox, text: &str) -> Ended {
    sandbox.write("spec.toml", text);
    let ended = sandbox.run(&["run", "spec.toml"]).exits(2);
    assert!(!sandbox.path("reports/usage").exists(), "nothing may run before the spec is right");
    ended
}

/// Runs a spec on a CSV file that must be refused.
#[track_caller]
fn refused_csv(csv: &str) -> Ended {
    let sandbox = Sandbox::new();
    sandbox.write("mine.csv", csv);
    refused(&sandbox, &spec("path = \"mine.csv\"", BUDGET))
}

#[test]
fn a_misspelt_solver_is_named_with_the_nearest_right_one() {
    let text = spec(DRAW, BUDGET).replace("solver = [\"cg\"]", "solver = [\"cgg\"]");
    refused(&Sandbox::new(), &text).says(&["spec.toml:10:", "cgg", "`cg`"]);
}

#[test]
fn a_negative_tolerance_is_refused_at_its_place() {
    let text = spec(DRAW, "[budget]\ntolerance = -0.01\nmax_epochs = 100");
    refused(&Sandbox::new(), &text).says(&["spec.toml:26:", "tolerance"]);
}

#[test]
fn a_missing_data_set_says_where_it_was_searched_and_what_to_do() {
    let sandbox = Sandbox::new();
    let text = spec("from = \"pol\"", BUDGET);
    sandbox.write("spec.toml", &text);
    sandbox.run(&["run", "spec.toml", "--offline"]).exits(2).says(&[
        "pol",
        "GPBENCH_DATA",
        "gpbench data fetch pol",
        "--skip-missing",
    ]);
}

#[test]
fn missing_data_sets_can_be_skipped() {
    let sandbox = Sandbox::with_spec(&spec("from = \"pol\"", BUDGET));
    sandbox.run(&["run", "spec.toml", "--offline", "--skip-missing"]).exits(0);
    assert_eq!(sandbox.cases()[0]["status"], "skipped");
}

#[test]
fn a_missing_spec_is_one_line() {
    let sandbox = Sandbox::new();
    sandbox.run(&["run", "nowhere.toml"]).exits(2).says(&["nowhere.toml"]);
}

#[test]
fn a_ragged_row_is_named() {
    refused_csv("a,b,y\n1,2,3\n1,2\n4,5,6\n").says(&["mine.csv:3"]);
}

#[test]
fn text_in_a_number_is_named() {
    refused_csv("a,b,y\n1,2,3\n1,two,3\n4,5,6\n").says(&["mine.csv:3:", "two"]);
}

#[test]
fn a_nan_is_named() {
    refused_csv("a,b,y\n1,2,3\n1,NaN,3\n4,5,6\n").says(&["mine.csv:3:"]);
}

#[test]
fn an_empty_file_is_refused() {
    refused_csv("").says(&["mine.csv", "empty"]);
}

#[test]
fn a_single_row_is_refused() {
    refused_csv("a,b,y\n1,2,3\n").says(&["mine.csv"]);
}

#[test]
fn a_constant_column_is_a_warning_and_runs() {
    let sandbox = Sandbox::new();
    let rows: String = (0..40).map(|i| format!("{i},7,{}\n", (f64::from(i) / 5.0).sin())).collect();
    sandbox.write("mine.csv", &format!("a,b,y\n{rows}"));
    sandbox.write("spec.toml", &spec("path = \"mine.csv\"", BUDGET));
    sandbox.run(&["run", "spec.toml"]).exits(0).says(&["warning", "is 7 in every row"]);
    assert_eq!(sandbox.cases()[0]["status"], "ok");
}

#[test]
fn a_report_without_runs_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.run(&["report", "latest"]).exits(2).says(&["latest"]);
}

#[test]
fn a_missing_file_can_be_skipped_too() {
    let sandbox = Sandbox::with_spec(&spec("path = \"gone.csv\"", BUDGET));
    sandbox.run(&["run", "spec.toml"]).exits(2).says(&["`mine`", "gone.csv", "--skip-missing"]);
    assert_eq!(sandbox.run(&["run", "spec.toml", "--skip-missing"]).code, 0);
    assert_eq!(sandbox.cases()[0]["reason"], "its data set is unavailable");
}

#[test]
fn impossible_values_of_options_are_refused() {
    let sandbox = Sandbox::with_spec(&spec(DRAW, BUDGET));
    for [option, value] in [
        ["-j", "0"],
        ["-t", "0"],
        ["--kill-after", "-1"],
        ["--kill-after", "nan"],
        ["--cpu-limit", "90"],
        ["--memory-limit", "8"],
        ["--time-limit", "0s"],
        ["--max-failures", "0"],
    ] {
        sandbox.run(&["run", "spec.toml", option, value]).exits(2).says(&[option]);
    }
}

#[test]
fn the_environment_is_stored_in_full() {
    let sandbox = Sandbox::new();
    let rows: String = (0..40).map(|i| format!("{i},{}\n", (f64::from(i) / 5.0).sin())).collect();
    sandbox.write("mine.csv", &format!("a,y\n{rows}"));
    sandbox.write("spec.toml", &spec("path = \"mine.csv\"", BUDGET));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let text = sandbox.read("reports/usage/latest/environment.json");
    let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for key in ["gpbench", "rustc", "os", "cpu", "cpu_dispatch", "blas", "blas_core", "limits"] {
        assert!(found[key].as_str().is_some_and(|text| !text.is_empty()), "{key}: {}", found[key]);
    }
    for key in ["cores", "threads", "memory_bytes"] {
        assert!(found[key].as_u64().is_some_and(|count| count > 0), "{key}: {}", found[key]);
    }
    assert_eq!(found["load"].as_array().map(Vec::len), Some(3));
    let digests = [
        &found["spec_sha256"],
        &found["worker_sha256"],
        &found["plugins"]["libgpbench_plugin_cg.so"],
        &found["datasets"]["mine"],
    ];
    for digest in digests {
        assert!(digest.as_str().is_some_and(|text| text.len() == 64), "{digest}");
    }
}

#[test]
fn a_first_failure_may_end_a_run() {
    // No solver fits into this memory budget.
    let text = spec(DRAW, "[budget]\ntolerance = 0.01\nmax_epochs = 100\nmemory = \"1MiB\"");
    let sandbox = Sandbox::with_spec(&text.replace("seeds = [0]", "seeds = [0, 1, 2]"));
    let ended = sandbox.run(&["run", "spec.toml", "--fail-fast"]);
    ended.exits(1).says(&["the limit on failures is reached; 2 of 3 cases are left; to continue: "]);
    assert_eq!(sandbox.cases().len(), 1);
    let ended = sandbox.run(&["run", "spec.toml", "--max-failures", "5"]).exits(1);
    assert!(!ended.stderr.contains("to continue"), "{}", ended.stderr);
    assert!(ended.stderr.contains("failed cases: 3; `--retry-failed` runs them again"), "{}", ended.stderr);
    assert_eq!(sandbox.cases().len(), 3);
    // Every case has a row by now, and two of those that were to run again did not.
    let ended = sandbox.run(&["run", "spec.toml", "--retry-failed", "--fail-fast"]).exits(1);
    assert!(!ended.stderr.contains("failed cases"), "{}", ended.stderr);
    ended.says(&["the limit on failures is reached; 2 of 3 cases are left; to continue: "]);
}

#[test]
fn a_cache_without_a_usable_folder_is_an_error_with_advice() {
    let sandbox = Sandbox::with_spec(&spec("path = \"mine.csv\"", BUDGET));
    sandbox.write("mine.csv", "a,y\n1,2\n3,4\n5,7\n");
    let with = |args: &[&str], variable: &str, value: &str| {
        let mut command = sandbox.command(args);
        command.env_remove("XDG_CACHE_HOME").env(variable, value);
        if variable == "HOME" {
            command.env_remove("GPBENCH_CACHE");
        }
        Ended::of(&mut command)
    };
    // No user can create a folder in /proc, not even root.
    with(&["run", "spec.toml"], "GPBENCH_CACHE", "/proc/cache")
        .exits(2)
        .says(&["/proc/cache", "set GPBENCH_CACHE to a folder that can be written"]);
    with(&["data", "fetch", "pol"], "GPBENCH_CACHE", "/proc/cache")
        .exits(1)
        .says(&["the cache cannot be written: /proc/cache"]);
    // A relative home folder would put the cache into the current folder.
    with(&["clean", "--dry-run"], "HOME", "here").exits(2).says(&["no home folder", "GPBENCH_CACHE"]);
}

#[test]
fn devices_and_pipes_are_refused() {
    let sandbox = Sandbox::new();
    for path in ["/dev/zero", "/dev/stdin"] {
        let ended = refused(&sandbox, &spec(&format!("path = \"{path}\""), BUDGET));
        ended.says(&[path, "this is not a regular file"]);
    }
}
#[test]
fn a_factor_that_does_not_fit_is_refused_with_what_it_needs() {
    let text = spec("from = \"toy-sine\"\nn = 6000", &format!("{BUDGET}\nmemory = \"48MiB\""));
    let sandbox = Sandbox::with_spec(&text.replace("solver = [\"cg\"]", "solver = [\"cholesky-mixed\"]"));
    sandbox.run(&["run", "spec.toml"]).exits(1);
    let case = &sandbox.cases()[0];
    assert_eq!(case["status"], "out_of_memory");
    let reason = case["reason"].as_str().expect("a reason");
    assert!(
        reason.contains("the solver would need about") && reason.contains("the budget is 48 MiB"),
        "{reason}"
    );
}

#[test]
fn data_that_is_at_hand_is_not_fetched() {
    let sandbox = Sandbox::new();
    let folder = sandbox.path("uci/pol");
    std::fs::create_dir_all(&folder).expect("a writable folder");
    for name in ["data.csv.gz", "test_mask.csv.gz"] {
        sandbox.write(&format!("uci/pol/{name}"), "");
    }
    // An address without a server: a download would fail.
    let fetch = |args: &[&str], data: &str| {
        let mut command = sandbox.command(&[&["data", "fetch", "pol"], args].concat());
        Ended::of(command.env("GPBENCH_DATA_URL", "http://127.0.0.1:9").env("GPBENCH_DATA", data))
    };
    let data = sandbox.path("uci").display().to_string();
    fetch(&[], &data).exits(0).prints(&["uci/pol (found in GPBENCH_DATA, not downloaded)"]);
    fetch(&["--data-dir", &data], "").exits(0).prints(&["uci/pol (found in --data-dir, not downloaded)"]);
    fetch(&[], "").exits(1).says(&["could not download"]);
}
