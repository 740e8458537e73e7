//! Cases that run in further attempts: failed ones that run again, and those for which a job had no time.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cluster::{Cluster, RUN, by_id, expected, journal, sandbox, sandbox_of, settings};
use crate::support::{library, spec};

#[test]
fn a_task_ends_where_its_time_is_too_short_for_the_next_case() {
    let Some(_cluster) = Cluster::of("a_task_ends_where_its_time_is_too_short_for_the_next_case") else {
        return;
    };
    let sandbox = sandbox(60);
    // Slurm tells a job two minutes before its end, and each case may take one.
    sandbox.write("cluster.toml", &settings().replace("\"5m\"", "\"3m\""));
    sandbox.run(&RUN).exits(0);
    assert_eq!((journal(&sandbox).len(), by_id(&sandbox)), (8, expected(60)));
    let ledger = sandbox.read("reports/slurm/latest/cluster/ledger.jsonl");
    assert_eq!(ledger.matches("the job's time was over").count(), 4, "{ledger}");
    assert!(!ledger.contains("\"counts\":true"), "{ledger}");
}

#[test]
fn failed_cases_run_again() {
    let Some(_cluster) = Cluster::of("failed_cases_run_again") else { return };
    let replaced = [("seeds = [0]", "seeds = [0, 1]"), ("\"cholesky\", \"cg\"", "\"wrong\", \"cg\"")];
    let solver = format!(
        "\n[solver.wrong]\nplugin = \"hostile\"\nlibrary = \"{}\"\nparams.act = \"error\"\n",
        library("gpbench_hostile").display()
    );
    let sandbox = sandbox_of(&(spec("slurm", &replaced) + &solver));
    let rows = |count: usize| {
        let statuses: Vec<Value> = sandbox.cases().iter().map(|case| case["status"].clone()).collect();
        assert_eq!(statuses.iter().filter(|status| *status == "invalid").count(), 2, "{statuses:?}");
        assert_eq!((statuses.len(), journal(&sandbox).len()), (4, count));
    };
    sandbox.run(&RUN).exits(1);
    rows(4);
    // Without the option nothing is left to run.
    sandbox.run(&RUN).exits(1);
    rows(4);
    let again: Vec<&str> = RUN.iter().copied().chain(["--retry-failed"]).collect();
    sandbox.run(&again).exits(1);
    rows(6);
    let last = journal(&sandbox).split_off(4);
    let bad = sandbox.cases().into_iter().filter(|case| case["status"] == "invalid");
    let mut bad: Vec<String> = bad.map(|case| case["id"].as_str().expect("an id").to_owned()).collect();
    bad.sort();
    assert_eq!(last.iter().collect::<BTreeSet<_>>(), bad.iter().collect());
    // A front that leaves is no end to it.
    let detached: Vec<&str> = again.iter().copied().chain(["--detach"]).collect();
    sandbox.run(&detached);
    sandbox.run(&["watch"]).exits(1);
    rows(8);
}
