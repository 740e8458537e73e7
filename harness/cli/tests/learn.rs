//! Task `learn`, from the spec to the row.

use std::io::Read as _;
use std::process::Stdio;

use crate::support::{Ended, Sandbox, library, reproducible};
use serde_json::Value;

const JOURNAL: &str = "reports/learn/latest/journal.jsonl";

/// A spec of a learner that keeps every rule, on two seeds, after replacing texts in it.
fn spec(replacements: &[(&str, &str)]) -> String {
    let text = r#"schema = 1
name = "learn"
task = "learn"
seeds = [0, 1]

[matrix]
dataset = ["draw"]
kernel = ["matern32"]
solver = ["descent"]

[dataset.draw]
from = "gp-draw"
n = 300
d = 2
noise_scale = 0.2
length_scale = 0.5

[kernel.matern32]
hyperparameters = { signal_scale = 2.0, noise_scale = 1.0, length_scale = 1.0 }

[learn]
epochs = 12
every = 2
select = "nlml"

[solver.descent]
plugin = "scale-descent"
library = "LIBRARY"
params.batch = 32
"#;
    let text = text.replace("LIBRARY", &library("gpbench_learners").display().to_string());
    replacements.iter().fold(text, |text, (old, new)| {
        assert!(text.contains(old), "`{old}` is not in the spec");
        text.replace(old, new)
    })
}

/// The rows of the journal.
fn rows(sandbox: &Sandbox) -> Vec<Value> {
    let text = sandbox.read(JOURNAL);
    let mut rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect();
    rows.sort_by_key(|row| row["id"].as_str().expect("an id").to_owned());
    rows
}

/// A row without what depends on the machine.
fn timeless(row: &Value) -> Value {
    fn is_timed(key: &str) -> bool {
        key.contains("seconds") || key.ends_with("_bytes") || ["finished", "check"].contains(&key)
    }
    match row {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, _)| !is_timed(key));
            Value::Object(kept.map(|(key, value)| (key.clone(), timeless(value))).collect())
        }
        Value::Array(items) => items.iter().map(timeless).collect(),
        other => other.clone(),
    }
}

/// Asserts that two rows are the same but for what depends on the machine.
#[track_caller]
fn assert_same(expected: &Value, found: &Value) {
    let (expected, found) = (timeless(expected), timeless(found));
    let fields = expected.as_object().expect("a row").iter();
    let other: Vec<&String> =
        fields.filter(|(key, value)| found[*key] != **value).map(|(key, _)| key).collect();
    assert!(other.is_empty(), "the rows differ in {other:?}");
}

fn only_case(sandbox: &Sandbox) -> Value {
    let mut cases = sandbox.cases();
    assert_eq!(cases.len(), 1, "{cases:?}");
    cases.remove(0)
}

#[test]
fn a_learner_becomes_a_row() {
    let sandbox = Sandbox::with_spec(&spec(&[]));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let rows = rows(&sandbox);
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert_eq!((&row["status"], &row["reproducible"]), (&"ok".into(), &true.into()), "{row}");
        let metric = |name: &str| row["metrics"][name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"));
        assert_eq!((metric("passes"), metric("rows"), metric("iterations")), (12.0, 3600.0, 120.0));
        assert!(metric("epochs") > 0.0 && metric("seconds_per_step") > 0.0);
        assert!(metric("prediction_gap") < 1e-8, "{row}");
        assert!((metric("test_rmse") - metric("claimed_test_rmse")).abs() < 0.05, "{row}");
        let looks = row["output"]["looks"].as_array().expect("looks");
        assert_eq!(looks.len(), 6);
        let nlml: Vec<f64> = looks.iter().filter_map(|look| look["metrics"]["nlml"].as_f64()).collect();
        let best = nlml.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(metric("nlml"), best, "the result is the model of the best look");
        assert_eq!(row["output"]["model"], "gp");
        let selected = row["output"]["selected"].as_u64().expect("a look") as usize;
        assert_eq!(
            (nlml[selected], &looks[selected]["hyperparameters"]),
            (best, &row["output"]["hyperparameters"])
        );
        assert!(row["trace"].as_array().expect("a trace").len() >= 120);
        assert!(row["solver_values"]["noise_scale"].is_number());
    }
}

#[test]
fn each_look_has_the_likelihood_of_a_kernel_with_finitely_many_features() {
    let text = spec(&[
        ("seeds = [0, 1]", "seeds = [0]"),
        (
            "[kernel.matern32]\nhyperparameters = { signal_scale = 2.0, noise_scale = 1.0, length_scale = 1.0 }",
            "[kernel.matern32]\nfamily = \"linear\"\nnetwork = { widths = [8], activation = \"relu\" }",
        ),
        ("[solver.descent]\nplugin = \"scale-descent\"", "[solver.descent]\nplugin = \"svgp\""),
        ("params.batch = 32", "params.batch = 32\ninducing = { select = \"subset\", points = 16 }"),
    ]);
    let text = text.lines().filter(|line| !line.starts_with("library = ")).collect::<Vec<_>>().join("\n");
    let sandbox = Sandbox::with_spec(&text);
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let row = &rows(&sandbox)[0];
    let looks = row["output"]["looks"].as_array().expect("looks");
    let nlml: Vec<f64> = looks.iter().filter_map(|look| look["metrics"]["nlml"].as_f64()).collect();
    assert_eq!(nlml.len(), looks.len(), "inducing points have a bound, but the likelihood costs no more");
    let best = nlml.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(row["metrics"]["nlml"], best, "the model is selected by it");
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let [one, four] = ["1", "4"].map(|threads| {
        let sandbox = Sandbox::with_spec(&spec(&[("seeds = [0, 1]", "seeds = [0]")]));
        sandbox.run(&["run", "spec.toml", "-t", threads]).exits(0);
        reproducible(&only_case(&sandbox))
    });
    assert_eq!(one, four);
}

/// Runs with progress on standard error, and kills the program after so many looks have been written to a
/// checkpoint, or lets it end.
fn kill_with_checkpoint(sandbox: &Sandbox, changes: usize) {
    let mut command = sandbox.command(&["run", "spec.toml"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let folder = sandbox.path("reports/learn/latest/checkpoints");
    let (mut seen, mut last) = (0, None);
    loop {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let newest = entries
            .filter(|entry| entry.path().extension().is_some_and(|ending| ending == "safetensors"))
            .filter_map(|entry| entry.metadata().ok()?.modified().ok())
            .max();
        if newest.is_some() && newest != last {
            (seen, last) = (seen + 1, newest);
        }
        if seen >= changes {
            child.kill().expect("a child can be killed");
        }
        if child.try_wait().expect("a child can be waited for").is_some() {
            break;
        }
        std::thread::yield_now();
    }
    let mut said = String::new();
    drop(child.stderr.take().map(|mut pipe| pipe.read_to_string(&mut said)));
}

#[test]
fn a_killed_case_goes_on_and_ends_with_the_same_bits() {
    let longer = [("epochs = 12", "epochs = 200"), ("n = 300", "n = 500"), ("seeds = [0, 1]", "seeds = [0]")];
    let whole = Sandbox::with_spec(&spec(&longer));
    whole.run(&["run", "spec.toml"]).exits(0);

    let broken = Sandbox::with_spec(&spec(&longer));
    // A case that three attempts did not survive would be `crashed`.
    for changes in [1, 3] {
        kill_with_checkpoint(&broken, changes);
    }
    broken.run(&["run", "spec.toml"]).exits(0);
    assert_same(&rows(&whole)[0], &rows(&broken)[0]);
}

#[test]
fn a_learner_that_diverges_leaves_the_grid_s_other_values() {
    let grid = "params.batch = 32\nparams.learning_rate = { grid = [0.1, 1e9] }";
    let replacements = [("params.batch = 32", grid), ("seeds = [0, 1]", "seeds = [0]")];
    let sandbox = Sandbox::with_spec(&spec(&replacements));
    sandbox.run(&["run", "spec.toml"]).exits(1);
    let mut found: Vec<(String, String)> = sandbox
        .cases()
        .iter()
        .map(|case| {
            let text = |key: &str| case[key].as_str().expect("a text").to_owned();
            (text("solver"), text("status"))
        })
        .collect();
    found.sort();
    let of = |rate: &str, status: &str| (format!("descent@learning_rate={rate}"), status.to_owned());
    assert_eq!(found, [of("0.1", "ok"), of("1e9", "diverged")]);
}

/// A spec of svgp on a grid of rates, the first of which is sound.
fn absurd_rates(optimiser: &str) -> String {
    let rates = "[0.01, 10.0, 1e3, 1e6]";
    let solver = format!(
        "[solver.svgp]\nplugin = \"svgp\"\nlibrary = \"{}\"\ninducing = {{ select = \"subset\", points = 20 }}\n\
         params = {{ batch = 32, optimiser = \"{optimiser}\", learning_rate = {{ grid = {rates} }} }}\n",
        library("gpbench_plugin_svgp").display()
    );
    let text = spec(&[("seeds = [0, 1]", "seeds = [0]"), ("[\"descent\"]", "[\"svgp\"]")]);
    let (head, _) = text.split_once("[solver.descent]").expect("the solver's table");
    head.to_owned() + &solver
}

#[test]
fn absurd_rates_end_as_diverged_and_are_paid_for() {
    for optimiser in ["adam", "adadelta"] {
        let sandbox = Sandbox::with_spec(&absurd_rates(optimiser));
        sandbox.run(&["run", "spec.toml"]);
        for row in rows(&sandbox) {
            let (status, reason) = (&row["status"], row["reason"].as_str().unwrap_or_default());
            let name = row["labels"]["solver"].as_str().expect("a name");
            assert!(*status == "ok" || *status == "diverged", "{optimiser}, {name}: {status}, {reason}");
            if name.ends_with("=0.01") {
                assert_eq!(*status, "ok", "{reason}");
            }
            if *status == "diverged" {
                assert!(reason.contains(" step") && reason.contains(" pass"), "{reason}");
            }
            assert!(row["metrics"]["seconds_solve"].is_f64(), "{optimiser}, {name} has no time");
        }
    }
}

#[test]
fn a_constant_mean_is_refused_for_a_learner_that_does_not_train_one() {
    let sandbox = Sandbox::with_spec(&spec(&[("epochs = 12", "epochs = 12\nmean = \"constant\"")]));
    let expected =
        ["spec.toml:23:8: error: learner `scale-descent` does not train a constant mean", "remove `mean`"];
    sandbox.run(&["plan", "spec.toml"]).exits(2).says(&expected);
}

#[test]
fn more_inducing_points_than_rows_of_a_file_are_refused_by_plan_and_run() {
    let rows: String =
        (0..80).map(|i| format!("{},{}\n", f64::from(i) / 80.0, f64::from(i * i % 17))).collect();
    let text = absurd_rates("adam").replace("points = 20", "points = 73");
    let (before, rest) = text.split_once("[dataset.draw]").expect("a data set");
    let (_, after) = rest.split_once("[kernel").expect("a kernel");
    let text = format!("{before}[dataset.draw]\npath = \"rows.csv\"\n\n[kernel{after}");
    let sandbox = Sandbox::with_spec(&text);
    sandbox.write("rows.csv", &format!("x,y\n{rows}"));
    let expected = ["error: 73 inducing points, but data set `draw` has 72 training rows", "points = 36"];
    sandbox.run(&["plan", "spec.toml"]).exits(2).says(&expected);
    sandbox.run(&["run", "spec.toml"]).exits(2).says(&expected);
}

#[test]
fn time_that_is_up_is_not_converged() {
    let replacements = [
        ("epochs = 12", "epochs = 1000000000"),
        ("seeds = [0, 1]", "seeds = [0]"),
        ("every = 2\n", ""),
        ("[solver.descent]", "[budget]\ntime = \"200ms\"\n\n[solver.descent]"),
    ];
    let sandbox = Sandbox::with_spec(&spec(&replacements));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let row = rows(&sandbox).remove(0);
    assert_eq!((&row["status"], &row["reproducible"]), (&"not_converged".into(), &false.into()), "{row}");
    assert!(row["reason"].as_str().expect("a reason").contains("of 1000000000 passes"), "{row}");
    assert!(row["metrics"]["prediction_gap"].as_f64().expect("a gap") < 1e-8);
}

#[test]
fn validation_rows_select_the_model() {
    let replacements = [
        ("select = \"nlml\"", "select = \"validation_nll\"\nvalidation = 0.2\npatience = 2"),
        ("seeds = [0, 1]", "seeds = [0]"),
    ];
    let sandbox = Sandbox::with_spec(&spec(&replacements));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let row = rows(&sandbox).remove(0);
    assert!(row["n"].as_u64().expect("rows") < 300, "validation rows are kept from training: {row}");
    let looks = row["output"]["looks"].as_array().expect("looks");
    let values: Vec<f64> =
        looks.iter().filter_map(|look| look["metrics"]["validation_nll"].as_f64()).collect();
    let selected = row["output"]["selected"].as_u64().expect("a look") as usize;
    assert!(values.iter().all(|value| values[selected] <= *value), "{values:?}");
    assert_eq!(row["metrics"]["validation_nll"].as_f64(), Some(values[selected]));
}

#[test]
fn wrong_uses_are_named() {
    let says = |replacements: &[(&str, &str)], texts: &[&str]| {
        let sandbox = Sandbox::with_spec(&spec(replacements));
        sandbox.run(&["run", "spec.toml"]).exits(2).says(texts);
    };
    says(&[("task = \"learn\"", "task = \"posterior\"")], &["learn"]);
    says(&[("[learn]\n", "[learn]\nselects = \"last\"\n")], &["selects"]);
    says(&[("select = \"nlml\"", "select = \"validation_nll\"")], &["validation"]);
    let network = "[kernel.matern32]\nnetwork = { widths = [4] }\n";
    says(&[("[kernel.matern32]\n", network)], &["network"]);
    says(&[("params.batch = 32", "params.batches = 32")], &["batches"]);
}

#[test]
fn a_damaged_checkpoint_lets_the_case_begin_anew() {
    let longer = [("epochs = 12", "epochs = 200"), ("n = 300", "n = 500"), ("seeds = [0, 1]", "seeds = [0]")];
    let sandbox = Sandbox::with_spec(&spec(&longer));
    kill_with_checkpoint(&sandbox, 2);
    let folder = sandbox.path("reports/learn/latest/checkpoints");
    let files: Vec<_> =
        std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    // Where the machine was so slow that the run had ended, there is nothing to damage.
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "safetensors")) {
        let mut bytes = std::fs::read(file).expect("a checkpoint");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(file, bytes).expect("a writable folder");
    }
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let whole = Sandbox::with_spec(&spec(&longer));
    whole.run(&["run", "spec.toml"]).exits(0);
    assert_same(&rows(&whole)[0], &rows(&sandbox)[0]);
}

#[test]
fn learners_are_listed_and_inspected() {
    let file = library("gpbench_learners");
    let file = file.to_str().expect("UTF-8");
    let sandbox = Sandbox::new();
    let ended: Ended = sandbox.run(&["plugin", "inspect", file, "--format", "json"]).exits(0);
    let learner = &ended.json()["library"]["solvers"][0];
    assert_eq!((&learner["id"], &learner["kind"]), (&"scale-descent".into(), &"learner".into()));
    let both = ["scale-descent", "random-weights", "resume", "load-elsewhere", "0 failed"];
    sandbox.run(&["plugin", "test", file]).exits(0).prints(&both);
}
