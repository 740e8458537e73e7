//! `gpbench run --debug`: one case under another program, without limits, of which nothing is stored.

use crate::support::zoo::{self, Task, act};
use crate::support::{Sandbox, spec};

/// Prints its arguments on standard output, and becomes the program that they name.
const UNDER: [&str; 5] = ["--", "sh", "-c", "echo \"under: $*\"; exec \"$@\"", "sh"];

/// A debugging session of a spec.
fn args<'a>(options: &[&'a str], program: &[&'a str]) -> Vec<&'a str> {
    [&["run", "spec.toml", "--debug"], options, program].concat()
}

#[test]
fn a_case_runs_under_a_program_and_leaves_nothing() {
    let text = spec("debugged", &[("[budget]", "[budget]\ntime = \"0.001ms\"")]);
    let sandbox = Sandbox::with_spec(&text);
    let ended = sandbox.run(&args(&["-s", "cg"], &UNDER)).exits(0);
    // The budget of time would have stopped the solver at once.
    let ended =
        ended.says(&["debugging draw/matern32/pathwise/cg/seed 0:\nsh -c ", "[1/1] draw/", "/seed 0: ok"]);
    let ended = ended.prints(&["under: ", "/gpbench-worker debug ", "job.json", "messages.jsonl"]);
    assert!(!sandbox.path("reports").exists(), "{}", ended.stderr);
    let files = ended.stdout.split_whitespace().filter(|word| word.contains("gpbench-debug-"));
    let left: Vec<&str> = files.filter(|file| std::path::Path::new(file).exists()).collect();
    assert!(left.is_empty(), "{left:?}");
    // Without a program, the worker runs alone.
    sandbox.run(&args(&["-s", "cholesky"], &[])).exits(0).says(&["/cholesky/seed 0: ok"]);
}

#[test]
fn a_case_that_does_not_end_says_so() {
    let sandbox = Sandbox::with_spec(&spec("debugged", &[]));
    // As a user who leaves the debugger.
    let ended = sandbox.run(&args(&["-s", "cg"], &["--", "sh", "-c", "exit 3", "sh"])).exits(1);
    ended.says(&["the case has no result", "exit status: 3"]);
    let ended = sandbox.run(&args(&["-s", "cg"], &["--", "./no-such-debugger"])).exits(2);
    ended.says(&["./no-such-debugger: No such file"]);
    let ended = sandbox.run(&args(&["-s", "cg"], &["--", "sh", "-c", "kill -SEGV $$", "sh"])).exits(1);
    ended.says(&["SIGSEGV"]);
}

#[test]
fn exactly_one_case_is_debugged() {
    let text = spec("debugged", &[("seeds = [0]", "seeds = [0, 1]\nrepeats = 2")]);
    let sandbox = Sandbox::with_spec(&text);
    let several = sandbox.run(&args(&[], &UNDER)).exits(2);
    let several =
        several.says(&["takes one case, and 4 are chosen", "-d DATASET, -s SOLVER, --seed N, or --case ID"]);
    let line = several.stderr.lines().find(|line| line.ends_with("/cg/seed 1")).expect("a candidate");
    let id = line.split_whitespace().next().expect("an id");
    sandbox.run(&args(&["--case", &id[..8]], &UNDER)).exits(0).says(&["/cg/seed 1: ok"]);
    sandbox.run(&args(&["-s", "cg", "--seed", "0"], &UNDER)).exits(0).says(&["/cg/seed 0: ok"]);
    sandbox.run(&args(&["--seed", "7"], &UNDER)).exits(2).says(&["no case is chosen; there are:"]);
    // Limits, and options of stored runs, do not fit.
    for option in ["--fresh", "--time-limit=1h", "--kill-after=5", "--shard=1/2"] {
        sandbox.run(&args(&[option], &UNDER)).exits(2).says(&["cannot be used with"]);
    }
    sandbox.run(&["run", "spec.toml", "--seed", "0"]).exits(2).says(&["--debug"]);
    sandbox.run(&["run", "spec.toml", "--", "gdb"]).exits(2).says(&["--debug"]);
}

#[test]
fn the_line_of_a_failure_names_iteration_column_and_log() {
    let sandbox = Sandbox::with_spec(&zoo::spec(Task::Posterior, &[act("nan", false)]));
    let ended = sandbox.run(&["run", "spec.toml", "-s", "nan"]).exits(1);
    let ended = ended.says(&["the solution is not finite", "first bad column: 0 (y)"]);
    let line = ended.stderr.lines().find(|line| line.contains("diverged")).expect("the line of the case");
    assert!(line.contains("; after ") && line.contains(" iteration"), "{line}");
    let log = line.rsplit_once("log: ").expect("the path of the log").1;
    assert!(std::path::Path::new(log).is_file(), "{log}");
}
