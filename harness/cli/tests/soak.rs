//! A soak: many small cases while faults happen to processes and files. Whatever happens, the same command goes on,
//! and in the end there is one row for each case, bit-equal to that of a quiet run.
//!
//! `testkit/hostile/c/faults.c` does the faults: workers and gpbench are killed or asked to end; the journal,
//! checkpoints, exact references, copies of data sets and solutions are cut, flipped or removed; descriptors, memory
//! and space on the disk (by RLIMIT_FSIZE) are refused; programs and libraries are replaced or overwritten in place. Which
//! start of a worker has which fault follows from a seed; the moments of later kills differ from run to run, and the
//! assertions hold for all of them.
//!
//! Here, 200 cases run with a fault in 4 of 100 starts. `ci/soak` runs 2000 with a fault in 1 of 100.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::zoo::{compile, files, survivors, temporary};
use crate::support::{Sandbox, is_reproducible, library};
use serde_json::Value;

/// A tenth of the cases of a whole soak.
const CASES: usize = 200;
/// Starts among 10 000 that have a fault.
const RATE: usize = 400;
const SEED: usize = 1;

/// Programs and libraries of a run, which faults replace.
const PROGRAMS: [&str; 5] = [
    "gpbench",
    "gpbench-worker",
    "libgpbench_plugin_cg.so",
    "libgpbench_plugin_cholesky.so",
    "libgpbench_plugin_block_cg.so",
];

/// A number from the environment.
fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|e| panic!("{name}: {e}")))
}

const TOP: &str = r#"schema = 1
name = "NAME"
task = "NAME"
seeds = SEEDS

[matrix]
dataset = ["draw", "table"]
kernel = ["matern32"]
estimator = ["pathwise"]
solver = ["cg", "cholesky", "block-cg"]

[dataset.draw]
from = "gp-draw"
n = 40
d = 1

[dataset.table]
path = "rows.csv"

[budget]
tolerance = 1e-6
max_epochs = 500

"#;

const KNOWN: &str = r#"[kernel.matern32]
hyperparameters = { signal_scale = 1.0, noise_scale = 0.3, length_scale = 1.0 }
"#;

const POSTERIOR: &str = "[estimator.pathwise]\nprobes = 2\nfeatures = 20\n";

const TRAINING: &str = r#"[kernel.matern32]
hyperparameters = "ones"

[estimator.pathwise]
probes = 2
features = 20
warm_start = true

[train]
steps = 3
"#;

const LIKELIHOOD: &str = r#"[estimator.pathwise]
method = "standard"
probes = 2

[likelihood]
repetitions = 3
"#;

/// Cases of one seed: data sets times solvers.
const CASES_OF_A_SEED: usize = 6;

/// A spec of at least so many cases of a task.
fn spec(task: &str, cases: usize) -> String {
    let seeds: Vec<usize> = (0..cases.div_ceil(CASES_OF_A_SEED)).collect();
    let rest = match task {
        "posterior" => format!("{KNOWN}\n{POSTERIOR}"),
        "train" => TRAINING.to_owned(),
        "likelihood" => format!("{KNOWN}\n{LIKELIHOOD}"),
        _ => unreachable!("no such task"),
    };
    format!("{}{rest}", TOP.replace("NAME", task).replace("SEEDS", &format!("{seeds:?}")))
}

/// A sandbox with programs of its own.
struct Soak {
    sandbox: Sandbox,
    seed: usize,
    rate: usize,
}

/// One command: how it ended, and what it printed to standard error.
struct Attempt {
    code: Option<i32>,
    signal: Option<i32>,
    said: String,
}

impl Soak {
    fn new() -> Soak {
        let sandbox = Sandbox::new();
        for folder in ["bin", "kept", "state", "tmp"] {
            std::fs::create_dir(sandbox.path(folder)).expect("a writable folder");
        }
        for name in PROGRAMS {
            std::fs::copy(built(name), sandbox.path("kept").join(name)).expect("a writable folder");
        }
        compile("faults.c", &[], &sandbox.path("faults.so"));
        let row = |i: u32| format!("{},{}\n", f64::from(i) / 7.0, (f64::from(i) / 5.0).sin());
        let rows: String = (0..40).map(row).collect();
        sandbox.write("rows.csv", &format!("x,y\n{rows}"));
        Soak { sandbox, seed: setting("GPBENCH_SOAK_SEED", SEED), rate: setting("GPBENCH_SOAK_RATE", RATE) }
    }

    /// Puts back the programs that a fault has changed.
    fn restore_programs(&self) {
        for name in PROGRAMS {
            let (kept, used) = (self.sandbox.path("kept").join(name), self.sandbox.path("bin").join(name));
            let content = std::fs::read(&kept).expect("a file");
            if std::fs::read(&used).ok().as_ref() != Some(&content) {
                let new = used.with_extension("restored");
                std::fs::copy(&kept, &new).expect("a writable folder");
                std::fs::rename(&new, &used).expect("a writable folder");
            }
        }
    }

    /// Runs the spec once; quietly, or with faults.
    fn attempt(&self, task: &str, quiet: bool) -> Attempt {
        self.restore_programs();
        let program = self.sandbox.path("bin/gpbench");
        let program = program.to_str().expect("UTF-8");
        let spec = format!("{task}.toml");
        let output = if quiet { "quiet" } else { "reports" };
        // A file beyond RLIMIT_FSIZE is then an error, as on a full disk.
        let ignoring = "trap '' XFSZ; exec \"$0\" \"$@\"";
        let mut command = self.sandbox.command_of("/bin/sh", &["-c", ignoring, program, "run", &spec]);
        command
            .args(["-t", "2", "-j", "2", "--output-dir", output])
            .env("GPBENCH_CACHE", self.sandbox.path(if quiet { "quiet-cache" } else { "cache" }))
            .env("TMPDIR", self.sandbox.path("tmp"))
            .env("LD_PRELOAD", self.sandbox.path("faults.so"));
        if !quiet {
            command
                .env("SOAK_STATE", self.sandbox.path("state"))
                .env("SOAK_SEED", self.seed.to_string())
                .env("SOAK_RATE", self.rate.to_string());
        }
        end_of(&mut command)
    }

    /// Repeats the command until nothing is left to run; the number of attempts.
    fn repeat(&self, task: &str, most: usize) -> usize {
        let mut last = String::new();
        for attempts in 1..=most {
            let Attempt { code, signal, said } = self.attempt(task, false);
            assert!(!said.contains("panicked"), "{task}, attempt {attempts}: {said}");
            let known = match (code, signal) {
                // Rows are missing or nothing is; a full disk and the like; a signal that asked for the end.
                (Some(code), _) => [0, 1, 70].contains(&code) || code > 128,
                (None, signal) => signal == Some(9),
            };
            assert!(known, "{task}, attempt {attempts}: code {code:?}, signal {signal:?}: {said}");
            if said.contains("nothing was left to run") {
                return attempts;
            }
            last = format!("code {code:?}, signal {signal:?}: {said}");
        }
        panic!("{task} is not complete after {most} attempts; the last one: {last}");
    }

    /// The rows of the one run in an output folder, without times and memory.
    fn rows(&self, output: &str, task: &str) -> BTreeMap<String, Value> {
        let parent = self.sandbox.path(output).join(task);
        let is_run = |path: &PathBuf| path.is_dir() && !path.is_symlink();
        let entries = std::fs::read_dir(&parent).expect("a folder of runs");
        let runs: Vec<PathBuf> =
            entries.map(|entry| entry.expect("an entry").path()).filter(is_run).collect();
        assert_eq!(runs.len(), 1, "every attempt at {task} went on in the same folder");
        let read = gpbench_runs::read_journal(&runs[0]).expect("a journal");
        let text = std::fs::read(runs[0].join("journal.jsonl")).expect("a journal");
        let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).count();
        assert_eq!(lines, read.rows.len() + read.damaged.len(), "no case of {task} has two rows");
        read.rows
            .into_iter()
            .map(|row| (row.id.clone(), timeless(serde_json::to_value(row).expect("a row"))))
            .collect()
    }

    /// How often each fault was done.
    fn faults(&self) -> BTreeMap<String, usize> {
        let text = std::fs::read_to_string(self.sandbox.path("state/faults")).unwrap_or_default();
        let mut counts = BTreeMap::new();
        for line in text.lines() {
            *counts.entry(line.to_owned()).or_default() += 1;
        }
        counts
    }
}

/// A file beside the program.
fn built(name: &str) -> PathBuf {
    library("gpbench_plugin_cg").with_file_name(name)
}

fn end_of(command: &mut Command) -> Attempt {
    // The output of a killed gpbench ends with it: its workers write to logs.
    let output = command.stdout(Stdio::null()).output().expect("the program starts");
    Attempt {
        code: output.status.code(),
        signal: output.status.signal(),
        said: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// A row without what two runs of a case do not share.
fn timeless(mut row: Value) -> Value {
    let keep = |metrics: &mut Value| {
        if let Some(metrics) = metrics.as_object_mut() {
            metrics.retain(|name, _| is_reproducible(name));
        }
    };
    let object = row.as_object_mut().expect("a row is an object");
    object.remove("finished");
    keep(&mut object["metrics"]);
    for point in object["trace"].as_array_mut().into_iter().flatten() {
        point["seconds"] = Value::Null;
        keep(&mut point["metrics"]);
    }
    if let Some(steps) = object["output"].get_mut("steps").and_then(Value::as_array_mut) {
        steps.iter_mut().for_each(|step| keep(&mut step["metrics"]));
    }
    row
}

#[test]
fn whatever_happens_every_case_has_the_row_of_a_quiet_run() {
    let soak = Soak::new();
    let cases = setting("GPBENCH_SOAK_CASES", CASES);
    let shares = [("posterior", cases * 7 / 10), ("train", cases * 2 / 10), ("likelihood", cases / 10)];
    let (mut done, mut attempts) = (0, 0);
    for (task, count) in shares {
        soak.sandbox.write(&format!("{task}.toml"), &spec(task, count));
        let Attempt { code, said, .. } = soak.attempt(task, true);
        assert_eq!(code, Some(0), "{said}");
        let quiet = soak.rows("quiet", task);
        assert!(quiet.len() >= count && quiet.values().all(|row| row["status"] == "ok"));

        attempts += soak.repeat(task, 100 + cases / 4);
        let rows = soak.rows("reports", task);
        assert_eq!(
            rows.keys().collect::<Vec<_>>(),
            quiet.keys().collect::<Vec<_>>(),
            "rows of {task} are lost"
        );
        for (id, row) in &rows {
            assert_eq!(*row, quiet[id], "the row of a healthy case of {task} changed");
        }
        done += rows.len();
    }
    assert_eq!(survivors(&soak.sandbox.path(".")), [0; 0], "no process is left");
    assert_eq!(temporary(&files(&soak.sandbox.path("reports"))), None, "no temporary file is left");
    let parts =
        files(&soak.sandbox.path("cache")).into_iter().find(|file| file.to_string_lossy().contains(".part"));
    assert_eq!(parts, None, "no incomplete file is left in the cache");
    let faults = soak.faults();
    let total: usize = faults.values().sum();
    println!(
        "tried {total} faults in {done} cases and {attempts} attempts: no row lost, none twice, none changed"
    );
    for (fault, count) in faults {
        println!("tried {fault}: {count}");
    }
}
