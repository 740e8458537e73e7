//! Runs on a real Slurm, which `ci/slurm` starts:
//!
//! ```sh
//! ci/slurm cargo nextest run --release --workspace -E 'binary(slurm)' --test-threads 1
//! ```
//!
//! Skipped where `ci/slurm` has started nothing. `GPBENCH_FAULT_ROUNDS` is the number of runs that meet a fault, 20 unless
//! set; `GPBENCH_FAULT_SEED` chooses their instants, and `GPBENCH_FAULT_LOGS` prints what runs say that are not finished.

#[path = "slurm/again.rs"]
mod again;
#[path = "slurm/nodes.rs"]
mod nodes;
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Ended, Sandbox, built, reproducible, spec};

/// Settings with intervals of seconds.
const SETTINGS: &str = r#"
[slurm]
ask = { time = "5m", memory = "900MiB", threads = 1, exclusive = false }
intervals = { poll = "500ms", longest_poll = "1s", confirm = "2s", beat = "1s", silent = "4s", stuck = "8s" }
"#;

/// Longest time that a run may take in all, whatever happens to it.
const PATIENCE: Duration = Duration::from_secs(180);

/// The cluster of `ci/slurm`.
struct Cluster {
    folder: PathBuf,
    /// Tests use it one after another.
    _alone: fs::File,
}

impl Cluster {
    fn of(test: &str) -> Option<Cluster> {
        let Some(folder) = std::env::var_os("GPBENCH_SLURM").map(PathBuf::from) else {
            eprintln!("{test}: skipped, since GPBENCH_SLURM is not set; ci/slurm sets it");
            return None;
        };
        let alone = fs::File::create(folder.join("lock")).expect("a file");
        alone.lock().expect("a lock");
        Some(Cluster { folder, _alone: alone })
    }
}

/// The settings, with what this machine and thus the nodes compute with.
fn settings() -> String {
    let told = Ended::of(Command::new(built("gpbench-worker")).arg("environment")).exits(0).json();
    let (set, core) = (&told["cpu_dispatch"], &told["blas_core"]);
    format!("{SETTINGS}nodes.instruction_set = {set}\nnodes.blas_core = {core}\n")
}

/// A sandbox with a spec of four blocks and the settings of a cluster.
fn sandbox(n: usize) -> Sandbox {
    let rows = format!("n = {n}");
    let spec = spec("slurm", &[("seeds = [0]", "seeds = [0, 1, 2, 3]"), ("n = 60", &rows)]);
    let sandbox = Sandbox::with_spec(&spec);
    sandbox.write("cluster.toml", &settings());
    sandbox
}

const RUN: [&str; 8] =
    ["run", "spec.toml", "--executor", "slurm", "--cluster", "cluster.toml", "--quiet", "--skip-missing"];

/// What a local run of the same spec gives, by id.
fn expected(n: usize) -> BTreeMap<String, Vec<(String, Value)>> {
    let sandbox = sandbox(n);
    sandbox.run(&["run", "spec.toml", "-t", "1"]).exits(0);
    by_id(&sandbox)
}

fn by_id(sandbox: &Sandbox) -> BTreeMap<String, Vec<(String, Value)>> {
    let id = |case: &Value| case["id"].as_str().expect("an id").to_owned();
    sandbox.cases().iter().map(|case| (id(case), reproducible(case))).collect()
}

/// The ids of the journal's lines, one for each line.
fn journal(sandbox: &Sandbox) -> Vec<String> {
    let text = sandbox.read("reports/slurm/latest/journal.jsonl");
    let ids = text.lines().map(|line| {
        let line: Value = serde_json::from_str(line).expect("a line of JSON");
        line["id"].as_str().expect("an id").to_owned()
    });
    ids.collect()
}

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
    let sandbox = sandbox(60);
    let detached: Vec<&str> = RUN.iter().copied().chain(["--detach"]).collect();
    sandbox.run(&detached).exits(0);
    sandbox.run(&["watch"]).exits(0);
    assert_eq!(by_id(&sandbox), expected(60));

    let sandbox = self::sandbox(3000);
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

/// What happens to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    None,
    Runner,
    Step,
    Worker,
    Front,
    Node,
    Controller,
    Cancelled,
    Preempted,
}

const FAULTS: [Fault; 9] = [
    Fault::Runner,
    Fault::Front,
    Fault::Worker,
    Fault::Cancelled,
    Fault::Preempted,
    Fault::Controller,
    Fault::Step,
    Fault::Node,
    Fault::None,
];

/// Processes of this cluster whose command line has a word, and whose command line or environment has another.
fn processes(slurm: &Path, word: &str, other: &str) -> Vec<i32> {
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let read = |number: &i32, file: &str| {
        let text = fs::read(format!("/proc/{number}/{file}")).unwrap_or_default();
        String::from_utf8_lossy(&text).replace('\0', " ")
    };
    let is_it = |number: &i32| {
        let (line, environment) = (read(number, "cmdline"), read(number, "environ"));
        let is_own = environment.contains(&format!("SLURM_CONF={}", slurm.display()));
        is_own && line.contains(word) && (line.contains(other) || environment.contains(other))
    };
    numbers.filter(is_it).filter(|number| *number != std::process::id() as i32).collect()
}

fn kill(processes: &[i32]) {
    for process in processes {
        // It may have ended.
        let _ = Command::new("kill").args(["-KILL", &process.to_string()]).stderr(Stdio::null()).status();
    }
}

fn daemon(program: &str, arguments: &[&str]) {
    let started = Command::new(program).args(arguments).stdin(Stdio::null()).status();
    assert!(started.is_ok_and(|status| status.success()), "{program} starts");
}

fn pid(slurm: &Path, name: &str) -> Vec<i32> {
    let text = fs::read_to_string(slurm.join(format!("run/{name}.pid"))).unwrap_or_default();
    text.trim().parse().into_iter().collect()
}

/// Lets a fault happen to a run that is in progress.
fn strike(fault: Fault, slurm: &Path, folder: &str, front: &mut Child, choice: u64) {
    let one = |list: Vec<i32>| {
        list.get(choice as usize % list.len().max(1)).copied().into_iter().collect::<Vec<_>>()
    };
    match fault {
        Fault::None => {}
        Fault::Runner => kill(&one(processes(slurm, "gpbench-node", folder))),
        Fault::Worker => kill(&one(processes(slurm, "gpbench-worker", folder))),
        Fault::Step => {
            kill(&processes(slurm, "slurmstepd", ""));
            kill(&one(processes(slurm, "gpbench-node", folder)));
        }
        Fault::Front => {
            let _ = front.kill();
        }
        Fault::Node => {
            let name = if choice.is_multiple_of(2) { "n1" } else { "n2" };
            kill(&pid(slurm, &format!("slurmd-{name}")));
            thread::sleep(Duration::from_secs(2));
            daemon("slurmd", &["-N", name]);
        }
        Fault::Controller => {
            kill(&pid(slurm, "slurmctld"));
            thread::sleep(Duration::from_secs(2));
            daemon("slurmctld", &[]);
        }
        Fault::Cancelled => {
            let listed =
                Command::new("squeue").args(["-h", "-r", "--me", "-o", "%i"]).output().expect("squeue");
            let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
            let ids: Vec<&str> = listed.lines().collect();
            if let Some(id) = ids.get(choice as usize % ids.len().max(1)) {
                let _ = Command::new("scancel").arg(id).status();
            }
        }
        Fault::Preempted => {
            let wrap = [
                "--partition=urgent",
                "--nodes=1",
                "--exclusive",
                "--mem=900M",
                "--time=1",
                "--wrap=sleep 1",
            ];
            let _ = Command::new("sbatch").args(wrap).arg("--output=/dev/null").output();
        }
    }
}

/// A number that looks random: splitmix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Runs a spec to its end while a fault happens at an instant after its begin. How often the command had to be given.
fn endure(sandbox: &Sandbox, slurm: &Path, fault: Fault, instant: Duration, choice: u64) -> usize {
    let begun = Instant::now();
    let folder = sandbox.path("reports").display().to_string();
    for commands in 1.. {
        assert!(begun.elapsed() < PATIENCE, "{fault:?} at {instant:?}: not finished in {PATIENCE:?}");
        let log = fs::File::create(sandbox.path(&format!("front-{commands}.log"))).expect("a file");
        let mut command = sandbox.command(&RUN);
        let mut front = command.stdout(Stdio::null()).stderr(log).spawn().expect("gpbench");
        if commands == 1 {
            thread::sleep(instant);
            strike(fault, slurm, &folder, &mut front, choice);
        }
        let ended = loop {
            if let Some(status) = front.try_wait().expect("a child") {
                break status;
            }
            if begun.elapsed() > PATIENCE {
                let _ = front.kill();
            }
            thread::sleep(Duration::from_millis(50));
        };
        if ended.code() == Some(0) {
            return commands;
        }
        if std::env::var_os("GPBENCH_FAULT_LOGS").is_some() {
            eprintln!("{}", sandbox.read(&format!("front-{commands}.log")));
        }
    }
    unreachable!("the loop has no end")
}

#[test]
fn faults_at_random_instants_lose_no_row() {
    let Some(cluster) = Cluster::of("faults_at_random_instants_lose_no_row") else { return };
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
    };
    let (rounds, mut state) = (number("GPBENCH_FAULT_ROUNDS", 20), number("GPBENCH_FAULT_SEED", 1));
    let n = 1500;
    let expected = expected(n);
    let mut table: BTreeMap<Fault, (usize, usize, f64)> = BTreeMap::new();
    for round in 0..rounds {
        let fault = FAULTS[round as usize % FAULTS.len()];
        let instant = Duration::from_millis(300 + random(&mut state) % 2700);
        let choice = random(&mut state);
        let sandbox = sandbox(n);
        let begun = Instant::now();
        let commands = endure(&sandbox, &cluster.folder, fault, instant, choice);
        let mut rows = journal(&sandbox);
        rows.sort();
        let ids: Vec<String> = expected.keys().cloned().collect();
        assert_eq!(rows, ids, "round {round}: {fault:?} at {instant:?}: each row once");
        assert_eq!(by_id(&sandbox), expected, "round {round}: {fault:?} at {instant:?}");
        let (count, again, seconds) = table.entry(fault).or_default();
        *count += 1;
        *again += commands - 1;
        *seconds += begun.elapsed().as_secs_f64();
        eprintln!("round {round}: {fault:?} at {instant:?}: {commands} commands, {:?}", begun.elapsed());
    }
    eprintln!("| fault | rounds | rows lost | rows twice | commands given again | mean seconds |");
    for (fault, (count, again, seconds)) in table {
        eprintln!("| {fault:?} | {count} | 0 | 0 | {again} | {:.1} |", seconds / count as f64);
    }
}
