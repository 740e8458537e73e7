//! Specs of solvers that misbehave, and what must be left of a run with them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Ended, Sandbox, build, checkout, library, reproducible};

/// An act or a solver that misbehaves: its name, the status that its row must have, and a part of the reason.
pub type Expected = (&'static str, &'static str, &'static str);

/// Correct solvers, whose results must not change.
pub const HEALTHY: [&str; 2] = ["cg", "cholesky"];

const TOP: &str = "schema = 1\nname = \"zoo\"\nseeds = [0]\n";

const DRAWN: &str = r#"[dataset.draw]
from = "gp-draw"
n = 60
d = 1
"#;

const FROM_FILE: &str = r#"[dataset.draw]
path = "rows.csv"
"#;

const POSTERIOR: &str = r#"[kernel.matern32]
family = "matern32"
hyperparameters = { signal_scale = 1.0, noise_scale = 0.3, length_scale = 1.0 }

[estimator.pathwise]
probes = 2
features = 50

[budget]
tolerance = 1e-3
max_epochs = 200
memory = "300MiB"
"#;

const TRAINING: &str = r#"[kernel.matern32]
family = "matern32"
hyperparameters = "ones"

[estimator.pathwise]
probes = 2
features = 50
warm_start = true

[train]
steps = 3

[budget]
tolerance = 1e-3
max_epochs = 200
memory = "300MiB"
"#;

const SEARCH: &str = r#"[kernel.matern32]
family = "matern32"
hyperparameters = "generating"

[estimator.pathwise]
probes = 2
features = 50

[thompson]
steps = 3
candidates = { rounds = 2, points = 50 }
ascent.steps = 5

[budget]
tolerance = 1e-3
max_epochs = 200
memory = "300MiB"
"#;

const OBJECTIVE: &str = r#"[dataset.draw]
from = "objective"
n = 60
d = 1
"#;

const LIKELIHOOD: &str = r#"[kernel.matern32]
family = "matern32"
hyperparameters = { signal_scale = 1.0, noise_scale = 0.3, length_scale = 1.0 }

[estimator.pathwise]
method = "standard"
probes = 2

[likelihood]
repetitions = 3

[budget]
tolerance = 1e-3
max_epochs = 200
memory = "300MiB"
"#;

/// What the cases of a run do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Solve for the posterior.
    Posterior,
    /// Train, then solve for the posterior.
    Training,
    /// Estimate the likelihood.
    Likelihood,
    /// Search an objective.
    Search,
}

/// A spec of the healthy solvers and of others, each a name and the body of its table.
pub fn spec(task: Task, others: &[(String, String)]) -> String {
    spec_on(if task == Task::Search { OBJECTIVE } else { DRAWN }, task, others)
}

/// The same, on the rows of a file, which [`write_rows`] writes.
pub fn spec_on_file(others: &[(String, String)]) -> String {
    spec_on(FROM_FILE, Task::Posterior, others)
}

fn spec_on(dataset: &str, task: Task, others: &[(String, String)]) -> String {
    let (name, rest) = match task {
        Task::Posterior => ("posterior", POSTERIOR),
        Task::Training => ("train", TRAINING),
        Task::Likelihood => ("likelihood", LIKELIHOOD),
        Task::Search => ("thompson", SEARCH),
    };
    let names = HEALTHY.iter().copied().chain(others.iter().map(|(name, _)| name.as_str()));
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    let tables: String = others.iter().map(|(name, table)| format!("\n[solver.{name}]\n{table}\n")).collect();
    let matrix = format!(
        "[matrix]\ndataset = [\"draw\"]\nkernel = [\"matern32\"]\nestimator = [\"pathwise\"]\nsolver = [{}]\n",
        names.join(", ")
    );
    format!("{TOP}task = \"{name}\"\n\n{matrix}\n{dataset}\n{rest}{tables}")
}

/// Writes the data set of [`spec_on_file`].
pub fn write_rows(sandbox: &Sandbox) {
    let row = |i: u32| {
        let x = f64::from(i) / 10.0;
        format!("{x},{}\n", x.sin() + 0.1 * (7.0 * x).cos())
    };
    let rows: String = (0..60).map(row).collect();
    sandbox.write("rows.csv", &format!("x,y\n{rows}"));
}

/// The table of an act of the misbehaving plugin. Acts that end by themselves have an hour, so that a slow machine
/// ends none of them.
pub fn act(name: &str, endless: bool) -> (String, String) {
    let library = library("gpbench_hostile");
    let time = if endless { "" } else { "\nbudget.time = \"1h\"" };
    let table =
        format!("plugin = \"hostile\"\nlibrary = \"{}\"\nparams.act = \"{name}\"{time}", library.display());
    (name.to_owned(), table)
}

/// The same of an act that is done once: its mark is left in the sandbox.
pub fn act_once(sandbox: &Sandbox, name: &str) -> (String, String) {
    let marks = sandbox.path("marks");
    std::fs::create_dir_all(&marks).expect("a writable folder");
    let (name, table) = act(name, false);
    (name, format!("{table}\nparams.marks = \"{}\"", marks.display()))
}

/// Compiles a library of `testkit/hostile/c`.
pub fn compile(source: &str, defines: &[&str], to: &Path) {
    build(
        Command::new("cc")
            .args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-shared", "-fPIC"])
            .args(defines.iter().map(|define| format!("-D{define}")))
            .arg("-I")
            .arg(checkout("harness/abi/include"))
            .arg("-o")
            .arg(to)
            .arg(checkout("harness/testkit/hostile/c").join(source))
            .arg("-lm"),
    );
}

/// All files below a folder, relative to it.
pub fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder_now) = open.pop() {
        for entry in std::fs::read_dir(&folder_now).expect("a folder") {
            let entry = entry.expect("an entry");
            if entry.file_type().expect("a kind").is_dir() {
                open.push(entry.path());
            } else {
                found.insert(entry.path().strip_prefix(folder).expect("below it").to_owned());
            }
        }
    }
    found
}

/// The first file of a run folder that only running cases need.
pub fn temporary<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> Option<&'a PathBuf> {
    let is_temporary = |file: &&PathBuf| {
        let named = |name: &str| file.iter().any(|part| part == name);
        let ending = file.extension().is_some_and(|ending| ending == "part");
        ending || ["scratch", "programs", "checkpoints", "core"].into_iter().any(named)
    };
    files.into_iter().find(is_temporary)
}

/// Processes that work in `folder` or below, or have a path below it in their environment. Waits a moment, because a
/// kill takes one.
pub fn survivors(folder: &Path) -> Vec<u32> {
    let mark = folder.to_str().expect("UTF-8").as_bytes();
    let is_ours = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let works_here =
            std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
        *pid != std::process::id()
            && (works_here || environment.windows(mark.len()).any(|window| window == mark))
    };
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let entries = std::fs::read_dir("/proc").expect("processes");
        let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let found: Vec<u32> = pids.filter(is_ours).collect();
        if found.is_empty() || Instant::now() > deadline {
            return found;
        }
        std::thread::yield_now();
    }
}

/// The cases of a run by their solvers.
pub fn by_solver(cases: &[Value]) -> BTreeMap<&str, &Value> {
    cases.iter().map(|case| (case["solver"].as_str().expect("a name"), case)).collect()
}

/// Runs the spec on four threads, with temporary files in the sandbox.
pub fn run(sandbox: &Sandbox, args: &[&str]) -> Ended {
    std::fs::create_dir_all(sandbox.path("tmp")).expect("a writable folder");
    let all = [&["run", "spec.toml", "-t", "4"][..], args].concat();
    Ended::of(sandbox.command(&all).env("TMPDIR", sandbox.path("tmp")))
}

/// The rows of the journal.
pub fn rows(sandbox: &Sandbox) -> Vec<Value> {
    let text = sandbox.read("reports/zoo/latest/journal.jsonl");
    text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

/// Which expectations the cases do not meet.
pub fn unmet(cases: &BTreeMap<&str, &Value>, expected: &[Expected]) -> Vec<String> {
    let meets = |(name, status, word): &Expected| match cases.get(name) {
        None => Some(format!("{name} must be {status} ({word}), and has no row")),
        Some(case) => {
            let (ended, reason) = (&case["status"], case["reason"].as_str().expect("a reason"));
            let met = ended == status && reason.contains(word);
            (!met).then(|| format!("{name} must be {status} ({word}), and is {ended} ({reason})"))
        }
    };
    expected.iter().filter_map(meets).collect()
}

/// Checks what a run with misbehaving solvers leaves: for each a row as expected, the healthy solvers' results as in the
/// run `alone` without them, no process, and no temporary file.
#[track_caller]
pub fn check_left(sandbox: &Sandbox, alone: &[Value], expected: &[Expected]) {
    let cases = sandbox.cases();
    assert_eq!(cases.len(), expected.len() + HEALTHY.len());
    let (found, quiet) = (by_solver(&cases), by_solver(alone));
    for name in HEALTHY {
        assert_eq!(found[name]["status"], "ok");
        assert_eq!(reproducible(found[name]), reproducible(quiet[name]), "the metrics of {name} changed");
    }
    let wrong = unmet(&found, expected);
    assert!(wrong.is_empty(), "{wrong:#?}");
    print_delays(sandbox);
    assert_eq!(survivors(&sandbox.path(".")), [0; 0], "no process is left");
    assert_eq!(temporary(&files(&sandbox.path("."))), None, "files of running cases are removed");
}

/// Prints how long after its limit each killed case was dead, and how much memory it had. Asserts nothing.
pub fn print_delays(sandbox: &Sandbox) {
    for row in rows(sandbox) {
        if let Some(seconds) = row["metrics"]["seconds_over_limit"].as_f64() {
            let name = row["labels"]["solver"].as_str().expect("a name");
            let status = row["status"].as_str().expect("a status");
            let mebibytes =
                row["metrics"]["peak_memory_bytes"].as_f64().unwrap_or_default() / f64::from(1 << 20);
            println!(
                "limit: {name} ({status}) was dead {seconds:.3} s after it was reached; it had {mebibytes:.0} MiB"
            );
        }
    }
}
