//! A misbehaving plugin costs no row, and does not change the results of other cases.

use std::path::{Path, PathBuf};

use crate::support::zoo::{
    Expected, Task, act, by_solver, check_left, compile, files, print_delays, rows, run, spec, survivors,
    unmet,
};
use crate::support::{Ended, Sandbox};

/// Acts of the misbehaving plugin.
const ACTS: &[Expected] = &[
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
    ("foreign_text", "invalid", "end of foreign text"),
    ("allocate_fast", "out_of_memory", "killed"),
    ("allocate_in_daemon", "out_of_memory", "killed"),
    ("allocate_memfd", "out_of_memory", "killed"),
    ("allocate_shared", "out_of_memory", "killed"),
    ("allocate_without_leader", "out_of_memory", "killed"),
    ("escape_unmarked", "ok", ""),
    ("exhaust_threads", "ok", ""),
    ("forge_trace", "invalid", ""),
    ("refuse_bytes", "crashed", "SIGXFSZ"),
    ("change_folder", "ok", ""),
    ("unlink_shm", "ok", ""),
];

/// Acts that only a time limit ends, and whether the row must have a trace.
const ENDLESS: &[(&str, bool)] = &[
    ("hang", false),
    ("sleep", false),
    ("stop_process", false),
    ("fork_and_hang", false),
    ("ignore_stop_for_ever", true),
    ("hang_without_leader", false),
];

/// Misbehaving solvers in C.
const C_SOLVERS: &[Expected] = &[
    ("c-well", "ok", ""),
    ("c-round-up", "ok", ""),
    ("c-more-blas-threads", "ok", ""),
    ("c-half-a-line", "ok", ""),
    ("c-thief", "ok", ""),
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
    ("HANG_AT_LOAD", "did not describe itself"),
    ("PRINT_AT_LOAD", "did not describe itself"),
];

#[test]
fn no_act_of_a_plugin_loses_a_row_or_changes_another() {
    let alone = Sandbox::with_spec(&spec(Task::Posterior, &[]));
    // With as many threads for each case as below.
    run(&alone, &["-j", "4"]).exits(0);

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
    let mut expectations: Vec<Expected> = ACTS.to_vec();
    expectations.extend(ENDLESS.iter().map(|(name, _)| (*name, "timeout", "killed: no result within 2 s")));
    expectations.extend(C_SOLVERS);
    expectations.push(("later-minor", "ok", ""));
    sandbox.write("spec.toml", &spec(Task::Posterior, &tables));
    let before = files(&sandbox.path("."));
    run(&sandbox, &["-j", "4", "--kill-after", "2"]).exits(1);

    check_left(&sandbox, &alone.cases(), &expectations);
    for row in rows(&sandbox) {
        let is_it = |(name, traced): &&(&str, bool)| *traced && row["labels"]["solver"] == *name;
        if let Some((name, _)) = ENDLESS.iter().find(is_it) {
            assert!(!row["trace"].as_array().expect("a trace").is_empty(), "the trace of {name} is stored");
        }
    }

    // Two seconds of work while the clock was to be stopped count, except for a small share.
    let cases = sandbox.cases();
    let thief = &by_solver(&cases)["c-thief"]["metrics"];
    let seconds = |name: &str| thief[name].as_f64().unwrap_or_else(|| panic!("{name} is measured"));
    assert!(seconds("seconds") > 1.0 && seconds("seconds_iterates") < 1.0, "{thief}");

    let after = files(&sandbox.path("."));
    let mut elsewhere = after.difference(&before).filter(|file| !file.starts_with("reports"));
    let cached = |file: &&PathBuf| {
        file.starts_with("cache/exact") && file.extension().is_some_and(|e| e == "safetensors")
    };
    assert_eq!(elsewhere.find(|file| !cached(file)), None, "no temporary file is left");

    // Every row is final.
    run(&sandbox, &["-j", "4", "--kill-after", "2"]).exits(1).says(&["nothing was left to run"]);
    let (rust, all) = (ACTS.len() + ENDLESS.len(), expectations.len());
    println!("{rust} acts in Rust, {} solvers in C: no row lost, no healthy result changed", all - rust);
}

#[test]
fn the_limit_on_processor_time_covers_child_processes() {
    let names = ["burn_in_child", "burn_in_daemon"];
    let acts = names.map(|name| act(name, false));
    let sandbox = Sandbox::with_spec(&spec(Task::Posterior, &acts));
    run(&sandbox, &["--cpu-limit", "1s"]).exits(1);
    let cases = sandbox.cases();
    let found = by_solver(&cases);
    assert_eq!(found["cg"]["status"], "ok");
    let wrong = unmet(&found, &names.map(|name| (name, "timeout", "used 1 s of processor time")));
    assert!(wrong.is_empty(), "{wrong:#?}");
    print_delays(&sandbox);
    assert_eq!(survivors(&sandbox.path(".")), [0; 0]);
}

#[test]
fn unusable_libraries_are_named_and_do_not_stop_a_run() {
    let sandbox = Sandbox::with_spec(&spec(Task::Posterior, &[]));
    let folder = sandbox.path("plugins");
    std::fs::create_dir(&folder).expect("a writable folder");
    let file = |fault: &str| folder.join(format!("libgpbench_plugin_{}.so", fault.to_lowercase()));
    std::fs::write(file("TEXT"), "This is a text.\n".repeat(100)).expect("a writable folder");
    std::fs::write(file("EMPTY"), "").expect("a writable folder");
    for (fault, _) in C_LIBRARIES {
        compile("library.c", &[&format!("FAULT_{fault}"), "ID=\"odd\""], &file(fault));
    }
    // A usable library, whose child outlives its description.
    compile("library.c", &["FAULT_FORK_AT_LOAD", "ID=\"forks-at-load\""], &file("FORK_AT_LOAD"));
    let mut command = sandbox.command(&["run", "spec.toml"]);
    // Two of the libraries use up the limit.
    let ended =
        Ended::of(command.env("GPBENCH_PLUGIN_PATH", &folder).env("GPBENCH_DESCRIBE_LIMIT", "5")).exits(0);
    let texts = [("TEXT", "cannot be loaded"), ("EMPTY", "cannot be loaded")];
    for (fault, word) in C_LIBRARIES.iter().chain(&texts) {
        let name = file(fault).file_name().expect("a name").to_string_lossy().into_owned();
        let said = ended.stderr.lines().find(|line| line.contains("warning") && line.contains(&name));
        assert!(said.is_some_and(|line| line.contains(word)), "{fault}: {said:?}");
    }
    assert!(sandbox.cases().iter().all(|case| case["status"] == "ok"));
    assert_eq!(survivors(&sandbox.path(".")), [0; 0], "what a library forks while it loads is ended");

    let hanging = file("HANG_AT_LOAD");
    let hanging = hanging.to_str().expect("UTF-8");
    for verb in ["inspect", "test"] {
        let mut command = sandbox.command(&["plugin", verb, hanging]);
        let ended = Ended::of(command.env("GPBENCH_DESCRIBE_LIMIT", "1"));
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(ended.code != 0 && said.contains("did not describe itself within 1 s"), "{verb}: {said}");
        assert_eq!(survivors(&sandbox.path(".")), [0; 0]);
    }

    // A library that the spec itself names must be usable.
    let named = format!("plugin = \"odd\"\nlibrary = \"{}\"", file("TEXT").display());
    let sandbox = Sandbox::with_spec(&spec(Task::Posterior, &[("odd".to_owned(), named)]));
    sandbox.run(&["run", "spec.toml"]).exits(2).says(&["cannot be loaded"]);
}
