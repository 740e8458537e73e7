//! Runs without faults.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::cluster::{Cluster, RUN, by_id, expected, journal, sandbox};

#[test]
fn a_run_on_two_nodes_is_that_of_one_computer() {
    let Some(_cluster) = Cluster::of("a_run_on_two_nodes_is_that_of_one_computer") else { return };
    let sandbox = sandbox(60);
    sandbox.run(&RUN).exits(0);
    assert_eq!(by_id(&sandbox), expected(60));
    assert_eq!(journal(&sandbox).len(), 8);
    let places: Vec<Value> = sandbox.cases().iter().map(|case| case["place"].clone()).collect();
    assert!(places.iter().all(|place| place["node"] == "n1" || place["node"] == "n2"), "{places:?}");
    // Solvers of one block ran on one node.
    for seed in 0..4 {
        let cases = sandbox.cases();
        let block = cases.iter().filter(|case| case["seed"] == seed);
        let nodes: Vec<&Value> = block.map(|case| &case["place"]["node"]).collect();
        assert!(nodes.len() == 2 && nodes[0] == nodes[1], "{nodes:?}");
    }
    let status = sandbox.run(&["status"]).exits(0);
    assert_eq!(status.stdout, "slurm: 8 of 8 rows\n");
    // The same again has nothing to do, here and there.
    sandbox.run(&RUN).exits(0);
    sandbox.run(&["run", "spec.toml", "-t", "1"]).exits(0);
    assert_eq!(journal(&sandbox).len(), 8);
}

#[test]
fn a_detached_run_is_watched_and_cancelled() {
    let Some(_cluster) = Cluster::of("a_detached_run_is_watched_and_cancelled") else { return };
    let finished = sandbox(60);
    let detached: Vec<&str> = RUN.iter().copied().chain(["--detach"]).collect();
    finished.run(&detached).exits(0);
    finished.run(&["watch"]).exits(0);
    assert_eq!(by_id(&finished), expected(60));

    let sandbox = sandbox(3000);
    sandbox.run(&detached).exits(0);
    sandbox.run(&["cancel"]).exits(0);
    let left = Command::new("squeue").args(["-h", "--me", "-o", "%j"]).output().expect("squeue");
    let run = fs::read_link(sandbox.path("reports/slurm/latest")).expect("a link");
    assert!(!String::from_utf8_lossy(&left.stdout).contains(&*run.to_string_lossy()));
    // The same command goes on.
    sandbox.run(&RUN).exits(0);
    assert_eq!(journal(&sandbox).len(), 8);
}

#[test]
fn what_is_too_much_is_refused_before_it_is_sent() {
    let Some(_cluster) = Cluster::of("what_is_too_much_is_refused_before_it_is_sent") else { return };
    let sandbox = sandbox(60);
    for (set, said) in [
        ("slurm.ask.time=3h", "the partition allows 60 min"),
        ("slurm.ask.memory=1TiB", "the largest node of the partition has"),
        ("slurm.ask.threads=64", "the largest node of the partition has 2 processors"),
        ("slurm.ask.memory=256MiB", "its runner and an idle worker need 512 MiB: raise `memory` of `ask`"),
        ("slurm.ask.tiem=3h", "time"),
    ] {
        let refused: Vec<&str> = RUN.iter().copied().chain(["--set", set]).collect();
        let refused = sandbox.run(&refused).exits(2);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
    for (option, said) in
        [(&["--jobs", "2"][..], "`--jobs` is of runs on this computer"), (&["--fail-fast"], "`--fail-fast`")]
    {
        let refused: Vec<&str> = RUN.iter().chain(option).copied().collect();
        sandbox.run(&refused).exits(2).says(&[said]);
    }
    sandbox.run(&["run", "spec.toml", "--detach"]).exits(2).says(&["belong to `--executor slurm`"]);
    let local = sandbox.run(&["status", "nothing"]).exits(2);
    assert!(local.stderr.contains("there is no run"), "{}", local.stderr);
}
