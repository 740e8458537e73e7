//! Runs on the cluster of `ci/slurm`, and what they leave.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Ended, Sandbox, built, reproducible, spec};

/// Settings with intervals of seconds.
pub const SETTINGS: &str = r#"
[slurm]
ask = { time = "5m", memory = "900MiB", threads = 1, exclusive = false }
intervals = { poll = "500ms", longest_poll = "1s", confirm = "2s", beat = "1s", silent = "4s", stuck = "8s" }
"#;

/// Longest time that a run may take in all, whatever happens to it.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// The arguments of a run on the cluster.
pub const RUN: [&str; 8] =
    ["run", "spec.toml", "--executor", "slurm", "--cluster", "cluster.toml", "--quiet", "--skip-missing"];

/// Metrics that do not depend on the machine, in the order of the report.
pub type Metrics = Vec<(String, Value)>;

/// The cluster of `ci/slurm`.
pub struct Cluster {
    pub folder: PathBuf,
    /// Tests use it one after another.
    _alone: fs::File,
}

impl Cluster {
    /// The cluster, once no other test uses it; absent where there is none.
    pub fn of(test: &str) -> Option<Cluster> {
        let Some(folder) = std::env::var_os("GPBENCH_SLURM").map(PathBuf::from) else {
            eprintln!("{test}: skipped, since GPBENCH_SLURM is not set; ci/slurm sets it");
            return None;
        };
        let alone = fs::File::create(folder.join("lock")).expect("a file");
        alone.lock().expect("a lock");
        Some(Cluster { folder, _alone: alone })
    }

    /// The process of a daemon.
    pub fn daemon(&self, name: &str) -> Option<i32> {
        let text = fs::read_to_string(self.folder.join(format!("run/{name}.pid"))).ok()?;
        text.trim().parse().ok()
    }

    /// Whether each node has file systems of its own.
    pub fn has_mounts(&self) -> bool {
        let mounts = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
        let node = self.daemon("slurmd-n2").and_then(|process| mounts(&process.to_string()));
        node.is_some() && node != mounts("self")
    }
}

/// What a command of the shell prints. It may fail.
pub fn shell(command: &str) -> String {
    let output = Command::new("bash").args(["-c", command]).output().expect("bash");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// The settings, with what this machine and thus the nodes compute with.
pub fn settings() -> String {
    let told = Ended::of(Command::new(built("gpbench-worker")).arg("environment")).exits(0).json();
    let (set, core) = (&told["cpu_dispatch"], &told["blas_core"]);
    format!("{SETTINGS}nodes.instruction_set = {set}\nnodes.blas_core = {core}\n")
}

/// A sandbox with a spec of four blocks of `n` rows, and the settings of a cluster.
pub fn sandbox(n: usize) -> Sandbox {
    let rows = format!("n = {n}");
    sandbox_of(&spec("slurm", &[("seeds = [0]", "seeds = [0, 1, 2, 3]"), ("n = 60", &rows)]))
}

/// A sandbox with a spec and the settings of a cluster.
pub fn sandbox_of(spec: &str) -> Sandbox {
    let sandbox = Sandbox::with_spec(spec);
    sandbox.write("cluster.toml", &settings());
    sandbox
}

/// Adds lines of the shell that run before each task. None may hold three quotation marks in a row.
pub fn set_up(sandbox: &Sandbox, lines: &[String]) {
    let lines: Vec<String> = lines.iter().map(|line| format!("'''{line}'''")).collect();
    sandbox.write("cluster.toml", &format!("{}nodes.setup = [{}]\n", settings(), lines.join(", ")));
}

/// What a local run of the spec of [`sandbox`] gives, by id.
pub fn expected(n: usize) -> BTreeMap<String, Metrics> {
    let sandbox = sandbox(n);
    sandbox.run(&["run", "spec.toml", "-t", "1"]).exits(0);
    by_id(&sandbox)
}

/// The metrics of the newest run, by id of the case.
pub fn by_id(sandbox: &Sandbox) -> BTreeMap<String, Metrics> {
    let id = |case: &Value| case["id"].as_str().expect("an id").to_owned();
    sandbox.cases().iter().map(|case| (id(case), reproducible(case))).collect()
}

/// The ids of the journal's lines, one for each line.
pub fn journal(sandbox: &Sandbox) -> Vec<String> {
    let lines = lines(&sandbox.path("reports/slurm/latest/journal.jsonl"));
    lines.iter().map(|line| line["id"].as_str().expect("an id").to_owned()).collect()
}

/// The complete lines of a file of JSON lines; none where it is not there.
pub fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Waits for something that has to come.
pub fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what} does not come");
        thread::sleep(Duration::from_millis(20));
    }
}
