//! `plan` finds what `run` would refuse, in one pass, at its place in the spec.

use std::fmt::Write as _;
use std::process::Command;

use crate::support::{Sandbox, build, library};

/// A spec on one data set; `dataset` is the body of its table.
fn spec(task: &str, dataset: &str, rest: &str) -> String {
    format!(
        r#"schema = 1
name = "early"
task = "{task}"

[matrix]
dataset = ["mine"]
kernel = ["rbf"]
solver = ["cholesky"]

[dataset.mine]
{dataset}

{rest}
"#
    )
}

/// Rows of a colour, two numbers and a target, under a header.
fn rows(n: u32) -> String {
    let mut csv = "colour,a,b,y\n".to_owned();
    for k in 0..n {
        let colour = ["red", "green", "blue"][k as usize % 3];
        let (a, b) = (f64::from(k * 37 % 101), f64::from(k * 53 % 97));
        writeln!(csv, "{colour},{a},{b},{}", (a / 9.0).sin() + b / 50.0).expect("a text");
    }
    csv
}

/// A folder of 20 rows with masks. In the 10 training rows of split 0 the second input is 3, in the 8 of split 1 the target is
/// 2; split 2 has 18 training rows, in which all columns vary.
fn write_folder_of_constants(sandbox: &Sandbox) {
    std::fs::create_dir(sandbox.path("constants")).expect("a new folder");
    let mut data = String::new();
    let mut masks = String::new();
    for k in 0..20 {
        let input = if k < 10 { 3 } else { k };
        let target = if k < 8 { 2 } else { k * k % 13 };
        writeln!(data, "{},{input},{target}", k * 7 % 20).expect("a text");
        writeln!(masks, "{},{},{}", u8::from(k >= 10), u8::from(k >= 8), u8::from(k >= 18)).expect("a text");
    }
    for (name, text) in [("data.csv", data), ("test_mask.csv", masks)] {
        build(Command::new("gzip").arg(sandbox.write(&format!("constants/{name}"), &text)));
    }
}

#[test]
fn a_target_that_is_constant_in_one_split_is_found_by_plan() {
    let sandbox = Sandbox::new();
    write_folder_of_constants(&sandbox);
    // In one pass with other mistakes.
    let text = spec("posterior", "path = \"constants\"", "[budget]\ntolerance = 2");
    sandbox.write("spec.toml", &text.replace("[matrix]", "seeds = [0, 1, 2]\n\n[matrix]"));
    for verb in ["plan", "run"] {
        sandbox.run(&[verb, "spec.toml"]).exits(2).says(&[
            "the target of data set `mine` is 2 in every training row of split 1; there is nothing to learn",
            "`tolerance` must lie between 0 and 1",
        ]);
    }
}

#[test]
fn an_input_that_is_constant_in_one_split_is_warned_of() {
    let sandbox = Sandbox::new();
    write_folder_of_constants(&sandbox);
    let text = spec("posterior", "path = \"constants\"", "[budget]\ntolerance = 0.1");
    sandbox.write("spec.toml", &text.replace("[matrix]", "seeds = [0, 2]\n\n[matrix]"));
    let warning = "data set `mine`: column `1` does not vary in the training rows of split 0; it is used, but carries no \
                   information there";
    for verb in ["plan", "run"] {
        let ended = sandbox.run(&[verb, "spec.toml"]).exits(0);
        assert_eq!(ended.stderr.matches(warning).count(), 1, "{}", ended.stderr);
    }
    let report = sandbox.read("reports/early/latest/report.md");
    assert!(report.contains("column \\`1\\` does not vary") || report.contains(warning), "{report}");
    // Of the other split alone there is nothing to say.
    sandbox.write("spec.toml", &text.replace("[matrix]", "seeds = [2]\n\n[matrix]"));
    let ended = sandbox.run(&["plan", "spec.toml"]).exits(0);
    assert!(!ended.stderr.contains("does not vary"), "{}", ended.stderr);
}

/// A folder of 20 rows with masks, of which the second split has `training` training rows.
fn write_folder(sandbox: &Sandbox, training: usize) {
    std::fs::create_dir(sandbox.path("folder")).expect("a new folder");
    let mut data = String::new();
    let mut masks = String::new();
    for k in 0..20 {
        writeln!(data, "{},{},{}", k * 7 % 20, k * 3 % 11, k * k % 13).expect("a text");
        writeln!(masks, "{},{}", u8::from(k < 2), u8::from(k >= training)).expect("a text");
    }
    for (name, text) in [("data.csv", data), ("test_mask.csv", masks)] {
        build(Command::new("gzip").arg(sandbox.write(&format!("folder/{name}"), &text)));
    }
}

const READ: &str = "path = \"mine.csv\"\ndrop = [\"colour\"]";

#[test]
fn plan_and_run_refuse_the_same_with_the_same_words() {
    let sandbox = Sandbox::new();
    sandbox.write("mine.csv", &rows(40));
    sandbox.write("two.csv", "1,2\n3,4\n");
    write_folder(&sandbox, 6);
    library("gpbench_plugin_sgd_rff");
    let inducing = "[solver.few]\nplugin = \"sgd-rff\"\nbudget = { max_epochs = 1 }\n\
                    inducing = { select = \"subset\", points = 7 }";
    let inducing = spec("posterior", "path = \"folder\"\nsplit = 1", inducing);
    let cases = [
        (
            spec("posterior", "path = \"gone.csv\"", ""),
            "spec.toml:11:8: error: data set `mine`: gone.csv: cannot be read",
        ),
        (spec("posterior", &format!("{READ}\ntarget = \"z\""), ""), "the target column `z` does not exist"),
        (
            spec("posterior", "path = \"mine.csv\"\ndrop = [\"color\"]\ntarget = \"z\"", ""),
            "the columns that are named have 2 mistakes",
        ),
        (spec("posterior", "path = \"mine.csv\"\ndrop = [\"colour\", \"a\", \"b\"]", ""), "no input is left"),
        (spec("posterior", "path = \"two.csv\"", ""), "has 1 training rows and 1 test rows, of 2 rows"),
        (
            spec("posterior", &format!("{READ}\nsubsample = 100"), ""),
            "spec.toml:13:13: error: data set `mine` has 36 training rows",
        ),
        (
            spec("posterior", &format!("{READ}\nsubsample = 1"), ""),
            "spec.toml:13:13: error: the subsample of data set",
        ),
        (
            spec("posterior", &format!("{READ}\nfractions = {{ train = 0.5, test = 0.01 }}"), ""),
            "has 20 training rows and 0 test rows",
        ),
        (spec("train", &format!("{READ}\ncollapse_duplicates = true"), ""), "does not go with training"),
        (
            spec(
                "posterior",
                "path = \"mine.csv\"\ncategories = [\"colour\"]",
                "[kernel.rbf]\nhyperparameters = { signal_scale = 1, noise_scale = 1, length_scale = [1, 2] }",
            ),
            "2 length scales for the 5 inputs of data set `mine`",
        ),
        (
            inducing.replace("\"cholesky\"", "\"few\""),
            "7 inducing points, but data set `mine` has 6 training rows",
        ),
    ];
    for (text, expected) in cases {
        sandbox.write("spec.toml", &text);
        let told = ["plan", "run"].map(|verb| sandbox.run(&[verb, "spec.toml"]).exits(2));
        for ended in &told {
            assert!(ended.stderr.contains(expected), "{expected}\n{}", ended.stderr);
        }
        assert_eq!(told[0].stderr, told[1].stderr, "{text}");
    }
    assert!(!sandbox.path("reports/early").exists(), "nothing may run before the spec is right");
}

#[test]
fn one_pass_lists_the_mistakes_of_the_spec_and_of_all_files() {
    let text =
        spec("train", "path = \"gone.csv\"\nsubsample = 1", "[train]\nmean = \"x\"\n[budget]\ntolerance = 2")
            .replace("[\"mine\"]", "[\"mine\", \"other\"]")
            + "[dataset.other]\npath = \"mine.csv\"\ntarget = \"z\"\ncategories = [\"colour\"]\n";
    let sandbox = Sandbox::with_spec(&text);
    sandbox.write("mine.csv", &rows(40));
    sandbox.run(&["plan", "spec.toml"]).exits(2).says(&[
        "gone.csv: cannot be read",
        "the subsample of data set `mine` has 1 rows",
        "unknown mean \"x\"",
        "`tolerance` must lie between 0 and 1",
        "the target column `z` does not exist",
    ]);
}

#[test]
fn a_plan_without_a_missing_file_can_be_made() {
    let sandbox = Sandbox::with_spec(&spec("posterior", "path = \"gone.csv\"", ""));
    let ended = sandbox.run(&["plan", "spec.toml", "--skip-missing"]).exits(0);
    ended.says(&["skipping data set `mine`"]).prints(&["unknown"]);
}

#[test]
fn an_infinite_parameter_is_refused_before_a_plan_is_written() {
    let text = spec("learn", "from = \"gp-draw\"\nn = 40", "[learn]\nepochs = 2");
    let sandbox = Sandbox::with_spec(&text.replace("cholesky", "minibatch-gp"));
    // Its schema has no upper bound.
    let library = library("gpbench_template_learner");
    for value in ["1e400", "inf", "[0.1, inf]"] {
        for verb in ["plan", "run"] {
            let set = format!("learn.params.learning_rate={value}");
            let args = [verb, "spec.toml", "--library", &library.to_string_lossy(), "--set", &set];
            let ended = sandbox.run(&args).exits(2);
            ended.says(&["parameter `learning_rate` cannot be inf; it is finite and at least 0"]);
        }
    }
    assert!(!sandbox.path("reports").exists(), "nothing may be written");
}

#[test]
fn training_that_has_not_ended_is_a_warning() {
    let text = spec("train", "from = \"toy-sine\"\nn = 60", "[train]\nsteps = 12")
        .replace("kernel = [\"rbf\"]", "kernel = [\"rbf\"]\nestimator = [\"exact\"]");
    let sandbox = Sandbox::with_spec(&text);
    let ended = sandbox.run(&["run", "spec.toml"]).exits(0);
    ended.says(&["ok", "(warning: the optimum is doubtful: the log likelihood per row rose by "]);
    let case = &sandbox.cases()[0];
    let reason = case["reason"].as_str().expect("a reason");
    assert!(
        case["status"] == "ok" && reason.ends_with("as initial = \"data\" finds them, or take more steps"),
        "{reason}"
    );
    let report = sandbox.read("reports/early/latest/report.md");
    assert!(report.contains("1 of 1 cases ended ok with a warning, such as "), "{report}");
}

#[test]
fn a_plan_says_what_its_times_assume() {
    let budget = "[budget]\ntolerance = 0.01";
    let text = spec("posterior", "from = \"gp-draw\"\nn = 2000", budget)
        .replace("[\"cholesky\"]", "[\"cholesky\", \"cg\"]");
    let sandbox = Sandbox::with_spec(&text);
    let ended = sandbox.run(&["plan", "spec.toml"]).exits(0);
    assert!(ended.stdout.contains("100 epochs to the tolerance"), "{}", ended.stdout);
    ended.says(&["no forecast: it assumes numbers of epochs", "the times of 1 of 2 cases are no forecast"]);
    let bounded =
        sandbox.run(&["plan", "spec.toml", "--set", "budget.max_epochs=20", "--format", "json"]).exits(0);
    let cases = bounded.json()["cases"].as_array().expect("cases").clone();
    let assumed = |solver: &str| {
        let case =
            cases.iter().find(|case| case["labels"]["solver"] == solver).expect("a case of the solver");
        case["seconds_assume"].clone()
    };
    assert_eq!(
        (assumed("cg"), assumed("cholesky")),
        ("all 20 epochs allowed".into(), serde_json::Value::Null)
    );
}
