//! A journal with a damaged line: every verb reads the other lines, and prints one warning that names the line.

use crate::support::{Ended, Sandbox, spec};

const JOURNAL: &str = "reports/damaged/latest/journal.jsonl";

/// Asserts that the damaged line is named in one warning.
#[track_caller]
fn warns(ended: &Ended) {
    let warnings: Vec<&str> = ended.stderr.lines().filter(|line| line.starts_with("warning:")).collect();
    assert_eq!(warnings.len(), 1, "{}", ended.stderr);
    assert!(warnings[0].contains("journal.jsonl line 2 cannot be read"), "{}", warnings[0]);
}

/// Runs a spec of three cases, and damages the second line of the journal.
fn damaged(text: &str) -> Sandbox {
    let sandbox = Sandbox::with_spec(text);
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let text = sandbox.read(JOURNAL);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    let (half, _) = lines[1].split_at(lines[1].len() / 2);
    sandbox.write(JOURNAL, &format!("{}\n{half}\n{}\n", lines[0], lines[2]));
    // Otherwise the row would be restored from there.
    std::fs::remove_dir_all(sandbox.path("reports/.finished")).expect("a store of finished cases");
    sandbox
}

fn posterior() -> Sandbox {
    damaged(&spec(
        "damaged",
        &[("seeds = [0]", "seeds = [0, 1, 2]"), ("solver = [\"cholesky\", \"cg\"]", "solver = [\"cg\"]")],
    ))
}

#[test]
fn report_compare_and_check_read_the_other_lines() {
    let sandbox = posterior();
    let report = sandbox.run(&["report", "damaged", "--format", "json"]).exits(0);
    warns(&report);
    assert_eq!(report.json()["cases"].as_array().map(Vec::len), Some(2));

    // A complete run to compare with, in another folder.
    sandbox.run(&["run", "spec.toml", "--output-dir", "whole"]).exits(0);
    let folder = std::fs::canonicalize(sandbox.path("whole/damaged/latest")).expect("a run");
    let whole = folder.to_str().expect("UTF-8");
    let compared = sandbox.run(&["compare", whole, "damaged"]);
    warns(&compared);
    assert!(compared.stdout.contains("missing"), "{}", compared.stdout);
    let exact = sandbox.run(&["compare", "damaged", whole, "--exact"]).exits(3);
    warns(&exact);

    let damaged = std::fs::canonicalize(sandbox.path("reports/damaged/latest")).expect("a run");
    let baseline = damaged.to_str().expect("UTF-8");
    let check =
        ["check", "spec.toml", "--baseline", baseline, "--output-dir", "checked", "--allow-undecided"];
    warns(&sandbox.run(&check).exits(0));
}

#[test]
fn resuming_runs_the_case_again() {
    let sandbox = posterior();
    let resumed = sandbox.run(&["run", "spec.toml"]).exits(0);
    warns(&resumed);
    assert!(resumed.stderr.contains("2 of 3 cases are done"), "{}", resumed.stderr);
    assert_eq!(sandbox.read(JOURNAL).lines().count(), 4);
    // The line stays, and with it the warning.
    let report = sandbox.run(&["report", "damaged", "--format", "json"]).exits(0);
    warns(&report);
    assert_eq!(report.json()["cases"].as_array().map(Vec::len), Some(3));
}

#[test]
fn replay_reads_the_other_lines() {
    let train = |name: &str, rest: &str| {
        let text = spec(
            name,
            &[
                ("task = \"posterior\"", "task = \"train\""),
                ("solver = [\"cholesky\", \"cg\"]", "solver = [\"cg\"]"),
                ("n = 60", "n = 40"),
                (
                    "hyperparameters = { signal_scale = 1.0, noise_scale = 0.1, length_scale = 1.0 }",
                    "hyperparameters = \"ones\"",
                ),
            ],
        );
        format!("{text}\n[train]\nsteps = 2\n{rest}")
    };
    let sandbox = damaged(&train("damaged", "").replace("seeds = [0]", "seeds = [0, 1, 2]"));
    // Of which cases the rows are left.
    let seeds: Vec<u64> = sandbox.cases().iter().map(|case| case["seed"].as_u64().expect("a seed")).collect();
    assert_eq!(seeds.len(), 2);
    let replay = train("replay", "replay = \"reports/damaged/latest\"\n");
    sandbox.write("replay.toml", &replay.replace("seeds = [0]", &format!("seeds = {seeds:?}")));
    warns(&sandbox.run(&["plan", "replay.toml"]).exits(0));
    warns(&sandbox.run(&["run", "replay.toml"]).exits(0));
    // The damaged case cannot be replayed.
    sandbox.write("replay.toml", &replay.replace("seeds = [0]", "seeds = [0, 1, 2]"));
    warns(&sandbox.run(&["plan", "replay.toml"]).exits(2));
}
