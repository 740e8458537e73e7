//! Plugins that damage files of the harness, kill its processes or use up what the system has: correct solvers get
//! their rows, now or when the same command goes on, and culprits get theirs after three times.

use crate::support;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};

use crate::support::zoo::{
    Expected, HEALTHY, Task, act, act_once, by_solver, files, spec, spec_on_file, survivors, temporary,
    unmet, write_rows,
};
use crate::support::{Ended, Sandbox, library, reproducible};
use serde_json::Value;

/// Acts that are done each time.
const EACH_TIME: &[Expected] = &[
    ("kill_self", "crashed", "SIGKILL"),
    ("kill_parent", "crashed", ""),
    ("exhaust_descriptors", "crashed", ""),
    ("zero_limits", "crashed", ""),
    ("block_solution", "crashed", ""),
    ("forge_result", "crashed", ""),
];

/// Acts that are done once: the solver is correct afterwards.
const ONCE: &[&str] = &[
    "kill_siblings",
    "cut_solution",
    "remove_scratch",
    "remove_exact",
    "cut_exact",
    "remove_data",
    "cut_data",
];

/// Most commands until every case has its row.
const MOST_COMMANDS: usize = 5;

const RUN: [&str; 8] = ["run", "spec.toml", "-t", "4", "-j", "2", "--kill-after", "60"];

/// The result of repeating the same command.
struct Repeated {
    /// The rows.
    cases: Vec<Value>,
    /// How often the command was run.
    commands: usize,
}

/// Repeats a command until every case has its row.
#[track_caller]
fn repeat(sandbox: &Sandbox, total: usize, mut command: impl FnMut() -> Ended) -> Repeated {
    for commands in 1..=MOST_COMMANDS {
        let ended = command();
        // Ended by the culprit, with failures or cases without rows, with neither, or because a folder is gone.
        assert!([-1, 0, 1, 70].contains(&ended.code), "exit code {}: {}", ended.code, ended.stderr);
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
        let report = sandbox.run(&["report", "latest", "--format", "json"]);
        let json: Value = serde_json::from_str(&report.stdout).unwrap_or_default();
        let cases = json["cases"].as_array().cloned().unwrap_or_default();
        if cases.len() == total {
            return Repeated { cases, commands };
        }
        if ended.code == 1 {
            assert!(ended.stderr.contains("no row"), "cases without rows are listed: {}", ended.stderr);
        }
    }
    panic!("after {MOST_COMMANDS} commands there are not {total} rows");
}

fn on_file(others: &[(String, String)]) -> Sandbox {
    let sandbox = Sandbox::with_spec(&spec_on_file(others));
    write_rows(&sandbox);
    sandbox
}

/// Checks the rows of healthy solvers against those of a quiet run, and that nothing is left over.
#[track_caller]
fn check_healthy(sandbox: &Sandbox, cases: &[Value], quiet: &[Value], culprit: &str) {
    let (found, quiet) = (by_solver(cases), by_solver(quiet));
    for name in HEALTHY {
        assert_eq!(found[name]["status"], "ok", "{culprit}: {name}: {}", found[name]["reason"]);
        assert_eq!(reproducible(found[name]), reproducible(quiet[name]), "{culprit} changed {name}");
    }
    assert_eq!(survivors(&sandbox.path(".")), [0; 0], "{culprit}: no process is left");
    assert_eq!(temporary(&files(&sandbox.path("reports"))), None, "{culprit}: no temporary file is left");
}

#[test]
fn a_culprit_gets_its_row_after_three_times_and_no_other_case_does() {
    let alone = on_file(&[]);
    alone.run(&RUN).exits(0);
    let quiet = alone.cases();
    for expected in EACH_TIME {
        let name = expected.0;
        let sandbox = on_file(&[act(name, false)]);
        let Repeated { cases, commands } = repeat(&sandbox, HEALTHY.len() + 1, || sandbox.run(&RUN));
        let wrong = unmet(&by_solver(&cases), &[*expected]);
        assert!(wrong.is_empty(), "{wrong:#?}");
        check_healthy(&sandbox, &cases, &quiet, name);
        println!("tried {name}: every case had its row after {commands} commands");
    }
}

#[test]
fn what_happens_once_changes_no_result() {
    let alone = on_file(&[act("solve_well", false)]);
    alone.run(&RUN).exits(0);
    let quiet = alone.cases();
    let well = reproducible(by_solver(&quiet)["solve_well"]);
    for name in ONCE {
        let sandbox = Sandbox::new();
        write_rows(&sandbox);
        sandbox.write("spec.toml", &spec_on_file(&[act_once(&sandbox, name)]));
        let Repeated { cases, commands } = repeat(&sandbox, HEALTHY.len() + 1, || sandbox.run(&RUN));
        let found = by_solver(&cases);
        assert_eq!(found[name]["status"], "ok", "{name}: {}", found[name]["reason"]);
        assert_eq!(reproducible(found[name]), well, "{name} changed its own result");
        check_healthy(&sandbox, &cases, &quiet, name);
        println!("tried {name}: every case had its row after {commands} commands");
    }
}

#[test]
fn a_library_that_overwrites_itself_writes_no_row_under_another_hash() {
    let sandbox = Sandbox::new();
    let library = sandbox.path("own.so");
    std::fs::copy(support::library("gpbench_hostile"), &library).expect("a writable folder");
    let original = std::fs::read(&library).expect("a library");
    let (name, table) = act_once(&sandbox, "overwrite_library");
    let table = table
        .replace(&support::library("gpbench_hostile").display().to_string(), &library.display().to_string());
    let text = spec(Task::Posterior, &[(name, table)]).replace("seeds = [0]", "seeds = [0, 1, 2]");
    sandbox.write("spec.toml", &text);
    let first = sandbox.run(&RUN);
    assert!([0, 1].contains(&first.code), "{}", first.stderr);
    assert!(sandbox.cases().iter().all(|case| case["status"] == "ok"));
    std::fs::write(&library, &original).expect("a writable file");
    sandbox.run(&RUN).exits(0);
    let cases = sandbox.cases();
    assert_eq!(cases.len(), 3 * (HEALTHY.len() + 1));
    assert!(cases.iter().all(|case| case["status"] == "ok"));
}

/// A user without other processes, and its limit on processes. Root is not held to the limit.
const USER: u32 = 61_234;
const PROCESSES: u32 = 160;

/// Links the programs into a folder, or copies them: another user may not reach the folder in which they were built.
fn programs_in(folder: &Path) -> PathBuf {
    std::fs::create_dir(folder).expect("a new folder");
    let program = Path::new(env!("CARGO_BIN_EXE_gpbench"));
    let programs = ["gpbench", "gpbench-worker"].map(|name| program.with_file_name(name));
    let plugins = ["cg", "cholesky", "block_cg"].map(|name| library(&format!("gpbench_plugin_{name}")));
    for file in programs.into_iter().chain(plugins).chain([library("gpbench_hostile")]) {
        let here = folder.join(file.file_name().expect("a file"));
        std::fs::hard_link(&file, &here).or_else(|_| std::fs::copy(&file, &here).map(drop)).expect("a link");
    }
    folder.join("gpbench")
}

#[test]
fn a_limit_on_processes_is_no_healthy_solvers_failure() {
    let alone = Sandbox::with_spec(&spec(Task::Posterior, &[]));
    alone.run(&RUN).exits(0);
    let quiet = alone.cases();
    let sandbox = Sandbox::new();
    let program = programs_in(&sandbox.path("bin"));
    let (built, here) = (library("gpbench_hostile"), sandbox.path("bin/libgpbench_hostile.so"));
    let text = spec(Task::Posterior, &[act("exhaust_processes", false)]);
    sandbox.write("spec.toml", &text.replace(&built.display().to_string(), &here.display().to_string()));
    let is_root = rustix::process::getuid().is_root();
    if is_root {
        chown(sandbox.path("."), Some(USER), Some(USER)).expect("root may do that");
        chown(sandbox.path("spec.toml"), Some(USER), Some(USER)).expect("root may do that");
    }
    // The limit counts all processes of the user, of which there may be others.
    let running = if is_root { 0 } else { threads_of_this_user() };
    let limit = format!("--nproc={}", running + PROCESSES);
    let command = || {
        let mut command = sandbox.command_of("prlimit", &[&limit]);
        command.arg(&program).args(RUN);
        if is_root {
            command.uid(USER).gid(USER);
        }
        Ended::of(&mut command)
    };
    let Repeated { cases, commands } = repeat(&sandbox, HEALTHY.len() + 1, command);
    assert_eq!(by_solver(&cases)["exhaust_processes"]["status"], "ok");
    check_healthy(&sandbox, &cases, &quiet, "exhaust_processes");
    println!("tried exhaust_processes under a limit: every case had its row after {commands} commands");
}

fn threads_of_this_user() -> u32 {
    use std::os::unix::fs::MetadataExt as _;
    let own = rustix::process::getuid().as_raw();
    let entries = std::fs::read_dir("/proc").expect("processes").flatten();
    let processes = entries.filter(|entry| entry.metadata().is_ok_and(|data| data.uid() == own));
    let threads =
        processes.map(|entry| std::fs::read_dir(entry.path().join("task")).map_or(0, Iterator::count));
    u32::try_from(threads.sum::<usize>()).expect("a number of threads")
}
