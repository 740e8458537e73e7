//! A run that is killed goes on where it stopped, and ends as if nothing had happened.

mod support;

use support::{Bench, Ended, reproducible};

const SPEC: &str = r#"
schema = 1
name = "resume"
task = "posterior"
seeds = [0, 1, 2]

[matrix]
dataset = ["draw"]
kernel = ["matern32"]
estimator = ["pathwise"]
solver = ["cholesky", "cg"]

[dataset.draw]
from = "gp-draw"
n = 400
d = 2

[kernel.matern32]
family = "matern32"
hyperparameters = { signal_scale = 1.0, noise_scale = 0.1, length_scale = 1.0 }

[estimator.pathwise]
probes = 4
features = 200

[budget]
tolerance = 1e-6
max_epochs = 1000
"#;

/// Kills the program once the journal holds `rows` rows, or lets it end.
fn killed_after(bench: &Bench, rows: usize) {
    let mut child = bench.start(&["run", "spec.toml"]);
    loop {
        let journal =
            std::fs::read_to_string(bench.path("reports/resume/latest/journal.jsonl")).unwrap_or_default();
        if journal.lines().count() >= rows {
            child.kill().expect("a child can be killed");
        }
        if child.try_wait().expect("a child can be waited for").is_some() {
            return;
        }
        std::thread::yield_now();
    }
}

fn sorted_cases(bench: &Bench) -> Vec<serde_json::Value> {
    let mut cases = bench.cases();
    cases.sort_by_key(|case| case["id"].as_str().expect("an id").to_owned());
    cases
}

#[test]
fn a_killed_run_ends_with_the_same_metrics() {
    let whole = Bench::new();
    whole.write("spec.toml", SPEC);
    let ended = whole.run(&["run", "spec.toml"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let expected = sorted_cases(&whole);
    assert_eq!(expected.len(), 6);

    let broken = Bench::new();
    broken.write("spec.toml", SPEC);
    for rows in [0, 1, 3, 5] {
        killed_after(&broken, rows);
    }
    let ended = broken.run(&["run", "spec.toml"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let found = sorted_cases(&broken);

    assert_eq!(found.len(), expected.len());
    for (a, b) in expected.iter().zip(&found) {
        assert_eq!(a["id"], b["id"]);
        assert_eq!(a["status"], b["status"]);
        assert_eq!(reproducible(a), reproducible(b));
    }
    let folders = std::fs::read_dir(broken.path("reports/resume")).expect("a folder of runs");
    let runs =
        folders.filter(|f| f.as_ref().expect("an entry").file_type().expect("a kind").is_dir()).count();
    assert_eq!(runs, 1, "every sitting went on in one folder");
}

#[test]
fn a_full_disk_ends_a_run_and_loses_nothing() {
    let whole = Bench::new();
    whole.write("spec.toml", SPEC);
    assert_eq!(whole.run(&["run", "spec.toml"]).code, 0);
    let path = "reports/resume/latest/journal.jsonl";
    let text = std::fs::read_to_string(whole.path(path)).expect("a journal");
    let expected = sorted_cases(&whole);

    // No file may grow beyond the middle of a row: of the first that lies behind what else is written, the
    // plan and a solution. The shell counts in 512 bytes; the signal for what is beyond is ignored, so that
    // it becomes an error as on a full disk.
    let plan = std::fs::metadata(whole.path("reports/resume/latest/plan.json")).expect("a plan").len();
    let solution = 8 * 400 * 5 + 1024;
    let else_written = usize::try_from(plan).expect("a small file").max(solution);
    let mut end = 0;
    let row = text.lines().find(|line| {
        end += line.len() + 1;
        end - line.len() > else_written + 1024
    });
    let room = end - row.expect("such a row").len() / 2;
    let limited = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" run spec.toml", room / 512);
    let broken = Bench::new();
    broken.write("spec.toml", SPEC);
    let program = env!("CARGO_BIN_EXE_gpbench");
    let mut command = broken.command_of("/bin/sh", &["-c", &limited, program]);
    let ended = Ended::from(command.output().expect("a shell"));
    assert_eq!(ended.code, 70, "{}", ended.stderr);
    assert!(ended.stderr.contains("too large"), "{}", ended.stderr);
    let kept = std::fs::read_to_string(broken.path(path)).expect("a journal");
    assert!(!kept.is_empty() && kept.ends_with('\n'), "whole rows are kept, and no half");

    let ended = broken.run(&["run", "spec.toml"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(std::fs::read_to_string(broken.path(path)).expect("a journal").starts_with(&kept));
    let found = sorted_cases(&broken);
    assert_eq!(found.len(), expected.len());
    for (a, b) in expected.iter().zip(&found) {
        assert_eq!((&a["id"], &a["status"]), (&b["id"], &b["status"]));
        assert_eq!(reproducible(a), reproducible(b));
    }
}

#[test]
fn a_second_run_computes_nothing() {
    let bench = Bench::new();
    bench.write("spec.toml", SPEC);
    assert_eq!(bench.run(&["run", "spec.toml"]).code, 0);
    let before = std::fs::read(bench.path("reports/resume/latest/journal.jsonl")).expect("a journal");
    let again = bench.run(&["run", "spec.toml"]);
    assert_eq!(again.code, 0);
    assert!(again.stderr.contains("nothing was left to run"), "{}", again.stderr);
    let after = std::fs::read(bench.path("reports/resume/latest/journal.jsonl")).expect("a journal");
    assert_eq!(before, after);
}
