//! Rankings of a web site of several runs.

use std::fs;

use gpbench_report::{ArchivedRun, Verification};

use crate::site::{add_datasets, archived, write};
use crate::support::run;

/// The stored run under a name, on four data sets, all of whose cases ended on a day.
fn ranked_run(name: &str, day: &str) -> ArchivedRun {
    let mut run = run();
    add_datasets(&mut run, &["bike", "elevators"]);
    run.record.name = name.to_owned();
    run.record.rows.iter_mut().for_each(|row| row.finished = format!("{day}T00:00:00Z"));
    archived(run, name)
}

/// A verdict that has recomputed results, with what differs.
fn verdict(differences: &[&str]) -> Verification {
    let result = if differences.is_empty() { "agrees" } else { "differs" };
    let text = serde_json::json!({
        "schema": 1, "gpbench": "0.1.0", "verified": "2026-11-26T09:00:00Z", "journal_sha256": "aa",
        "checks": [{
            "check": "solutions", "result": result, "checked": 7, "of": 18, "detail": "", "differences": differences,
            "recomputes": true,
        }],
    });
    Verification::parse(&text.to_string(), "aa").unwrap()
}

/// The rankings on the front page of a site.
fn rankings(runs: Vec<ArchivedRun>) -> String {
    let folder = tempfile::tempdir().unwrap();
    write(runs, folder.path());
    let front = fs::read_to_string(folder.path().join("index.html")).unwrap();
    front.split("id=\"rankings\"").nth(1).unwrap().split("</section>").next().unwrap().to_owned()
}

#[test]
fn a_ranking_takes_the_data_sets_that_all_methods_have() {
    let mut ours = run();
    add_datasets(&mut ours, &["bike", "elevators"]);
    ours.record.report.baseline = Some("cholesky".to_owned());
    // A solver of another run that has one data set alone has no part in it.
    let mut theirs = run();
    theirs.record.rows.retain(|row| row.labels.solver == "cholesky" && row.labels.dataset == "pol");
    for row in &mut theirs.record.rows {
        row.labels.solver = "rare".to_owned();
        row.case.solver.name = "rare".to_owned();
    }
    let ranking = rankings(vec![archived(ours, "ours"), archived(theirs, "theirs")]);
    for words in [
        "Ranking over 4 data sets: seconds to the tolerance",
        "on Example CPU",
        "over cholesky",
        "solvers/cg.html",
    ] {
        assert!(ranking.contains(words), "{words}: {ranking}");
    }
    assert!(ranking.contains("Not on enough of these data sets and seeds: rare."), "{ranking}");
}

#[test]
fn a_run_that_is_added_replaces_no_results_in_silence() {
    let (ours, theirs) = (|| ranked_run("ours", "2026-01-02"), || ranked_run("theirs", "2026-01-03"));
    let earlier = || ranked_run("theirs", "2026-01-01");
    let without_time = || ranked_run("theirs", "?");
    let verified =
        |run: ArchivedRun, differences: &[&str]| ArchivedRun { verification: verdict(differences), ..run };
    for (runs, first, other) in [
        (vec![ours(), theirs()], "ours", "theirs"),
        (vec![theirs(), ours()], "ours", "theirs"),
        (vec![without_time(), ours()], "ours", "theirs"),
        (vec![ours(), earlier()], "theirs", "ours"),
        // What was verified stands before what was not, and what differs after it.
        (vec![ours(), verified(theirs(), &[])], "theirs", "ours"),
        (vec![verified(ours(), &[]), earlier()], "ours", "theirs"),
        (vec![verified(ours(), &["a"]), theirs()], "theirs", "ours"),
    ] {
        let found = rankings(runs);
        assert!(found.contains(&format!("<a href=\"runs/{first}.html\">{first}</a>")), "{found}");
        assert!(!found.contains(&format!("runs/{other}.html")), "{found}");
        let caption = format!("Pages of data sets show the others: cg in {other}, cholesky in {other}");
        assert!(found.contains(&caption), "{found}");
    }
    // A run that re-uses all rows of the other has nothing that is left out.
    let again = rankings(vec![ours(), ranked_run("again", "2026-01-02")]);
    assert!(again.contains("runs/ours.html") && !again.contains("others:"), "{again}");
}

#[test]
fn runs_of_one_solver_on_different_data_sets_are_ranked_together() {
    let [mut one, mut other] = ["one", "other"].map(|name| ranked_run(name, "2026-01-02"));
    one.run.record.rows.retain(|row| ["pol", "bike"].contains(&row.labels.dataset.as_str()));
    other.run.record.rows.retain(|row| row.labels.dataset == "elevators");
    let found = rankings(vec![one, other]);
    assert!(found.contains("Ranking over 3 data sets") && found.contains("one, other"), "{found}");
    assert!(!found.contains("others:"), "{found}");
}
