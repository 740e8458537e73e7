//! A front beside a real Slurm, which `ci/slurm` starts:
//!
//! ```sh
//! ci/slurm cargo nextest run --release -p gpbench-cluster --test slurm
//! ```
//!
//! A script plays the runner. Skipped where `ci/slurm` has started nothing.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use gpbench_cluster::{
    Array, Ask, ClusterError, ClusterFolder, Front, FrontRow, Limits, Manager, PartWriter, Policy, Rows,
    Scheduler, Slurm, Store, Summary, SystemCommands,
};
use gpbench_record::testing::{case, row};
use gpbench_record::{ClusterTask, Manifest, NodeOptions, PartLine, SCHEMA, Site};
use jiff::Timestamp;
use tempfile::TempDir;

/// Longest time until a run is finished.
const PATIENCE: Duration = Duration::from_secs(60);

/// Plays the runner: `die` is killed, `wait` waits for a file, all others end at once.
const RUNNER: &str = r#"#!/bin/bash
run="$1" part="$1/cluster/parts/$(printf %04d.%02d "$2" "$3").jsonl"
say() {
    local rest=",\"time\":\"$(date -u +%FT%TZ)\",\"kind\":$1}"
    echo "{\"check\":\"$(printf %s "$rest" | sha256sum | cut -c 1-16)\"$rest" >>"$part"
}
trap 'say "\"ended\",\"why\":\"signal\",\"signal\":15"; exit 75' TERM
say "\"begun\",\"place\":{\"node\":\"$SLURMD_NODENAME\",\"job\":$SLURM_ARRAY_JOB_ID,\"attempt\":$3,\"environment\":\"e\",\"shared\":true}"
for id in $(sed -n '1s/.*"cases":\[\([^]]*\)\].*/\1/p' "$part" | tr -d '"' | tr , ' '); do
    say "\"started\",\"id\":\"$id\""
    case "$id" in
    die*) kill -KILL $$ ;;
    wait*)
        echo $$ >"$run/pid-$id"
        until [[ -e "$run/go" ]]; do
            sleep 0.3 & wait $!
            say '"beat"'
        done ;;
    esac
    cat "$run/rows/$id" >>"$part"
done
say '"ended","why":"done"'
"#;

/// Counts rows and keeps those that the front wrote.
#[derive(Debug, Default)]
struct Journal {
    copied: Vec<String>,
    written: Vec<String>,
}

impl Rows for Journal {
    fn copy(&mut self, id: &str, line: &[u8]) -> Result<(), ClusterError> {
        let entry: PartLine = serde_json::from_slice(line).expect("the line of a case");
        assert!(matches!(entry, PartLine::Case(row) if row.id == id));
        self.copied.push(id.to_owned());
        Ok(())
    }

    fn write(&mut self, row: &FrontRow) -> Result<(), ClusterError> {
        self.written.push(format!("{} {}: {}", row.id, row.status, row.reason));
        Ok(())
    }
}

/// A run on the cluster of `ci/slurm`.
struct Run {
    manager: Manager<Slurm<SystemCommands>, Store<Journal>>,
    limits: Limits,
    folder: TempDir,
    slurm: PathBuf,
    /// Tests use the same cluster one after another.
    _alone: File,
}

/// The folder of `ci/slurm`.
fn cluster(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("GPBENCH_SLURM").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("{test}: skipped, since GPBENCH_SLURM is not set; ci/slurm sets it");
    }
    folder
}

fn manifest(tasks: &[&[&str]], folder: &Path) -> Manifest {
    let task = |cases: &&[&str]| ClusterTask {
        cases: cases.iter().map(|&id| id.to_owned()).collect(),
        seconds: 600,
        memory_bytes: 200 << 20,
        threads: 1,
    };
    let mut site = Site::default();
    site.ask.exclusive = false;
    Manifest {
        schema: SCHEMA,
        run: folder.file_name().expect("a folder has a name").to_string_lossy().into_owned(),
        runner: folder.join("runner"),
        worker: folder.join("worker"),
        cases: BTreeMap::new(),
        options: NodeOptions::default(),
        tasks: tasks.iter().map(task).collect(),
        site,
    }
}

impl Run {
    fn new(slurm: PathBuf, tasks: &[&[&str]]) -> Self {
        let lock = OpenOptions::new().create(true).append(true).open(slurm.join("lock")).unwrap();
        lock.lock().unwrap();
        let folder = tempfile::Builder::new().prefix("run-").tempdir_in(slurm.join("shared")).unwrap();
        let manifest = manifest(tasks, folder.path());
        fs::write(&manifest.runner, RUNNER).unwrap();
        fs::set_permissions(&manifest.runner, fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(folder.path().join("rows")).unwrap();
        for id in tasks.concat() {
            let mut row = row(case("cg"), &[("residual_y", 0.1)]);
            row.id = id.to_owned();
            let line = PartLine::Case(Box::new(row));
            PartWriter::create(&folder.path().join("rows").join(id), &line).unwrap();
        }
        let files = ClusterFolder::of(folder.path());
        files.create().unwrap();
        files.write_manifest(&manifest).unwrap();
        files.write_script(&manifest).unwrap();
        let scheduler = Slurm {
            commands: SystemCommands::default(),
            site: manifest.site.clone(),
            name: format!("gpbench-{}", manifest.run),
            folder: folder.path().to_owned(),
            logs: files.logs(),
            script: files.script(),
        };
        let limits = scheduler.limits().unwrap();
        limits.check(&manifest.tasks).unwrap();
        let (store, known) = Store::open(files, Journal::default(), true).unwrap();
        let policy = Policy {
            confirm_seconds: 2.0,
            silent_seconds: 4.0,
            stuck_seconds: 8.0,
            poll_seconds: 0.3,
            longest_poll_seconds: 0.3,
            ..Policy::default()
        };
        let (rows, now) = (HashSet::new(), Timestamp::now());
        let front = Front::new(&manifest, limits.clone(), policy, rows, &known.ledger, &known.parts, now);
        Self { manager: Manager::new(front, scheduler, store), limits, folder, slurm, _alone: lock }
    }

    /// Rounds until `is_enough`.
    fn until(&mut self, what: &str, is_enough: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_enough(self) {
            assert!(Instant::now() < deadline, "no {what}: {:?}", self.summary());
            let round = self.manager.round(Timestamp::now()).unwrap();
            round.notes.iter().for_each(|note| eprintln!("{note}"));
            thread::sleep(Duration::from_secs_f64(round.pause_seconds));
        }
    }

    fn finish(&mut self) {
        self.until("end", |run| run.manager.front.is_finished());
    }

    fn summary(&self) -> Summary {
        self.manager.front.summary()
    }

    fn copied(&self) -> Vec<String> {
        let mut copied = self.manager.records.rows.copied.clone();
        copied.sort();
        copied
    }

    /// Lets the cases that wait go on.
    fn go(&self) {
        fs::write(self.folder.path().join("go"), "").unwrap();
    }

    /// Waits until a case that waits has begun; the number of its runner's process.
    fn process_of(&mut self, id: &str) -> String {
        let path = self.folder.path().join(format!("pid-{id}"));
        self.until("process", |_| fs::read_to_string(&path).is_ok_and(|text| text.ends_with('\n')));
        fs::read_to_string(&path).unwrap().trim().to_owned()
    }

    /// The number of arrays that were sent.
    fn jobs(&self) -> usize {
        let tasks = self.manager.scheduler.poll().unwrap();
        tasks.iter().map(|task| task.job).collect::<HashSet<u64>>().len()
    }

    /// Ends a daemon of the cluster, and waits until it is gone.
    fn stop(&self, daemon: &str, signal: &str) {
        let file = self.slurm.join("run").join(format!("{daemon}.pid"));
        let wait = "while [[ -d /proc/$pid && $(sed 's/.*) //; s/ .*//' /proc/$pid/stat) != Z ]]; do sleep 0.1; done";
        shell(&format!("pid=$(cat {}); kill -{signal} $pid; {wait}", file.display()));
    }

    /// What the scheduler says of the tasks, one line each.
    fn queue(&self) -> Vec<String> {
        let tasks = self.manager.scheduler.poll().unwrap();
        tasks.iter().map(|task| format!("{} {} {}", task.state, task.reason, task.exit)).collect()
    }
}

impl Drop for Run {
    /// Leaves nothing in the queue, however a test ends.
    fn drop(&mut self) {
        let _ = Command::new("scancel").arg(format!("--name={}", self.manager.scheduler.name)).status();
    }
}

/// Runs a command of the shell; what it printed.
fn shell(command: &str) -> String {
    let output = Command::new("bash").args(["-c", command]).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn thirty_tasks_run_in_three_arrays() {
    let Some(slurm) = cluster("thirty_tasks_run_in_three_arrays") else { return };
    let ids: Vec<[String; 2]> = (10..40).map(|k| [format!("a{k}"), format!("b{k}")]).collect();
    let tasks: Vec<Vec<&str>> = ids.iter().map(|pair| pair.iter().map(String::as_str).collect()).collect();
    let tasks: Vec<&[&str]> = tasks.iter().map(Vec::as_slice).collect();
    let mut run = Run::new(slurm, &tasks);
    assert_eq!(run.limits.array_size, 11);
    run.finish();
    let mut all = ids.concat();
    all.sort();
    assert_eq!(run.copied(), all);
    assert_eq!((run.jobs(), run.summary().duplicates), (3, 0));
}

#[test]
fn limits_are_known_and_what_exceeds_them_is_refused_before_it_is_sent() {
    let Some(slurm) = cluster("limits_are_known") else { return };
    let run = Run::new(slurm, &[&["a"]]);
    let nodes: Vec<_> = run.limits.nodes.iter().map(|node| (node.name.as_str(), node.processors)).collect();
    assert_eq!((run.limits.seconds, nodes), (Some(3600), vec![("n1", 2), ("n2", 2)]));
    let mut task = manifest(&[&["a"]], run.folder.path()).tasks;
    task[0].seconds = 3601;
    let error = run.limits.check(&task).unwrap_err();
    assert!(
        error.to_string().starts_with("task 0 asks for 61 min and the partition allows 60 min"),
        "{error}"
    );
    let mut array = Array {
        comment: "test".into(),
        count: 3,
        ask: Ask { seconds: 600, memory_bytes: 1 << 30, threads: 1 },
        throttle: None,
        excluded: Vec::new(),
        argument: "1".into(),
    };
    run.manager.scheduler.test(&array).unwrap();
    array.ask.memory_bytes = 100 << 30;
    let error = run.manager.scheduler.test(&array).unwrap_err();
    assert!(!error.may_pass() && error.said.contains("Requested node configuration"), "{error}");
    assert_eq!(run.queue(), [""; 0]);
}

#[test]
fn killed_cancelled_and_preempted_tasks() {
    let Some(slurm) = cluster("killed_cancelled_and_preempted_tasks") else { return };
    let mut run = Run::new(slurm, &[&["die", "z"], &["wait-a"], &["wait-b"]]);
    run.process_of("wait-a");
    run.process_of("wait-b");
    // Somebody else cancels one of them.
    let of_a = run.manager.scheduler.poll().unwrap();
    let of_a = of_a.iter().find(|task| task.index == 1).unwrap();
    shell(&format!("scancel {}_{}", of_a.job, of_a.index));
    run.until("withdrawal", |run| run.summary().given_up.len() == 1);
    // A more important job takes both nodes.
    let urgent = shell("sbatch --parsable -p urgent -N 2 --exclusive --output=/dev/null --wrap 'sleep 3'");
    run.until("preemption", |run| run.queue().iter().any(|task| task.starts_with("PREEMPTED")));
    shell(&format!("while squeue -h -j {urgent} -t R,PD | grep -q .; do sleep 0.2; done"));
    run.go();
    run.finish();
    assert_eq!(run.copied(), ["wait-b", "z"]);
    assert_eq!(run.manager.records.rows.written, ["die crashed: killed three times (signal 9)"]);
    assert_eq!(run.summary().left, ["wait-a"]);
}

#[test]
fn the_user_ends_a_run() {
    let Some(slurm) = cluster("the_user_ends_a_run") else { return };
    let mut run =
        Run::new(slurm, &[&["wait-a"], &["wait-b"], &["wait-c"], &["wait-d"], &["wait-e"], &["wait-f"]]);
    run.process_of("wait-a");
    run.manager.front.end();
    run.finish();
    assert!(run.queue().iter().all(|task| task.starts_with("CANCELLED")), "{:?}", run.queue());
    assert!(run.copied().is_empty() && run.summary().left.is_empty());
}

#[test]
fn a_task_whose_step_is_dead_runs_again() {
    let Some(slurm) = cluster("a_task_whose_step_is_dead_runs_again") else { return };
    let mut run = Run::new(slurm, &[&["wait-a", "b"]]);
    let process = run.process_of("wait-a");
    // The scheduler goes on to say that it runs.
    let step = shell(&format!("ps -o ppid= -p {process}"));
    shell(&format!("kill -KILL {step} {process}"));
    run.go();
    run.finish();
    assert_eq!(run.copied(), ["b", "wait-a"]);
    assert_eq!(run.summary().duplicates, 0);
}

#[test]
fn copies_outlive_their_node() {
    let Some(slurm) = cluster("copies_outlive_their_node") else { return };
    let mut run = Run::new(slurm, &[&["wait-a"], &["wait-b"], &["wait-c"], &["wait-d"]]);
    for id in ["wait-a", "wait-b", "wait-c", "wait-d"] {
        run.process_of(id);
    }
    run.stop("slurmd-n2", "KILL");
    run.until("failure of the node", |run| run.queue().iter().any(|task| task.starts_with("NODE_FAIL")));
    // Each copy still lives, so none was sent again.
    run.go();
    run.finish();
    shell("slurmd -N n2");
    assert_eq!(run.copied(), ["wait-a", "wait-b", "wait-c", "wait-d"]);
    assert_eq!((run.jobs(), run.summary().duplicates), (1, 0));
    shell("until [[ $(sinfo -h -N -p main -o %t | sort -u) == idle ]]; do sleep 0.5; done");
}

#[test]
fn a_run_outlives_the_controller() {
    let Some(slurm) = cluster("a_run_outlives_the_controller") else { return };
    let mut run = Run::new(slurm, &[&["wait-a"], &["wait-b"]]);
    for id in ["wait-a", "wait-b"] {
        run.process_of(id);
    }
    run.stop("slurmctld", "TERM");
    let round = run.manager.round(Timestamp::now()).unwrap();
    assert!(round.notes.iter().any(|note| note.contains("Unable to contact slurm controller")), "{round:?}");
    run.go();
    run.until("rows", |run| run.copied().len() == 2);
    shell("slurmctld; until scontrol ping >/dev/null; do sleep 0.2; done");
    run.finish();
    assert_eq!((run.jobs(), run.summary().duplicates), (1, 0));
}
