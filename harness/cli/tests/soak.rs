//! A soak: many small cases of every task, and of shards that are merged, while faults happen to processes and files.
//! Whatever happens, the same command goes on, and in the end there is one row for each case, bit-equal to that of a quiet
//! run.
//!
//! `testkit/hostile/c/faults.c` does the faults: workers and gpbench are killed, frozen or asked to end; the journal,
//! checkpoints, exact references, copies of data sets and solutions are cut, flipped or removed; descriptors, memory
//! and space on the disk (by RLIMIT_FSIZE) are refused; programs and libraries are replaced or overwritten in place. Which
//! start of a worker has which fault follows from a seed; the moments of later kills differ from run to run, and the
//! assertions hold for all of them.
//!
//! Rows of shards are compared where they are merged.
//!
//! Here, 60 cases run with a fault in 10 of 100 starts. `ci/soak` runs 2000 with a fault in 1 of 100.

mod specs;

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::zoo::{compile, files, survivors, temporary};
use crate::support::{Sandbox, is_reproducible, library};
use serde_json::Value;

use self::specs::{PARTS, Part};

/// A small part of the cases of a whole soak, with more faults among them.
const CASES: usize = 60;
/// Starts among 10 000 that have a fault.
const RATE: usize = 1000;
const SEED: usize = 1;

/// Programs and libraries of a run, which faults replace.
const PROGRAMS: [&str; 7] = [
    "gpbench",
    "gpbench-worker",
    "libgpbench_plugin_cg.so",
    "libgpbench_plugin_cholesky.so",
    "libgpbench_plugin_block_cg.so",
    "libgpbench_plugin_poe.so",
    "libgpbench_plugin_svgp.so",
];

/// A number from the environment.
fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|e| panic!("{name}: {e}")))
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

    /// Runs gpbench once; quietly, or with faults.
    fn attempt(&self, words: &[&str], quiet: bool) -> Attempt {
        self.restore_programs();
        let program = self.sandbox.path("bin/gpbench");
        let program = program.to_str().expect("UTF-8");
        let output = if quiet { "quiet" } else { "reports" };
        // A file beyond RLIMIT_FSIZE is then an error, as on a full disk.
        let ignoring = "trap '' XFSZ; exec \"$0\" \"$@\"";
        let mut command = self.sandbox.command_of("/bin/sh", &["-c", ignoring, program]);
        command
            .args(words)
            .args(["--output-dir", output])
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

    /// Repeats a command until nothing is left to run; the number of attempts.
    fn repeat(&self, words: &[&str], most: usize) -> usize {
        let (task, mut last) = (words.join(" "), String::new());
        for attempts in 1..=most {
            let Attempt { code, signal, said } = self.attempt(words, false);
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

    /// Runs a part to its end while faults happen, and merges its shards; the folder with all of its rows, and the number of
    /// attempts.
    fn with_faults(&self, part: &Part, most: usize) -> (PathBuf, usize) {
        let spec = format!("{}.toml", part.name);
        let words = ["run", &spec, "-t", "2", "-j", "2"];
        if part.shards == 1 {
            let attempts = self.repeat(&words, most);
            return (self.runs("reports", part.name, 1).remove(0), attempts);
        }
        let shards = (1..=part.shards).map(|number| format!("{number}/{}", part.shards));
        let attempts =
            shards.map(|shard| self.repeat(&[&words[..], &["--shard", &shard]].concat(), most)).sum();
        self.runs("reports", part.name, part.shards);
        // Once more, to which nothing is added.
        for _ in 0..2 {
            let Attempt { code, said, .. } = self.attempt(&["merge", part.name], false);
            assert_eq!(code, Some(0), "{said}");
        }
        let runs = self.runs("reports", part.name, part.shards + 1);
        (runs.into_iter().next_back().expect("the merged run is the last one"), attempts)
    }

    /// The folders of the runs of a name, of which there must be so many, in the order in which they began.
    fn runs(&self, output: &str, name: &str, count: usize) -> Vec<PathBuf> {
        let parent = self.sandbox.path(output).join(name);
        let is_run = |path: &PathBuf| path.is_dir() && !path.is_symlink();
        let entries = std::fs::read_dir(&parent).expect("a folder of runs");
        let mut runs: Vec<PathBuf> =
            entries.map(|entry| entry.expect("an entry").path()).filter(is_run).collect();
        runs.sort_by_key(|run| (!read_plan(run).merged.is_empty(), run.clone()));
        assert_eq!(runs.len(), count, "every attempt at {name} went on in the same folder");
        runs
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

/// A row without what two runs of a case do not share. A merged row names the run that it is of.
fn timeless(row: Value) -> Value {
    let is_shared = |key: &str| {
        let is_of_run = ["finished", "reused_from"].contains(&key);
        !is_of_run && !key.contains("seconds") && !key.ends_with("_bytes") && is_reproducible(key)
    };
    match row {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(key, _)| is_shared(key));
            Value::Object(kept.map(|(key, value)| (key, timeless(value))).collect())
        }
        Value::Array(items) => items.into_iter().map(timeless).collect(),
        other => other,
    }
}

/// The plan of a run.
fn read_plan(run: &Path) -> gpbench_runs::PlanFile {
    gpbench_runs::PlanFile::read(run).expect("a plan")
}

/// The rows of a run, without times and memory.
fn rows(run: &Path) -> BTreeMap<String, Value> {
    let read = gpbench_runs::read_journal(run).expect("a journal");
    let text = std::fs::read(run.join("journal.jsonl")).expect("a journal");
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).count();
    assert_eq!(lines, read.rows.len() + read.damaged.len(), "no case of {} has two rows", run.display());
    let timeless =
        |row: gpbench_record::Row| (row.id.clone(), timeless(serde_json::to_value(row).expect("a row")));
    read.rows.into_iter().map(timeless).collect()
}

#[test]
fn whatever_happens_every_case_has_the_row_of_a_quiet_run() {
    let soak = Soak::new();
    let cases = setting("GPBENCH_SOAK_CASES", CASES);
    let (mut done, mut attempts) = (0, 0);
    for part in &PARTS {
        let (name, count) = (part.name, (cases * part.share).div_ceil(100));
        let spec = format!("{name}.toml");
        soak.sandbox.write(&spec, &part.spec(count));
        let Attempt { code, said, .. } = soak.attempt(&["run", &spec, "-t", "2", "-j", "2"], true);
        assert_eq!(code, Some(0), "{said}");
        let quiet = rows(&soak.runs("quiet", name, 1)[0]);
        assert!(quiet.len() >= count && quiet.values().all(|row| row["status"] == "ok"), "{name}");

        let (run, tried) = soak.with_faults(part, 100 + cases / 4);
        let rows = rows(&run);
        assert_eq!(
            rows.keys().collect::<Vec<_>>(),
            quiet.keys().collect::<Vec<_>>(),
            "rows of {name} are lost"
        );
        for (id, row) in &rows {
            assert_eq!(*row, quiet[id], "the row of a healthy case of {name} changed");
        }
        println!("tried {} cases of {name} in {tried} attempts", rows.len());
        done += rows.len();
        attempts += tried;
    }
    assert_eq!(survivors(&soak.sandbox.path(".")), [0; 0], "no process is left");
    assert_eq!(temporary(&files(&soak.sandbox.path("reports"))), None, "no temporary file is left");
    let parts =
        files(&soak.sandbox.path("cache")).into_iter().find(|file| file.to_string_lossy().contains(".part"));
    assert_eq!(parts, None, "no incomplete file is left in the cache");
    let faults = soak.faults();
    let total: usize = faults.values().sum();
    assert!(total > 0, "no start had a fault");
    println!(
        "tried {total} faults in {done} cases and {attempts} attempts: no row lost, none twice, none changed"
    );
    for (fault, count) in faults {
        println!("tried {fault}: {count}");
    }
}
