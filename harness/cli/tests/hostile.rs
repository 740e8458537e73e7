//! Whatever a plugin does, every planned case gets its row and the others their results.

mod support;

use std::collections::BTreeMap;

use support::{Bench, library};

/// What each act of the misbehaving plugin must end as, and a word of the reason.
const ACTS: &[(&str, &[&str], &str)] = &[
    ("solve_well", &["ok"], ""),
    ("print_stdout", &["ok"], ""),
    ("close_stdout", &["ok"], ""),
    ("ignore_stop", &["ok", "not_converged"], ""),
    ("panic", &["crashed"], "panic"),
    ("panic_in_prepare", &["crashed"], "panic"),
    ("abort", &["crashed"], "SIGABRT"),
    ("segfault", &["crashed"], "SIGSEGV"),
    ("stack_overflow", &["crashed"], "SIG"),
    ("exit0", &["crashed"], "exited"),
    ("fork_hold", &["crashed"], "exited"),
    ("hang", &["timeout"], ""),
    ("allocate", &["out_of_memory"], ""),
    ("nan", &["diverged"], ""),
    ("lie", &["invalid"], ""),
    ("error", &["crashed", "invalid"], "as told"),
    ("wrong_report", &["ok", "invalid"], ""),
];

fn spec() -> String {
    let library = library("gpbench_hostile");
    let library = library.display();
    let names: Vec<String> = ACTS.iter().map(|(act, ..)| format!("\"{act}\"")).collect();
    let tables: String = ACTS
        .iter()
        .map(|(act, ..)| {
            format!(
                "[solver.{act}]\nplugin = \"hostile\"\nlibrary = \"{library}\"\nparams.act = \"{act}\"\n\n"
            )
        })
        .collect();
    format!(
        r#"schema = 1
name = "hostile"
task = "posterior"
seeds = [0]

[matrix]
dataset = ["draw"]
kernel = ["matern32"]
estimator = ["pathwise"]
solver = ["cg", {names}]

[dataset.draw]
from = "gp-draw"
n = 60
d = 1

[kernel.matern32]
family = "matern32"
hyperparameters = {{ signal_scale = 1.0, noise_scale = 0.3, length_scale = 1.0 }}

[estimator.pathwise]
probes = 2
features = 50

[budget]
tolerance = 1e-3
max_epochs = 200
memory = "300MiB"

{tables}"#,
        names = names.join(", ")
    )
}

#[test]
fn no_act_of_a_plugin_loses_a_row() {
    let bench = Bench::new();
    bench.write("spec.toml", &spec());
    let ended = bench.run(&["run", "spec.toml", "--kill-after", "3"]);
    assert_eq!(ended.code, 1, "failed cases make exit code 1\n{}", ended.stderr);

    let cases = bench.cases();
    assert_eq!(cases.len(), ACTS.len() + 1);
    let by_solver: BTreeMap<&str, &serde_json::Value> =
        cases.iter().map(|case| (case["solver"].as_str().expect("a name"), case)).collect();
    assert_eq!(by_solver["cg"]["status"], "ok", "a decent solver among them is not disturbed");
    for (act, statuses, word) in ACTS {
        let status = by_solver[act]["status"].as_str().expect("a status");
        let reason = by_solver[act]["reason"].as_str().expect("a reason");
        assert!(statuses.contains(&status), "{act} ended as {status}: {reason}");
        assert!(reason.contains(word), "{act}: `{word}` is not in the reason `{reason}`");
    }

    let again = bench.run(&["run", "spec.toml", "--kill-after", "3"]);
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("nothing was left to run"), "every row is terminal\n{}", again.stderr);
}
