//! A run that is killed continues where it stopped, and ends with the same rows.

use crate::support::{Ended, Sandbox, reproducible, spec};
use serde_json::Value;

const JOURNAL: &str = "reports/resume/latest/journal.jsonl";

/// A folder with a spec of six cases, each of which takes a moment.
fn sandbox() -> Sandbox {
    Sandbox::with_spec(&spec(
        "resume",
        &[
            ("seeds = [0]", "seeds = [0, 1, 2]"),
            ("n = 60", "n = 400"),
            ("probes = 2", "probes = 4"),
            ("features = 20", "features = 200"),
            ("tolerance = 0.01", "tolerance = 1e-6\nmax_epochs = 1000"),
        ],
    ))
}

/// Kills the program once the journal holds `rows` rows, or lets it end.
fn kill_after(sandbox: &Sandbox, rows: usize) {
    let mut child = sandbox.start(&["run", "spec.toml"]);
    loop {
        let journal = std::fs::read_to_string(sandbox.path(JOURNAL)).unwrap_or_default();
        if journal.lines().count() >= rows {
            child.kill().expect("a child can be killed");
        }
        if child.try_wait().expect("a child can be waited for").is_some() {
            return;
        }
        std::thread::yield_now();
    }
}

/// Asserts that two runs have the same cases, statuses and reproducible metrics.
fn assert_same(expected: &[Value], found: &[Value]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in expected.iter().zip(found) {
        assert_eq!((&a["id"], &a["status"]), (&b["id"], &b["status"]));
        assert_eq!(reproducible(a), reproducible(b));
    }
}

#[test]
fn a_killed_run_ends_with_the_same_metrics() {
    let whole = sandbox();
    whole.run(&["run", "spec.toml"]).exits(0);
    let expected = whole.sorted_cases();
    assert_eq!(expected.len(), 6);

    let broken = sandbox();
    for rows in [0, 1, 3, 5] {
        kill_after(&broken, rows);
    }
    broken.run(&["run", "spec.toml"]).exits(0);
    assert_same(&expected, &broken.sorted_cases());
    let folders = std::fs::read_dir(broken.path("reports/resume")).expect("a folder of runs");
    let runs =
        folders.filter(|f| f.as_ref().expect("an entry").file_type().expect("a kind").is_dir()).count();
    assert_eq!(runs, 1, "every attempt continued the same folder");
}

#[test]
fn a_full_disk_ends_a_run_and_loses_nothing() {
    let whole = sandbox();
    whole.run(&["run", "spec.toml"]).exits(0);
    let text = whole.read(JOURNAL);

    // The limit on file size lies in the middle of a row: the first row that ends beyond the size of the other
    // files, which are the plan and a solution. The shell counts in blocks of 512 bytes. The signal is ignored, so
    // that writing fails as on a full disk.
    let plan = whole.read("reports/resume/latest/plan.json").len();
    let solution = 8 * 400 * 5 + 1024;
    let other_files = plan.max(solution);
    let mut end = 0;
    let row = text.lines().find(|line| {
        end += line.len() + 1;
        end - line.len() > other_files + 1024
    });
    let limit = end - row.expect("such a row").len() / 2;
    let limited = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" run spec.toml", limit / 512);
    let broken = sandbox();
    let mut command = broken.command_of("/bin/sh", &["-c", &limited, env!("CARGO_BIN_EXE_gpbench")]);
    Ended::of(&mut command).exits(70).says(&["too large"]);
    let kept = broken.read(JOURNAL);
    assert!(!kept.is_empty() && kept.ends_with('\n'), "complete rows are kept, and no part of another");

    broken.run(&["run", "spec.toml"]).exits(0);
    assert!(broken.read(JOURNAL).starts_with(&kept));
    assert_same(&whole.sorted_cases(), &broken.sorted_cases());
}

#[test]
fn a_second_run_computes_nothing() {
    let sandbox = Sandbox::with_spec(&spec("resume", &[]));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let before = sandbox.read(JOURNAL);
    sandbox.run(&["run", "spec.toml"]).exits(0).says(&["nothing was left to run"]);
    assert_eq!(before, sandbox.read(JOURNAL));
}
