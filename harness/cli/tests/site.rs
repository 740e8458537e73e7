//! `gpbench site`: a web site of run folders and packed runs.

use std::fs;

use crate::support::{Sandbox, spec};

/// Runs a spec twice under two names.
fn with_two_runs() -> Sandbox {
    let sandbox = Sandbox::with_spec(&spec("first", &[]));
    sandbox.write("second.toml", &spec("second", &[("tolerance = 0.01", "tolerance = 0.001")]));
    for spec in ["spec.toml", "second.toml"] {
        sandbox.run(&["run", spec]).exits(0);
    }
    sandbox
}

#[test]
fn a_site_shows_every_run_below_a_folder() {
    let sandbox = with_two_runs();
    sandbox
        .run(&["site", "reports", "-o", "web/site"])
        .exits(0)
        .says(&["web/site/index.html (runs: 2, cases: 4,"]);
    let front = sandbox.read("web/site/index.html");
    for words in ["first", "second", "cholesky", "draw", "not verified"] {
        assert!(front.contains(words), "{words}");
    }
    // The folder `latest` of each name is a link, and no run of its own.
    assert_eq!(fs::read_dir(sandbox.path("web/site/runs")).unwrap().count(), 2);
    sandbox.run(&["site", "reports", "-o", "again"]).exits(0);
    assert_eq!(sandbox.read("again/index.html"), front);
}

#[test]
fn a_packed_run_is_read_as_its_folder_is() {
    let sandbox = with_two_runs();
    fs::create_dir(sandbox.path("archive")).unwrap();
    sandbox.run(&["pack", "first", "-o", "archive/theirs.gpbench"]).exits(0);
    sandbox.run(&["site", "archive", "-o", "packed"]).exits(0).says(&["(runs: 1, cases: 2,"]);
    assert!(sandbox.read("packed/index.html").contains("runs/theirs.html"));
    fs::write(sandbox.path("archive/other.gpbench"), "no packed run").unwrap();
    let ended = sandbox.run(&["site", "archive", "-o", "packed"]).exits(0);
    ended.says(&["archive/other.gpbench is left out: ", "(runs: 1, cases: 2,"]);
}

#[test]
fn reports_without_rows_are_named() {
    let sandbox = with_two_runs();
    fs::create_dir(sandbox.path("reports/old")).unwrap();
    sandbox.write("reports/old/report.md", "# A report");
    sandbox.run(&["site", "reports"]).exits(0).says(&["these reports are only named", "(runs: 2, cases: 4,"]);
    assert!(sandbox.read("site/index.html").contains("are not verifiable: old."));
}

#[test]
fn what_cannot_be_a_site_is_refused() {
    let sandbox = with_two_runs();
    fs::create_dir(sandbox.path("empty")).unwrap();
    sandbox.run(&["site", "empty"]).exits(4).says(&["empty holds no run folder and no packed run"]);
    sandbox.run(&["site", "nowhere"]).exits(2).says(&["cannot read nowhere"]);
    fs::create_dir(sandbox.path("own")).unwrap();
    fs::write(sandbox.path("own/index.html"), "mine").unwrap();
    let refused = sandbox.run(&["site", "reports", "-o", "own"]).exits(2);
    refused.says(&["own: it has an index.html that `gpbench site` did not write"]);
    assert_eq!(sandbox.read("own/index.html"), "mine");
}

#[test]
fn a_verdict_beside_a_run_counts_for_its_journal() {
    let sandbox = with_two_runs();
    let run = fs::canonicalize(sandbox.path("reports/first/latest")).unwrap();
    let verdict = |sha256: &str| {
        let text = serde_json::json!({
            "schema": 1, "gpbench": "0.1.0", "verified": "2026-01-01T00:00:00Z", "journal_sha256": sha256,
            "checks": [{
                "check": "solutions", "result": "agrees", "checked": 2, "of": 2, "detail": "", "differences": [],
                "recomputes": true,
            }],
        });
        fs::write(run.join("verification.json"), text.to_string()).unwrap();
        sandbox.run(&["site", "reports"]).exits(0);
        sandbox.read("site/index.html")
    };
    let journal = fs::File::open(run.join("journal.jsonl")).unwrap();
    let own = gpbench_record::sha256_hex(journal).unwrap();
    assert!(verdict(&own).contains("agrees, 2 recomputed"));
    assert!(verdict("00").contains("not verified in this form"));
    fs::write(run.join("verification.json"), "{}").unwrap();
    sandbox.run(&["site", "reports"]).exits(0).says(&["verification.json: ", "counts as not verified"]);
    let answer = sandbox.run(&["verify", "first", "--format", "json"]);
    fs::write(run.join("verification.json"), &answer.stdout).unwrap();
    sandbox.run(&["site", "reports"]).exits(0);
    assert!(sandbox.read("site/index.html").contains("recomputed"), "{}", answer.stdout);
}
