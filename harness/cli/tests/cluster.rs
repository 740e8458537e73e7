//! What the command line says and does of cluster runs, beside programs of Slurm that tests have written.

use crate::support;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::{Ended, Sandbox, spec};
use gpbench_cluster::{ClusterFolder, PartWriter};
use gpbench_record::{Attempt, Ending, Environment, PartLine, Row};
use gpbench_runs::{kept_solutions, read_journal};

/// Settings whose intervals do not let tests wait.
const SETTINGS: &str = r#"
[slurm]
ask = { time = "5m", memory = "900MiB", threads = 1, exclusive = false }
intervals = { poll = "10ms", longest_poll = "10ms", confirm = "1s", beat = "1s", silent = "1s", stuck = "1h" }
"#;

/// Programs of a Slurm of one node that accepts each array and starts none. `queue` is what `squeue` prints.
const PROGRAMS: [(&str, &str); 5] = [
    ("scontrol", "echo 'MaxArraySize = 1001'"),
    ("sinfo", "echo 'main*|n1|4000|2|1:00:00'"),
    ("sbatch", "case \"$*\" in *--test-only*) ;; *) echo 12 ;; esac"),
    ("squeue", "cat queue"),
    ("scancel", "sed -i s/PENDING/CANCELLED/ queue"),
];

const DETACHED: [&str; 7] =
    ["run", "spec.toml", "--executor", "slurm", "--cluster", "cluster.toml", "--detach"];

/// A sandbox with a spec of two blocks of two cases, and a Slurm.
struct Cluster(Sandbox);

impl Cluster {
    fn new() -> Cluster {
        support::built("gpbench-node");
        let sandbox = Sandbox::with_spec(&spec("slurm", &[("seeds = [0]", "seeds = [0, 1]")]));
        // Otherwise a job is sent that asks what the nodes compute with.
        let told =
            Ended::of(Command::new(support::built("gpbench-worker")).arg("environment")).exits(0).json();
        let (set, core) = (&told["cpu_dispatch"], &told["blas_core"]);
        let numerics = format!("nodes.instruction_set = {set}\nnodes.blas_core = {core}\n");
        sandbox.write("cluster.toml", &format!("{SETTINGS}{numerics}"));
        sandbox.write("queue", "");
        fs::create_dir(sandbox.path("bin")).expect("a folder");
        let cluster = Cluster(sandbox);
        PROGRAMS.into_iter().for_each(|(name, script)| cluster.program(name, script));
        cluster
    }

    /// Replaces a program of Slurm.
    fn program(&self, name: &str, script: &str) {
        let path =
            self.0.write(&format!("bin/{name}"), &format!("#!/bin/sh\ncd {}\n{script}\n", self.folder()));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a file of ours");
    }

    fn folder(&self) -> String {
        self.0.path("").display().to_string()
    }

    fn command(&self, args: &[&str]) -> Command {
        let path = format!("{}:{}", self.0.path("bin").display(), std::env::var("PATH").expect("a path"));
        let mut command = self.0.command(args);
        command.env("PATH", path);
        command
    }

    fn run(&self, args: &[&str]) -> Ended {
        Ended::of(&mut self.command(args))
    }

    /// The newest run folder.
    fn newest(&self) -> PathBuf {
        fs::canonicalize(self.0.path("reports/slurm/latest")).expect("a run")
    }

    /// Sends both tasks, which wait in the queue then.
    fn send(&self) {
        self.run(&DETACHED).exits(0).says(&["sent 2 tasks; to continue: gpbench watch "]);
        self.queue(["PENDING|Priority|", "PENDING|Priority|"]);
    }

    /// Writes state, reason and node of the two tasks into the queue.
    fn queue(&self, tasks: [&str; 2]) {
        let run = self.newest();
        let run = run.file_name().expect("a folder").to_string_lossy();
        let line = |(index, task): (usize, &str)| format!("12|{index}|{task}|0|{run}.1\n");
        self.0.write("queue", &tasks.into_iter().enumerate().map(line).collect::<String>());
    }

    /// Tells what a runner tells, in the part file of the first attempt at a task.
    fn tell(&self, task: u32, lines: Vec<PartLine>) {
        let part = ClusterFolder::of(&self.newest()).part(Attempt { task, attempt: 1 });
        let mut part = PartWriter::open(&part).expect("a part file");
        lines.iter().for_each(|line| part.append(line).expect("a line"));
    }

    /// The rows that a local run of the spec writes into another folder, by id, and its environment.
    fn expected(&self) -> (BTreeMap<String, Row>, Environment) {
        self.run(&["run", "spec.toml", "-t", "1", "--output-dir", "whole"]).exits(0);
        let run = self.0.path("whole/slurm/latest");
        let rows = read_journal(&run).expect("a journal").rows;
        let environment = fs::read(run.join("environment.json")).expect("an environment");
        let environment = serde_json::from_slice(&environment).expect("an environment");
        (rows.into_iter().map(|row| (row.id.clone(), row)).collect(), environment)
    }

    /// The runner of a task writes the rows of its cases and ends, on a node with this environment.
    fn finish(&self, task: u32, rows: &BTreeMap<String, Row>, environment: &Environment) {
        let folder = ClusterFolder::of(&self.newest());
        folder.write_environment(environment).expect("a folder");
        let cases = folder.read_manifest().expect("a manifest").tasks[task as usize].cases.clone();
        let row = |id: &String| Row { environment: Some(environment.kind()), ..rows[id].clone() };
        let mut lines: Vec<PartLine> = cases.iter().map(|id| PartLine::Case(Box::new(row(id)))).collect();
        lines.push(ended());
        self.tell(task, lines);
    }
}

fn ended() -> PartLine {
    PartLine::Ended { time: "2026-01-01T00:00:00Z".into(), ending: Ending::Done, advanced: false }
}

/// How many cases a run has run or taken over: the others have no line.
fn told(ended: &Ended) -> usize {
    ended.stderr.lines().filter(|line| line.starts_with('[')).count()
}

#[test]
fn a_run_goes_on_here_once_no_task_is_left_there() {
    let cluster = Cluster::new();
    cluster.send();
    let local = ["run", "spec.toml", "-t", "1"];
    let refused = cluster.run(&local).exits(2);
    let newest = cluster.newest();
    let [watch, cancel] = ["watch", "cancel"].map(|verb| format!("`gpbench {verb} reports/slurm/"));
    refused.says(&["2 tasks may still be queued or running (12_0, 12_1)", &watch, &cancel]);
    // Another folder is free.
    cluster.run(&["run", "spec.toml", "-t", "1", "--fresh", "-s", "cg"]).exits(0);

    let newest = newest.to_str().expect("UTF-8");
    cluster.run(&["cancel", newest]).exits(0).says(&["cancelled 2 tasks; 0 of 4 cases have rows"]);
    let ran = cluster.run(&local).exits(0);
    ran.says(&["continuing"]);
    cluster.run(&["status", newest]).exits(0).prints(&["slurm: 4 of 4 rows\n"]);
}

#[test]
fn rows_of_a_cluster_are_taken_over_and_re_used() {
    let cluster = Cluster::new();
    let (rows, environment) = cluster.expected();
    cluster.send();
    let other = Environment { cpu: "of another kind".into(), ..environment.clone() };
    cluster.finish(0, &rows, &environment);
    cluster.finish(1, &rows, &other);
    // Slurm is not asked: the runners have told that they ended.
    cluster.program("squeue", "exit 1");
    let local = cluster.run(&["run", "spec.toml", "-t", "1"]).exits(0);
    assert_eq!(told(&local), 4, "{}", local.stderr);
    let mut taken = read_journal(&cluster.newest()).expect("a journal").rows;
    taken.sort_by(|a, b| a.id.cmp(&b.id));
    assert!(taken.iter().zip(rows.values()).all(|(a, b)| a.id == b.id && a.metrics == b.metrics));

    // A run here takes rows of nodes like this computer, and so does a run there.
    let again =
        cluster.run(&["run", "spec.toml", "-t", "1", "--set", "seeds=[0, 1, 2]", "-s", "cg"]).exits(0);
    again.says(&["re-used from earlier runs: 1", "of another environment (cpu), which run again: 1"]);
    let there: Vec<&str> = DETACHED.iter().chain(&["-s", "cholesky"]).copied().collect();
    let there = cluster.run(&there).exits(0);
    there.says(&["re-used from earlier runs: 1", "(cpu), which run again: 1", "sent 1 task;"]);
}

#[test]
fn a_cancellation_that_is_not_done_says_so() {
    let cluster = Cluster::new();
    cluster.send();
    cluster.program("scancel", "echo 'scancel: unrecognized option' >&2; exit 1");
    let failed = cluster.run(&["cancel"]).exits(1);
    let living = "2 tasks may still be queued or running (12_0, 12_1); to try again: gpbench cancel ";
    failed.says(&["unrecognized option", "nothing was cancelled; 0 of 4 cases have rows", living]);

    cluster.program("scancel", "echo 'Unable to contact slurm controller' >&2; exit 1");
    let mut cancel = cluster.command(&["cancel"]).stderr(Stdio::piped()).spawn().expect("gpbench");
    let mut lines = BufReader::new(cancel.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("Unable to contact")));
    let id = rustix::process::Pid::from_child(&cancel);
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("a child");
    let said: Vec<String> = lines.collect();
    assert_eq!(cancel.wait().expect("a child").code(), Some(130));
    assert!(said.iter().any(|line| line.starts_with("interrupted; nothing was cancelled")), "{said:?}");
    assert!(said.last().is_some_and(|line| line.starts_with(living)), "{said:?}");
}

#[test]
fn a_run_that_is_left_says_what_was_sent() {
    let cluster = Cluster::new();
    cluster
        .program("sbatch", "case \"$*\" in *--test-only*) ;; *) echo 'Socket timed out' >&2; exit 1 ;; esac");
    let unanswered = cluster.run(&DETACHED).exits(0);
    unanswered
        .says(&["sent 0 tasks; Slurm gave no answer for 2 tasks, which the next `gpbench watch` checks"]);
    let status = cluster.run(&["status"]).exits(0);
    status.prints(&[
        "slurm: 0 of 4 rows, 2 sent without an answer of Slurm\n",
        "continues the run: gpbench watch ",
    ]);
    // They have arrived.
    cluster.queue(["PENDING|Priority|", "PENDING|Priority|"]);
    cluster.run(&DETACHED).exits(0).says(&["nothing was left to send; to continue: "]);
    let status = cluster.run(&["status"]).exits(0);
    assert_eq!(status.stdout, "slurm: 0 of 4 rows, 2 queued (Priority)\n");
}

#[test]
fn the_state_of_each_task_is_told() {
    let cluster = Cluster::new();
    let (rows, environment) = cluster.expected();
    cluster.send();
    cluster.finish(0, &rows, &environment);
    cluster.queue(["COMPLETED|None|n1", "RUNNING|None|n1"]);
    let status = cluster.run(&["status"]).exits(0);
    assert_eq!(status.stdout, "slurm: 2 of 4 rows, 1 task running on n1\n");
    cluster.tell(1, vec![ended()]);
    let status = cluster.run(&["status"]).exits(0);
    let lines: Vec<&str> = status.stdout.lines().collect();
    assert_eq!(lines[0], "slurm: 2 of 4 rows, 1 ended with cases left");
    assert!(
        lines[1].starts_with("  nothing more is sent until this command continues the run: gpbench watch "),
        "{lines:?}"
    );

    // Somebody else cancels the second task: it is given up, and the run is over.
    cluster.queue(["COMPLETED|None|n1", "CANCELLED|None|n1"]);
    let over = cluster.run(&["watch"]).exits(1);
    over.says(&["task 1 (draw/matern32/pathwise/seed 1) is given up with 2 cases left: "]);
    cluster
        .run(&["status"])
        .exits(0)
        .prints(&["somebody else cancelled it", "continues the run: gpbench watch "]);
}

#[test]
fn runners_on_nodes_keep_the_solutions_of_a_sample_of_the_whole_plan() {
    let cluster = Cluster::new();
    let keep: Vec<&str> = DETACHED.iter().chain(&["--keep-solutions", "3"]).copied().collect();
    cluster.run(&keep).exits(0).says(&["sent 2 tasks"]);
    let run = cluster.newest();
    let manifest = ClusterFolder::of(&run).read_manifest().expect("a manifest");
    // Each task has two of the four cases, and the sample is of all.
    let runner = manifest.runner.to_str().expect("UTF-8");
    for task in ["0", "1"] {
        let args = [run.to_str().expect("UTF-8"), task, "1", "0"];
        Ended::of(&mut cluster.0.command_of(runner, &args)).exits(0);
    }
    let ids: BTreeSet<String> = manifest.cases.into_keys().collect();
    let kept: Vec<String> = kept_solutions(&run).into_keys().collect();
    assert_eq!(kept, ids.into_iter().take(3).collect::<Vec<_>>());
    // The rows of the nodes are taken over, and what is kept of them is packed and verified as that of any run.
    cluster.program("squeue", "exit 1");
    cluster.run(&["run", "spec.toml", "-t", "1"]).exits(0);
    let packed = cluster.run(&["pack", "slurm", "-o", "a.gpbench", "--solutions", "3"]).exits(0);
    packed.says(&["the solutions of 3 cases"]);
    cluster.run(&["verify", "a.gpbench", "--rerun", "0"]).exits(0);
}

#[test]
fn a_shard_without_a_case_sends_nothing() {
    let cluster = Cluster::new();
    let shard: Vec<&str> = DETACHED.iter().chain(&["--shard", "5/16"]).copied().collect();
    cluster.run(&shard).exits(0).says(&["shard 5/16 has no case"]);
    assert!(!cluster.0.path("reports").exists());
}
