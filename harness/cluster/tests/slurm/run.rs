//! A run whose tasks are played by a script.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use gpbench_cluster::{
    ClusterError, ClusterFolder, ClusterLimits, Front, FrontRow, FrontSummary, Manager, PartWriter, Policy,
    RunFiles, RunJournal, Scheduler, Slurm, SystemCommands,
};
use gpbench_record::testing::{case, row};
use gpbench_record::{ClusterTask, Environment, Manifest, NodeOptions, PartLine, Row, SCHEMA, Site};
use jiff::Timestamp;
use tempfile::TempDir;

/// Longest time until a run is finished.
const PATIENCE: Duration = Duration::from_secs(150);

/// Plays the runner: `die` is killed, `wait` waits for a file, `slow` takes a moment, all others end at once.
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
    slow*)
        echo $$ >"$run/pid-$id"
        sleep 0.7 & wait $! ;;
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
pub(super) struct Journal {
    pub(super) copied: Vec<String>,
    pub(super) written: Vec<String>,
}

impl Journal {
    /// Cases that have rows.
    pub(super) fn ids(&self) -> HashSet<String> {
        let written = self.written.iter().filter_map(|row| row.split(' ').next());
        self.copied.iter().map(String::as_str).chain(written).map(str::to_owned).collect()
    }
}

impl RunJournal for Journal {
    fn copy(&mut self, row: &Row, line: &[u8]) -> Result<(), ClusterError> {
        let entry: PartLine = serde_json::from_slice(line).expect("the line of a case");
        assert!(matches!(entry, PartLine::Case(copied) if copied.id == row.id));
        self.copied.push(row.id.clone());
        Ok(())
    }

    fn write(&mut self, row: &FrontRow) -> Result<(), ClusterError> {
        self.written.push(format!("{} {}: {}", row.id, row.status, row.reason));
        Ok(())
    }
}

pub(super) type TestManager = Manager<Slurm<SystemCommands>, RunFiles<Journal>>;

/// A run on the cluster of `ci/slurm`.
pub(super) struct Run {
    pub(super) manager: TestManager,
    manifest: Manifest,
    pub(super) limits: ClusterLimits,
    pub(super) folder: TempDir,
    pub(super) slurm: PathBuf,
    /// Tests use the same cluster one after another.
    _alone: File,
}

/// The folder of `ci/slurm`.
pub(super) fn cluster(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("GPBENCH_SLURM").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("{test}: skipped, since GPBENCH_SLURM is not set; ci/slurm sets it");
    }
    folder
}

pub(super) fn manifest(tasks: &[&[&str]], folder: &Path) -> Manifest {
    let task = |cases: &&[&str]| ClusterTask {
        cases: cases.iter().map(|&id| id.to_owned()).collect(),
        seconds: 600,
        memory_bytes: 512 << 20,
        threads: 1,
    };
    let mut site = Site::default();
    site.ask.exclusive = false;
    Manifest {
        schema: SCHEMA,
        run: folder.file_name().expect("a folder has a name").to_string_lossy().into_owned(),
        runner: folder.join("runner"),
        worker: folder.join("worker"),
        started_in: Environment::default(),
        cases: BTreeMap::new(),
        libraries: Vec::new(),
        options: NodeOptions::default(),
        tasks: tasks.iter().map(task).collect(),
        site,
    }
}

fn scheduler(manifest: &Manifest, folder: &Path) -> Slurm<SystemCommands> {
    let files = ClusterFolder::of(folder);
    Slurm {
        commands: SystemCommands::default(),
        site: manifest.site.clone(),
        name: format!("gpbench-{}", manifest.run),
        folder: folder.to_owned(),
        logs: files.logs(),
        script: files.script(),
    }
}

/// A front that knows what the files of a run tell.
fn manager(manifest: &Manifest, folder: &Path, limits: &ClusterLimits, journal: Journal) -> TestManager {
    let rows = journal.ids();
    let (store, known) = RunFiles::open(ClusterFolder::of(folder), journal, false).unwrap();
    let policy = Policy {
        confirm_seconds: 2.0,
        silent_seconds: 4.0,
        stuck_seconds: 8.0,
        poll_seconds: 0.3,
        longest_poll_seconds: 0.3,
        ..Policy::default()
    };
    let now = Timestamp::now();
    let front = Front::new(manifest, limits.clone(), policy, rows, &known.ledger, &known.parts, now);
    Manager::new(front, scheduler(manifest, folder), store)
}

impl Run {
    pub(super) fn new(slurm: PathBuf, tasks: &[&[&str]]) -> Self {
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
        let limits = scheduler(&manifest, folder.path()).limits().unwrap();
        limits.check(&manifest.tasks).unwrap();
        let manager = manager(&manifest, folder.path(), &limits, Journal::default());
        Self { manager, manifest, limits, folder, slurm, _alone: lock }
    }

    /// Another front takes over.
    pub(super) fn restart(&mut self) {
        let journal = std::mem::take(&mut self.manager.records.rows);
        self.manager = manager(&self.manifest, self.folder.path(), &self.limits, journal);
    }

    /// Rounds until `is_enough`.
    pub(super) fn until(&mut self, what: &str, is_enough: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_enough(self) {
            assert!(Instant::now() < deadline, "no {what}: {:?}", self.summary());
            let round = self.manager.round(Timestamp::now()).unwrap();
            round.notes.iter().for_each(|note| eprintln!("{note}"));
            thread::sleep(Duration::from_secs_f64(round.pause_seconds));
        }
    }

    pub(super) fn finish(&mut self) {
        self.until("end", |run| run.manager.front.is_finished());
    }

    pub(super) fn summary(&self) -> FrontSummary {
        self.manager.front.summary()
    }

    pub(super) fn copied(&self) -> Vec<String> {
        let mut copied = self.manager.records.rows.copied.clone();
        copied.sort();
        copied
    }

    /// Lets the cases that wait go on.
    pub(super) fn go(&self) {
        fs::write(self.folder.path().join("go"), "").unwrap();
    }

    /// Waits until a case that waits has begun; the number of its runner's process.
    pub(super) fn process_of(&mut self, id: &str) -> String {
        let path = self.folder.path().join(format!("pid-{id}"));
        self.until("process", |_| fs::read_to_string(&path).is_ok_and(|text| text.ends_with('\n')));
        fs::read_to_string(&path).unwrap().trim().to_owned()
    }

    /// The number of arrays that were sent.
    pub(super) fn jobs(&self) -> usize {
        let tasks = self.manager.scheduler.poll().unwrap();
        tasks.iter().map(|task| task.job).collect::<HashSet<u64>>().len()
    }

    /// Ends a daemon of the cluster, and waits until it is gone.
    pub(super) fn stop(&self, daemon: &str, signal: &str) {
        let file = self.slurm.join("run").join(format!("{daemon}.pid"));
        let wait = "while [[ -d /proc/$pid && $(sed 's/.*) //; s/ .*//' /proc/$pid/stat) != Z ]]; do sleep 0.1; done";
        shell(&format!("pid=$(cat {}); kill -{signal} $pid; {wait}", file.display()));
    }

    /// What the scheduler says of the tasks, one line each.
    pub(super) fn queue(&self) -> Vec<String> {
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
pub(super) fn shell(command: &str) -> String {
    let output = Command::new("bash").args(["-c", command]).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
