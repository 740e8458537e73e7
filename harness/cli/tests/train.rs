//! Training that is killed goes on, and ends with the bits of one that was not.

mod support;

use std::fs;
use std::process::Stdio;

use serde_json::Value;
use support::{Sandbox, is_reproducible, library, spec};

/// Training by `cholesky-mixed`, whose factors stay in memory and serve several steps.
fn training() -> String {
    let text = spec(
        "train",
        &[
            ("task = \"posterior\"", "task = \"train\""),
            ("solver = [\"cholesky\", \"cg\"]", "solver = [\"cholesky-mixed\"]"),
            ("n = 60", "n = 700"),
            ("features = 20", "features = 20\nwarm_start = true"),
            (
                "hyperparameters = { signal_scale = 1.0, noise_scale = 0.1, length_scale = 1.0 }",
                "hyperparameters = \"ones\"",
            ),
        ],
    );
    let library = library("gpbench_plugin_cholesky_mixed");
    format!("{text}\n[train]\nsteps = 20\n\n[solver.cholesky-mixed]\nlibrary = \"{}\"\n", library.display())
}

/// Runs, and kills the program after so many checkpoints, or lets it end.
fn kill_after(sandbox: &Sandbox, checkpoints: usize) {
    let mut command = sandbox.command(&["run", "spec.toml"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
    let folder = sandbox.path("reports/train/latest/checkpoints");
    let (mut seen, mut last) = (0, None);
    loop {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let newest = entries.filter_map(|entry| entry.metadata().ok()?.modified().ok()).max();
        if newest.is_some() && newest != last {
            (seen, last) = (seen + 1, newest);
        }
        if seen >= checkpoints {
            child.kill().expect("a child can be killed");
        }
        if child.try_wait().expect("a child can be waited for").is_some() {
            return;
        }
        std::thread::yield_now();
    }
}

/// The steps of the only case, and what can be reproduced of their metrics.
fn steps(sandbox: &Sandbox) -> Vec<(Value, Vec<(String, Value)>)> {
    let cases = sandbox.cases();
    assert_eq!((cases.len(), &cases[0]["status"]), (1, &Value::from("ok")), "{}", cases[0]);
    let steps = cases[0]["output"]["steps"].as_array().expect("steps");
    let of = |step: &Value| {
        let metrics = step["metrics"].as_object().expect("metrics").clone();
        let stable = metrics.into_iter().filter(|(name, _)| is_reproducible(name)).collect();
        (step["hyperparameters"].clone(), stable)
    };
    steps.iter().map(of).collect()
}

#[test]
fn killed_training_goes_on_with_the_factors_of_the_unbroken_run() {
    let whole = Sandbox::with_spec(&training());
    whole.run(&["run", "spec.toml"]).exits(0);
    let expected = steps(&whole);
    assert_eq!(expected.len(), 20);

    let broken = Sandbox::with_spec(&training());
    for checkpoints in [2, 5] {
        kill_after(&broken, checkpoints);
    }
    broken.run(&["run", "spec.toml"]).exits(0);
    assert_eq!(steps(&broken), expected);
}

#[test]
fn a_factor_that_does_not_fit_is_refused_with_what_it_needs() {
    let text = training().replace("tolerance = 0.01", "tolerance = 0.01\nmemory = \"16MiB\"");
    let sandbox = Sandbox::with_spec(&text.replace("n = 700", "n = 4000"));
    sandbox.run(&["run", "spec.toml"]).exits(1);
    let case = &sandbox.cases()[0];
    assert_eq!(case["status"], "out_of_memory");
    let reason = case["reason"].as_str().expect("a reason");
    assert!(
        reason.contains("the solver would need about") && reason.contains("the budget is 16 MiB"),
        "{reason}"
    );
}
