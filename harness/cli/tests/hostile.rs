//! A misbehaving plugin costs no row, and does not change the results of other cases.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Ended, Sandbox, build, checkout, library, reproducible};

/// Acts of the misbehaving plugin: name, expected status, and a part of the reason.
const ACTS: &[(&str, &str, &str)] = &[
    ("solve_well", "ok", ""),
    ("print_stdout", "ok", ""),
    ("close_stdout", "ok", ""),
    ("flood", "ok", ""),
    ("escape", "ok", ""),
    ("ignore_stop", "ok", ""),
    ("panic", "crashed", "panic"),
    ("panic_in_prepare", "crashed", "panic"),
    ("panic_in_thread", "crashed", "poisoned"),
    ("abort", "crashed", "SIGABRT"),
    ("segfault", "crashed", "SIGSEGV"),
    ("stack_overflow", "crashed", "stack overflow"),
    ("exit0", "crashed", "exited with status 0"),
    ("exit_in_destroy", "crashed", "exited with status 0"),
    ("fork_hold", "crashed", "exited with status 0"),
    ("close_all", "crashed", "before reporting"),
    ("write_all", "invalid", "a line where only the harness writes"),
    ("allocate", "out_of_memory", "killed"),
    ("allocate_in_child", "out_of_memory", "killed"),
    ("nan", "diverged", "not finite"),
    ("infinite", "diverged", "not finite"),
    ("lie", "invalid", "claimed residual 0"),
    ("error", "invalid", "as told"),
    ("wrong_report", "invalid", "reason -77"),
    ("unknown_status", "invalid", "gave no reason"),
    ("write_rhs", "invalid", "wrote into the right-hand sides"),
    ("write_inputs", "invalid", "wrote into the inputs"),
];

/// Acts that only a time limit ends, and whether the row must have a trace.
const ENDLESS: &[(&str, bool)] = &[
    ("hang", false),
    ("sleep", false),
    ("stop_process", false),
    ("fork_and_hang", false),
    ("ignore_stop_for_ever", true),
];

/// Misbehaving solvers in C: id, expected status, and a part of the reason.
const C_SOLVERS: &[(&str, &str, &str)] = &[
    ("c-well", "ok", ""),
    ("c-round-up", "ok", ""),
    ("c-more-blas-threads", "ok", ""),
    ("c-half-a-line", "ok", ""),
    ("c-resize", "ok", ""),
    ("c-exit", "timeout", "killed"),
    ("c-deaf", "timeout", "killed"),
    ("c-trap", "crashed", "SIGFPE"),
    ("c-jump", "crashed", "SIG"),
    ("c-free-twice", "crashed", "SIGABRT"),
    ("c-wild-report", "invalid", "wrong report"),
];

/// Faults that a library in C is compiled with, and a part of the error.
const C_LIBRARIES: &[(&str, &str)] = &[
    ("NO_ENTRY", "exports no function `gpbench_plugin_v1`"),
    ("FUTURE", "another major version"),
    ("UNRESOLVED", "undefined symbol"),
    ("SMALL_PLUGIN", "has 8 bytes"),
    ("SMALL_SOLVER", "has 16 bytes"),
    ("STRIDE", "at a distance of 8 bytes"),
    ("COUNT", "lists -3 solvers"),
    ("ID", "`Not an id`"),
    ("NO_SOLVE", "has no function `solve`"),
    ("NULL", "returned null"),
    ("CRASH", "SIGSEGV"),
    ("ABORT_AT_LOAD", "SIGABRT"),
    ("EXIT_AT_LOAD", "exit status: 0"),
];

/// Correct solvers, whose results must not change.
const HEALTHY: [&str; 2] = ["cg", "cholesky"];

const TOP: &str = r#"schema = 1
name = "zoo"
task = "posterior"
seeds = [0]
"#;

const REST: &str = r#"[dataset.draw]
from = "gp-draw"
n = 60
d = 1

[kernel.matern32]
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

/// A spec of the healthy solvers and of others, each a name and the body of its table.
fn spec(others: &[(String, String)]) -> String {
    let names = HEALTHY.iter().copied().chain(others.iter().map(|(name, _)| name.as_str()));
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    let tables = others.iter().map(|(name, table)| format!("\n[solver.{name}]\n{table}\n"));
    let tables: String = tables.collect();
    let matrix = format!(
        "[matrix]\ndataset = [\"draw\"]\nkernel = [\"matern32\"]\nestimator = [\"pathwise\"]\nsolver = [{}]\n",
        names.join(", ")
    );
    format!("{TOP}\n{matrix}\n{REST}{tables}")
}

/// The table of an act of the misbehaving plugin. Acts that end by themselves have an hour, so that a slow machine
/// ends none of them.
fn act(name: &str, endless: bool) -> (String, String) {
    let library = library("gpbench_hostile");
    let time = if endless { "" } else { "\nbudget.time = \"1h\"" };
    let table =
        format!("plugin = \"hostile\"\nlibrary = \"{}\"\nparams.act = \"{name}\"{time}", library.display());
    (name.to_owned(), table)
}

/// Compiles a library of `testkit/hostile/c`.
fn compile(source: &str, defines: &[&str], to: &Path) {
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
fn files(folder: &Path) -> BTreeSet<PathBuf> {
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

/// Processes with a path below `folder` in their environment. Waits a moment, because a kill takes one.
fn survivors(folder: &Path) -> Vec<u32> {
    let mark = folder.to_str().expect("UTF-8").as_bytes();
    let is_ours = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        *pid != std::process::id() && environment.windows(mark.len()).any(|window| window == mark)
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

fn by_solver(cases: &[Value]) -> BTreeMap<&str, &Value> {
    cases.iter().map(|case| (case["solver"].as_str().expect("a name"), case)).collect()
}

/// Runs the spec on four threads, with temporary files in the sandbox.
fn run(sandbox: &Sandbox, args: &[&str]) -> Ended {
    std::fs::create_dir_all(sandbox.path("tmp")).expect("a writable folder");
    let all = [&["run", "spec.toml", "-t", "4"][..], args].concat();
    Ended::of(sandbox.command(&all).env("TMPDIR", sandbox.path("tmp")))
}

/// The rows of the journal.
fn rows(sandbox: &Sandbox) -> Vec<Value> {
    let text = sandbox.read("reports/zoo/latest/journal.jsonl");
    text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

/// Prints how long after its limit each killed case was dead. Asserts nothing.
fn print_delays(sandbox: &Sandbox) {
    for row in rows(sandbox) {
        if let Some(seconds) = row["metrics"]["seconds_over_limit"].as_f64() {
            let name = row["labels"]["solver"].as_str().expect("a name");
            let status = row["status"].as_str().expect("a status");
            println!("limit: {name} ({status}) was dead {seconds:.3} s after it was reached");
        }
    }
}

#[test]
fn no_act_of_a_plugin_loses_a_row_or_changes_another() {
    let alone = Sandbox::with_spec(&spec(&[]));
    // With as many threads for each case as below.
    run(&alone, &["-j", "4"]).exits(0);
    let expected = alone.cases();
    let expected = by_solver(&expected);

    let sandbox = Sandbox::new();
    let mut tables: Vec<_> = ACTS.iter().map(|(name, ..)| act(name, false)).collect();
    tables.extend(ENDLESS.iter().map(|(name, _)| act(name, true)));
    let (solvers, later) = (sandbox.path("solvers.so"), sandbox.path("later.so"));
    compile("solvers.c", &[], &solvers);
    compile("library.c", &["FAULT_LATER_MINOR", "ID=\"later-minor\""], &later);
    let table = |id: &str, file: &Path, endless: bool| {
        let time = if endless { "" } else { "\nbudget.time = \"1h\"" };
        (id.to_owned(), format!("plugin = \"{id}\"\nlibrary = \"{}\"{time}", file.display()))
    };
    tables.extend(C_SOLVERS.iter().map(|(id, status, _)| table(id, &solvers, *status == "timeout")));
    tables.push(table("later-minor", &later, false));
    let mut expectations: Vec<(&str, &str, &str)> = ACTS.to_vec();
    expectations.extend(ENDLESS.iter().map(|(name, _)| (*name, "timeout", "killed: no result within 2 s")));
    expectations.extend(C_SOLVERS);
    expectations.push(("later-minor", "ok", ""));
    sandbox.write("spec.toml", &spec(&tables));
    let before = files(&sandbox.path("."));
    run(&sandbox, &["-j", "4", "--kill-after", "2"]).exits(1);

    let cases = sandbox.cases();
    assert_eq!(cases.len(), expectations.len() + HEALTHY.len());
    let found = by_solver(&cases);
    for name in HEALTHY {
        assert_eq!(found[name]["status"], "ok");
        assert_eq!(reproducible(found[name]), reproducible(expected[name]), "the metrics of {name} changed");
    }
    let mut wrong = Vec::new();
    for (name, status, word) in &expectations {
        let (ended, reason) = (&found[name]["status"], found[name]["reason"].as_str().expect("a reason"));
        if ended != status || !reason.contains(word) {
            wrong.push(format!("{name} must be {status} ({word}), and is {ended} ({reason})"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");

    for row in rows(&sandbox) {
        let is_it = |(name, traced): &&(&str, bool)| *traced && row["labels"]["solver"] == *name;
        if let Some((name, _)) = ENDLESS.iter().find(is_it) {
            assert!(!row["trace"].as_array().expect("a trace").is_empty(), "the trace of {name} is stored");
        }
    }
    print_delays(&sandbox);

    assert_eq!(survivors(&sandbox.path(".")), [0; 0], "no process is left");
    let left: Vec<_> = files(&sandbox.path(".")).difference(&before).cloned().collect();
    let (in_run, elsewhere): (Vec<_>, Vec<_>) =
        left.into_iter().partition(|file| file.starts_with("reports"));
    let temporary = |file: &&PathBuf| {
        let name = file.to_string_lossy();
        name.contains("scratch")
            || name.contains(".part")
            || name.contains("checkpoint")
            || name.contains("core")
    };
    assert_eq!(in_run.iter().find(temporary), None, "files of running cases are removed");
    let cached =
        |file: &&PathBuf| file.starts_with("cache/exact") && file.extension().is_some_and(|e| e == "bin");
    assert_eq!(elsewhere.iter().find(|file| !cached(file)), None, "no temporary file is left");

    // Every row is final.
    run(&sandbox, &["-j", "4", "--kill-after", "2"]).exits(1).says(&["nothing was left to run"]);
    let (rust, all) = (ACTS.len() + ENDLESS.len(), expectations.len());
    println!("{rust} acts in Rust, {} solvers in C: no row lost, no healthy result changed", all - rust);
}

#[test]
fn the_limit_on_processor_time_covers_child_processes() {
    let sandbox = Sandbox::with_spec(&spec(&[act("burn_in_child", false)]));
    run(&sandbox, &["--cpu-limit", "1s"]).exits(1);
    let cases = sandbox.cases();
    let found = by_solver(&cases);
    assert_eq!(found["cg"]["status"], "ok");
    assert_eq!(found["burn_in_child"]["status"], "timeout");
    let reason = found["burn_in_child"]["reason"].as_str().expect("a reason");
    assert!(reason.contains("used 1 s of processor time"), "{reason}");
    print_delays(&sandbox);
    assert_eq!(survivors(&sandbox.path(".")), [0; 0]);
}

#[test]
fn unusable_libraries_are_named_and_do_not_stop_a_run() {
    let sandbox = Sandbox::with_spec(&spec(&[]));
    let folder = sandbox.path("plugins");
    std::fs::create_dir(&folder).expect("a writable folder");
    let file = |fault: &str| folder.join(format!("libgpbench_plugin_{}.so", fault.to_lowercase()));
    std::fs::write(file("TEXT"), "This is a text.\n".repeat(100)).expect("a writable folder");
    std::fs::write(file("EMPTY"), "").expect("a writable folder");
    for (fault, _) in C_LIBRARIES {
        compile("library.c", &[&format!("FAULT_{fault}"), "ID=\"odd\""], &file(fault));
    }
    let ended =
        Ended::of(sandbox.command(&["run", "spec.toml"]).env("GPBENCH_PLUGIN_PATH", &folder)).exits(0);
    let texts = [("TEXT", "cannot be loaded"), ("EMPTY", "cannot be loaded")];
    for (fault, word) in C_LIBRARIES.iter().chain(&texts) {
        let name = file(fault).file_name().expect("a name").to_string_lossy().into_owned();
        let said = ended.stderr.lines().find(|line| line.contains("warning") && line.contains(&name));
        assert!(said.is_some_and(|line| line.contains(word)), "{fault}: {said:?}");
    }
    assert!(sandbox.cases().iter().all(|case| case["status"] == "ok"));

    // A library that the spec itself names must be usable.
    let named = format!("plugin = \"odd\"\nlibrary = \"{}\"", file("TEXT").display());
    let sandbox = Sandbox::with_spec(&spec(&[("odd".to_owned(), named)]));
    sandbox.run(&["run", "spec.toml"]).exits(2).says(&["cannot be loaded"]);
}
