//! Whatever a plugin does, every planned case gets its row and the others their results.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Bench, Ended, library, reproducible};

/// What each act of the misbehaving plugin must end as, and a word of the reason.
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

/// Acts that end only by a limit on time, and what must be left of each: whether there is a trace.
const ENDLESS: &[(&str, bool)] = &[
    ("hang", false),
    ("sleep", false),
    ("stop_process", false),
    ("fork_and_hang", false),
    ("ignore_stop_for_ever", true),
];

/// The same of solvers written in C.
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

/// Libraries that are wrong as a whole, by what they are compiled with, and a word of why.
const C_LIBRARIES: &[(&str, &str)] = &[
    ("NO_ENTRY", "exports no function `gpbench_plugin_v1`"),
    ("FUTURE", "another major version"),
    ("UNRESOLVED", "undefined symbol"),
    ("SMALL_PLUGIN", "has 8 bytes"),
    ("SMALL_SOLVER", "has 16 bytes"),
    ("STRIDE", "8 bytes apart"),
    ("COUNT", "lists -3 solvers"),
    ("ID", "`Not an id`"),
    ("NO_SOLVE", "has no function `solve`"),
    ("NULL", "returned null"),
    ("CRASH", "SIGSEGV"),
    ("ABORT_AT_LOAD", "SIGABRT"),
    ("EXIT_AT_LOAD", "exit status: 0"),
];

/// Solvers that do as they should.
const HEALTHY: [&str; 2] = ["cg", "cholesky"];

const HEAD: &str = r#"schema = 1
task = "posterior"
seeds = [0]

[dataset.draw]
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

/// A spec of the healthy solvers and of others, each a name and the rest of its table.
fn spec(others: &[(String, String)]) -> String {
    let names = HEALTHY.iter().copied().chain(others.iter().map(|(name, _)| name.as_str()));
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    let tables = others.iter().map(|(name, table)| format!("\n[solver.{name}]\n{table}\n"));
    let tables: String = tables.collect();
    let matrix = format!(
        "[matrix]\ndataset = [\"draw\"]\nkernel = [\"matern32\"]\nestimator = [\"pathwise\"]\nsolver = [{}]\n",
        names.join(", ")
    );
    let (top, rest) = HEAD.split_at(HEAD.find("[dataset").expect("a table"));
    format!("{top}name = \"zoo\"\n\n{matrix}\n{rest}{tables}")
}

/// An act of the misbehaving plugin. Those that end by themselves have all the time in the world, so that
/// a slow machine ends none of them.
fn act(name: &str, endless: bool) -> (String, String) {
    let library = library("gpbench_hostile");
    let time = if endless { "" } else { "\nbudget.time = \"1h\"" };
    let table =
        format!("plugin = \"hostile\"\nlibrary = \"{}\"\nparams.act = \"{name}\"{time}", library.display());
    (name.to_owned(), table)
}

/// Compiles a library of `testkit/hostile/c`; false where there is no compiler.
fn compile(source: &str, defines: &[&str], to: &Path) -> bool {
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let output = Command::new("cc")
        .args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-shared", "-fPIC"])
        .args(defines.iter().map(|define| format!("-D{define}")))
        .arg("-I")
        .arg(harness.join("abi/include"))
        .arg("-o")
        .arg(to)
        .arg(harness.join("testkit/hostile/c").join(source))
        .arg("-lm")
        .output();
    let Ok(output) = output else {
        eprintln!("SKIPPED: no `cc` to build with; ci/bootstrap installs it");
        return false;
    };
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    true
}

/// Everything below a folder, relative to it.
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

/// Processes that were started with a path below `folder` in their environment. A kill takes a moment.
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

/// Runs the spec with four cases at a time, and temporary files, if there are any, in a folder of the bench.
fn run(bench: &Bench, args: &[&str]) -> Ended {
    std::fs::create_dir_all(bench.path("tmp")).expect("a writable folder");
    let all = [&["run", "spec.toml", "-t", "4"][..], args].concat();
    let output = bench.command(&all).env("TMPDIR", bench.path("tmp")).output().expect("the program starts");
    Ended::from(output)
}

/// The rows of the journal, each whole.
fn rows(bench: &Bench) -> Vec<Value> {
    let text = std::fs::read_to_string(bench.path("reports/zoo/latest/journal.jsonl")).expect("a journal");
    text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

/// Prints how soon after its limit each killed case was dead. Nothing is asserted of it.
fn tell_delays(bench: &Bench) {
    for row in rows(bench) {
        if let Some(seconds) = row["metrics"]["seconds_over_limit"].as_f64() {
            let name = row["labels"]["solver"].as_str().expect("a name");
            let status = row["status"].as_str().expect("a status");
            println!("limit: {name} ({status}) was dead {seconds:.3} s after it was reached");
        }
    }
}

#[test]
fn no_act_of_a_plugin_loses_a_row_or_changes_another() {
    let alone = Bench::new();
    alone.write("spec.toml", &spec(&[]));
    // As many threads a case as beside the others.
    assert_eq!(run(&alone, &["-j", "4"]).code, 0);
    let expected = alone.cases();
    let expected = by_solver(&expected);

    let bench = Bench::new();
    let mut tables: Vec<_> = ACTS.iter().map(|(name, ..)| act(name, false)).collect();
    tables.extend(ENDLESS.iter().map(|(name, _)| act(name, true)));
    let mut outcomes: Vec<(&str, &str, &str)> = ACTS.to_vec();
    outcomes.extend(ENDLESS.iter().map(|(name, _)| (*name, "timeout", "killed: no result within 2 s")));
    let (solvers, later) = (bench.path("solvers.so"), bench.path("later.so"));
    if compile("solvers.c", &[], &solvers)
        && compile("library.c", &["FAULT_LATER_MINOR", "ID=\"later-minor\""], &later)
    {
        let table = |id: &str, file: &Path, endless: bool| {
            let time = if endless { "" } else { "\nbudget.time = \"1h\"" };
            (id.to_owned(), format!("plugin = \"{id}\"\nlibrary = \"{}\"{time}", file.display()))
        };
        tables.extend(C_SOLVERS.iter().map(|(id, status, _)| table(id, &solvers, *status == "timeout")));
        tables.push(table("later-minor", &later, false));
        outcomes.extend(C_SOLVERS);
        outcomes.push(("later-minor", "ok", ""));
    }
    bench.write("spec.toml", &spec(&tables));
    let before = files(&bench.path("."));
    let ended = run(&bench, &["-j", "4", "--kill-after", "2"]);
    assert_eq!(ended.code, 1, "failed cases make exit code 1\n{}", ended.stderr);

    let cases = bench.cases();
    assert_eq!(cases.len(), outcomes.len() + HEALTHY.len());
    let found = by_solver(&cases);
    for name in HEALTHY {
        assert_eq!(found[name]["status"], "ok");
        assert_eq!(reproducible(found[name]), reproducible(expected[name]), "{name} is disturbed");
    }
    let mut wrong = Vec::new();
    for (name, status, word) in &outcomes {
        let (ended, reason) = (&found[name]["status"], found[name]["reason"].as_str().expect("a reason"));
        if ended != status || !reason.contains(word) {
            wrong.push(format!("{name} was to end as {status} ({word}), and is {ended} ({reason})"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");

    for row in rows(&bench) {
        let is_it = |(name, traced): &&(&str, bool)| *traced && row["labels"]["solver"] == *name;
        if let Some((name, _)) = ENDLESS.iter().find(is_it) {
            assert!(!row["trace"].as_array().expect("a trace").is_empty(), "{name} was heard till its end");
        }
    }
    tell_delays(&bench);

    assert_eq!(survivors(&bench.path(".")), [0; 0], "no process is left");
    let left: Vec<_> = files(&bench.path(".")).difference(&before).cloned().collect();
    let (in_run, elsewhere): (Vec<_>, Vec<_>) =
        left.into_iter().partition(|file| file.starts_with("reports"));
    let strange = |file: &&PathBuf| {
        let name = file.to_string_lossy();
        name.contains("scratch")
            || name.contains(".part")
            || name.contains("checkpoint")
            || name.contains("core")
    };
    assert_eq!(in_run.iter().find(strange), None, "nothing that only a running case needs is left");
    let cached =
        |file: &&PathBuf| file.starts_with("cache/exact") && file.extension().is_some_and(|e| e == "bin");
    assert_eq!(elsewhere.iter().find(|file| !cached(file)), None, "no temporary file is left");

    let again = run(&bench, &["-j", "4", "--kill-after", "2"]);
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("nothing was left to run"), "every row is terminal\n{}", again.stderr);
    let (rust, c) = (ACTS.len() + ENDLESS.len(), outcomes.len() - ACTS.len() - ENDLESS.len());
    println!("tried: {rust} acts in Rust, {c} solvers in C; lost: 0 rows, 0 healthy results");
}

#[test]
fn processor_time_is_bounded_over_children_too() {
    let bench = Bench::new();
    bench.write("spec.toml", &spec(&[act("burn_in_child", false)]));
    let ended = run(&bench, &["--cpu-limit", "1s"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let cases = bench.cases();
    let found = by_solver(&cases);
    assert_eq!(found["cg"]["status"], "ok");
    assert_eq!(found["burn_in_child"]["status"], "timeout");
    let reason = found["burn_in_child"]["reason"].as_str().expect("a reason");
    assert!(reason.contains("used 1 s of processor time"), "{reason}");
    tell_delays(&bench);
    assert_eq!(survivors(&bench.path(".")), [0; 0]);
}

#[test]
fn libraries_that_cannot_be_used_are_named_and_stop_nothing() {
    let bench = Bench::new();
    let folder = bench.path("plugins");
    std::fs::create_dir(&folder).expect("a writable folder");
    let file = |fault: &str| folder.join(format!("libgpbench_plugin_{}.so", fault.to_lowercase()));
    let mut wrong: Vec<(&str, &str)> = vec![("TEXT", "cannot be loaded"), ("EMPTY", "cannot be loaded")];
    std::fs::write(file("TEXT"), "This is a text.\n".repeat(100)).expect("a writable folder");
    std::fs::write(file("EMPTY"), "").expect("a writable folder");
    for (fault, word) in C_LIBRARIES {
        if compile("library.c", &[&format!("FAULT_{fault}"), "ID=\"odd\""], &file(fault)) {
            wrong.push((fault, word));
        }
    }

    bench.write("spec.toml", &spec(&[]));
    let mut command = bench.command(&["run", "spec.toml"]);
    let ended =
        Ended::from(command.env("GPBENCH_PLUGIN_PATH", &folder).output().expect("the program starts"));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for (fault, word) in &wrong {
        let name = file(fault).file_name().expect("a name").to_string_lossy().into_owned();
        let said = ended.stderr.lines().find(|line| line.contains("warning") && line.contains(&name));
        assert!(said.is_some_and(|line| line.contains(word)), "{fault}: {said:?}");
    }
    assert!(bench.cases().iter().all(|case| case["status"] == "ok"));

    // One that the spec itself asks for is in the way.
    let bench = Bench::new();
    let named = format!("plugin = \"odd\"\nlibrary = \"{}\"", file("TEXT").display());
    bench.write("spec.toml", &spec(&[("odd".to_owned(), named)]));
    let ended = bench.run(&["run", "spec.toml"]);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("cannot be loaded"), "{}", ended.stderr);
    println!("tried: {} libraries that are wrong as a whole; lost: 0 rows", wrong.len());
}
