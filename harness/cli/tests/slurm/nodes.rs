//! Plans for what the nodes compute with.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::cluster::{Cluster, RUN, SETTINGS, by_id, sandbox, until};
use crate::support::Ended;

#[test]
fn a_plan_is_for_what_the_nodes_compute_with() {
    let Some(_cluster) = Cluster::of("a_plan_is_for_what_the_nodes_compute_with") else { return };
    let asked = || {
        let listed = Command::new("squeue").args(["-h", "-t", "all", "-o", "%j"]).output().expect("squeue");
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        listed.lines().filter(|name| name.starts_with("gpbench-nodes")).count()
    };
    let before = asked();
    let sent = sandbox(60);
    sent.write("cluster.toml", &format!("{SETTINGS}nodes.setup = [\"export GPBENCH_SIMD=avx2\"]\n"));
    sent.run(&RUN).exits(0);
    let plan: Value = serde_json::from_str(&sent.read("reports/slurm/latest/plan.json")).expect("a plan");
    let cases = plan["cases"].as_array().expect("cases");
    assert!(cases.iter().all(|case| case["fingerprint"]["cpu_dispatch"] == "avx2"), "{plan}");
    let of_nodes = by_id(&sent);
    // Another plan knows the answer.
    let other = sent.read("spec.toml").replace("n = 60", "n = 61");
    sent.write("spec.toml", &other);
    sent.run(&RUN).exits(0);
    assert_eq!(asked(), before + 1);
    let local = sandbox(60);
    let mut command = local.command(&["run", "spec.toml", "-t", "1"]);
    Ended::of(command.env("GPBENCH_SIMD", "avx2")).exits(0);
    assert_eq!(of_nodes, by_id(&local));
}

#[test]
fn a_node_that_says_nothing_is_told() {
    let Some(_cluster) = Cluster::of("a_node_that_says_nothing_is_told") else { return };
    let sandbox = sandbox(60);
    sandbox.write("cluster.toml", &format!("{SETTINGS}nodes.setup = [\"echo no module; exit 3\"]\n"));
    let failed = sandbox.run(&RUN).exits(2);
    for said in ["gave no answer; job", "is FAILED: fix the cause", "no module"] {
        assert!(failed.stderr.contains(said), "{}", failed.stderr);
    }
    let left = fs::read_dir(sandbox.path("reports")).expect("a folder").count();
    assert_eq!(left, 0, "nothing is left behind");
}

#[test]
fn ctrl_c_withdraws_the_question_what_nodes_compute_with() {
    let Some(_cluster) = Cluster::of("ctrl_c_withdraws_the_question_what_nodes_compute_with") else { return };
    let sandbox = sandbox(60);
    sandbox.write("cluster.toml", &format!("{SETTINGS}nodes.setup = [\"sleep 600\"]\n"));
    let mut front = sandbox.start(&RUN);
    let jobs = || {
        let listed = Command::new("squeue").args(["-h", "--me", "-o", "%j"]).output().expect("squeue");
        String::from_utf8_lossy(&listed.stdout)
            .lines()
            .filter(|name| name.starts_with("gpbench-nodes"))
            .count()
    };
    until("a question", || jobs() > 0);
    let sent = Command::new("kill").args(["-INT", &front.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
    assert_eq!(front.wait().expect("a child").code(), Some(130));
    until("the end of the job", || jobs() == 0);
}
