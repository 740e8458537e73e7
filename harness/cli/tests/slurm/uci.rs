//! Real data: `benchmarks/uci.toml` on its nodes and on one computer.

use std::ffi::OsString;

use super::cluster::{Cluster, by_id, sandbox_of};
use crate::support::{Ended, Sandbox, checkout};

/// Sets of the registry with at most 1503 rows. They have no published hyperparameters.
const SMALL: [&str; 4] = [
    "--set",
    "matrix.dataset=[\"yacht\", \"housing\", \"concrete\", \"airfoil\"]",
    "--set",
    "kernel.matern32.hyperparameters=\"ones\"",
];

/// Two threads on a whole node, as on one computer.
const CLUSTER: [&str; 10] = [
    "--executor",
    "slurm",
    "--cluster",
    "cluster.toml",
    "--set",
    "slurm.ask.threads=2",
    "--set",
    "slurm.ask.memory=2GiB",
    "--set",
    "slurm.ask.exclusive=true",
];

fn run(data: &OsString, options: &[&str]) -> Sandbox {
    let sandbox = sandbox_of("");
    let spec = checkout("benchmarks/uci.toml").display().to_string();
    let arguments = [&["run", &spec], &SMALL[..], options].concat();
    Ended::of(sandbox.command(&arguments).env("GPBENCH_DATA", data)).exits(0);
    sandbox
}

#[test]
fn small_uci_sets_have_the_bits_of_one_computer() {
    const NAME: &str = "small_uci_sets_have_the_bits_of_one_computer";
    let Some(data) = std::env::var_os("GPBENCH_DATA") else {
        eprintln!("{NAME}: skipped, since GPBENCH_DATA is not set; it names a folder with UCI sets");
        return;
    };
    let Some(_cluster) = Cluster::of(NAME) else { return };
    let (here, there) = (run(&data, &["-t", "2"]), run(&data, &CLUSTER));
    let (local, rows) = (by_id(&here), by_id(&there));
    // Four sets, three seeds, two solvers.
    assert_eq!(local.len(), 24);
    assert_eq!(rows.keys().collect::<Vec<_>>(), local.keys().collect::<Vec<_>>());
    let pairs = local.values().zip(rows.values());
    let differing: Vec<_> = pairs.filter(|(one, other)| one != other).collect();
    let compared: usize = local.values().map(Vec::len).sum();
    eprintln!("{} rows, {compared} metrics, {} rows that differ", rows.len(), differing.len());
    assert!(differing.is_empty(), "{differing:#?}");
    let nodes = there.cases().iter().map(|case| case["place"]["node"].to_string()).collect::<Vec<_>>();
    assert!(nodes.iter().any(|node| node.contains("n1")) && nodes.iter().any(|node| node.contains("n2")));
}
