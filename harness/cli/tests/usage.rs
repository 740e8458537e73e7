//! Wrong usage ends with one clear error and exit code 2, before any case runs.

mod support;

use support::{Bench, Ended};

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

/// Runs a spec that must be refused, and gives what was said.
fn refused(bench: &Bench, text: &str) -> Ended {
    bench.write("spec.toml", text);
    let ended = bench.run(&["run", "spec.toml"]);
    assert_eq!(ended.code, 2, "stdout: {}\nstderr: {}", ended.stdout, ended.stderr);
    assert!(!bench.path("reports/usage").exists(), "nothing may run before the spec is right");
    ended
}

fn says(ended: &Ended, parts: &[&str]) {
    for part in parts {
        assert!(ended.stderr.contains(part), "`{part}` is missing in:\n{}", ended.stderr);
    }
}

/// Runs a spec on a CSV file that must be refused.
fn refused_csv(csv: &str) -> Ended {
    let bench = Bench::new();
    bench.write("mine.csv", csv);
    refused(&bench, &spec("path = \"mine.csv\"", BUDGET))
}

#[test]
fn a_misspelt_solver_is_named_with_the_nearest_right_one() {
    let text = spec(DRAW, BUDGET).replace("solver = [\"cg\"]", "solver = [\"cgg\"]");
    says(&refused(&Bench::new(), &text), &["spec.toml:10:", "cgg", "`cg`"]);
}

#[test]
fn a_negative_tolerance_is_refused_at_its_place() {
    let text = spec(DRAW, "[budget]\ntolerance = -0.01\nmax_epochs = 100");
    says(&refused(&Bench::new(), &text), &["spec.toml:26:", "tolerance"]);
}

#[test]
fn a_missing_data_set_says_where_it_was_looked_for_and_what_to_do() {
    let bench = Bench::new();
    let text = spec("from = \"pol\"", BUDGET);
    bench.write("spec.toml", &text);
    let ended = bench.run(&["run", "spec.toml", "--offline"]);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    says(&ended, &["pol", "GPBENCH_DATA", "gpbench data fetch pol", "--skip-missing"]);
}

#[test]
fn missing_data_sets_can_be_skipped() {
    let bench = Bench::new();
    bench.write("spec.toml", &spec("from = \"pol\"", BUDGET));
    let ended = bench.run(&["run", "spec.toml", "--offline", "--skip-missing"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(bench.cases()[0]["status"], "skipped");
}

#[test]
fn a_missing_spec_is_one_line() {
    let bench = Bench::new();
    let ended = bench.run(&["run", "nowhere.toml"]);
    assert_eq!(ended.code, 2);
    says(&ended, &["nowhere.toml"]);
}

#[test]
fn a_ragged_row_is_named() {
    says(&refused_csv("a,b,y\n1,2,3\n1,2\n4,5,6\n"), &["mine.csv:3"]);
}

#[test]
fn text_in_a_number_is_named() {
    says(&refused_csv("a,b,y\n1,2,3\n1,two,3\n4,5,6\n"), &["mine.csv:3:", "two"]);
}

#[test]
fn a_nan_is_named() {
    says(&refused_csv("a,b,y\n1,2,3\n1,NaN,3\n4,5,6\n"), &["mine.csv:3:"]);
}

#[test]
fn an_empty_file_is_refused() {
    says(&refused_csv(""), &["mine.csv", "empty"]);
}

#[test]
fn a_single_row_is_refused() {
    says(&refused_csv("a,b,y\n1,2,3\n"), &["mine.csv"]);
}

#[test]
fn a_constant_column_is_a_warning_and_runs() {
    let bench = Bench::new();
    let rows: String = (0..40).map(|i| format!("{i},7,{}\n", (f64::from(i) / 5.0).sin())).collect();
    bench.write("mine.csv", &format!("a,b,y\n{rows}"));
    bench.write("spec.toml", &spec("path = \"mine.csv\"", BUDGET));
    let ended = bench.run(&["run", "spec.toml"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    says(&ended, &["warning", "is 7 in every row"]);
    assert_eq!(bench.cases()[0]["status"], "ok");
}

#[test]
fn nothing_to_report_on_is_said() {
    let bench = Bench::new();
    let ended = bench.run(&["report", "latest"]);
    assert_eq!(ended.code, 2);
    says(&ended, &["latest"]);
}

#[test]
fn a_file_of_ones_own_that_is_gone_can_be_skipped_too() {
    let bench = Bench::new();
    bench.write("spec.toml", &spec("path = \"gone.csv\"", BUDGET));
    let ended = bench.run(&["run", "spec.toml"]);
    assert_eq!(ended.code, 2);
    says(&ended, &["`mine`", "gone.csv", "--skip-missing"]);
    assert_eq!(bench.run(&["run", "spec.toml", "--skip-missing"]).code, 0);
    assert_eq!(bench.cases()[0]["reason"], "its data set is not to be had");
}

#[test]
fn impossible_numbers_on_the_command_line_are_refused() {
    let bench = Bench::new();
    bench.write("spec.toml", &spec(DRAW, BUDGET));
    for wrong in [["-j", "0"], ["-t", "0"], ["--kill-after", "-1"], ["--kill-after", "nan"]] {
        let ended = bench.run(&["run", "spec.toml", wrong[0], wrong[1]]);
        assert_eq!(ended.code, 2, "{wrong:?}");
        says(&ended, &[wrong[0]]);
    }
    for wrong in
        [["--cpu-limit", "90"], ["--memory-limit", "8"], ["--time-limit", "0s"], ["--max-failures", "0"]]
    {
        let ended = bench.run(&["run", "spec.toml", wrong[0], wrong[1]]);
        assert_eq!(ended.code, 2, "{wrong:?}");
        says(&ended, &[wrong[0]]);
    }
}

#[test]
fn the_environment_is_told_in_full() {
    let bench = Bench::new();
    let rows: String = (0..40).map(|i| format!("{i},{}\n", (f64::from(i) / 5.0).sin())).collect();
    bench.write("mine.csv", &format!("a,y\n{rows}"));
    bench.write("spec.toml", &spec("path = \"mine.csv\"", BUDGET));
    let ended = bench.run(&["run", "spec.toml"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let text =
        std::fs::read_to_string(bench.path("reports/usage/latest/environment.json")).expect("it is written");
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
    let bench = Bench::new();
    // A budget of memory that no solver fits into.
    let text = spec(DRAW, "[budget]\ntolerance = 0.01\nmax_epochs = 100\nmemory = \"1MiB\"");
    bench.write("spec.toml", &text.replace("seeds = [0]", "seeds = [0, 1, 2]"));
    let ended = bench.run(&["run", "spec.toml", "--fail-fast"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    says(&ended, &["as many cases have failed as may; 2 of 3 cases are left; to go on: "]);
    assert_eq!(bench.cases().len(), 1);
    let ended = bench.run(&["run", "spec.toml", "--max-failures", "5"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(!ended.stderr.contains("to go on"), "{}", ended.stderr);
    assert_eq!(bench.cases().len(), 3);
}

#[test]
fn a_cache_that_cannot_be_written_or_found_says_what_to_do() {
    let bench = Bench::new();
    bench.write("mine.csv", "a,y\n1,2\n3,4\n5,7\n");
    bench.write("spec.toml", &spec("path = \"mine.csv\"", BUDGET));
    let with = |args: &[&str], variable: &str, value: &str| {
        let mut command = bench.command(args);
        command.env_remove("XDG_CACHE_HOME").env(variable, value);
        if variable == "HOME" {
            command.env_remove("GPBENCH_CACHE");
        }
        Ended::from(command.output().expect("the program starts"))
    };
    // Nobody can make a folder there, not even a superuser.
    let ended = with(&["run", "spec.toml"], "GPBENCH_CACHE", "/proc/cache");
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    says(&ended, &["/proc/cache", "set GPBENCH_CACHE to a folder that can be written"]);
    let ended = with(&["data", "fetch", "pol"], "GPBENCH_CACHE", "/proc/cache");
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    says(&ended, &["the cache cannot be written: /proc/cache"]);
    // A home that is no place would put the cache wherever the program is started.
    let ended = with(&["clean", "--dry-run"], "HOME", "here");
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    says(&ended, &["no home folder", "GPBENCH_CACHE"]);
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let bench = Bench::new();
    for path in ["/dev/zero", "/dev/stdin"] {
        let ended = refused(&bench, &spec(&format!("path = \"{path}\""), BUDGET));
        says(&ended, &[path, "this is no regular file"]);
    }
}
