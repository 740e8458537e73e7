//! `gpbench plan --pilot`: trials on parts of the rows, forecasts beside what the plan assumes, and nothing
//! that stays.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::zoo::{self, Task, act};
use crate::support::{Ended, Sandbox, checkout, spec};

/// A pilot with time enough for all of its trials, which are tiny.
const PILOT: [&str; 4] = ["plan", "spec.toml", "--pilot", "10m"];

/// A sandbox with a spec and a folder for temporary files.
fn sandbox(text: &str) -> Sandbox {
    let sandbox = Sandbox::with_spec(text);
    std::fs::create_dir(sandbox.path("tmp")).expect("a new folder");
    sandbox
}

/// Runs a pilot whose temporary files are in the sandbox, and checks that nothing is left.
fn pilot(sandbox: &Sandbox, args: &[&str]) -> Ended {
    let ended = Ended::of(sandbox.command(args).env("TMPDIR", sandbox.path("tmp")));
    let left: Vec<PathBuf> = zoo::files(&sandbox.path("tmp")).into_iter().collect();
    assert!(left.is_empty() && !sandbox.path("reports").exists(), "{left:?}");
    ended
}

/// The forecast of a solver.
fn of<'v>(json: &'v Value, solver: &str) -> &'v Value {
    let solvers = json["solvers"].as_array().expect("a list of solvers");
    solvers.iter().find(|found| found["solver"] == solver).unwrap_or_else(|| panic!("no {solver}: {json}"))
}

#[test]
fn a_pilot_foretells_each_solver_and_stores_nothing() {
    let sandbox = sandbox(&spec("pilot", &[("seeds = [0]", "seeds = [0, 1]")]));
    let json = pilot(&sandbox, &[&PILOT[..], &["--format", "json"]].concat()).exits(0).json();
    assert_eq!((&json["name"], json["solvers"].as_array().map(Vec::len)), (&"pilot".into(), Some(2)));
    for solver in ["cholesky", "cg"] {
        let found = of(&json, solver);
        assert_eq!((&found["n"], &found["cases"], &found["fits"]), (&60.into(), &2.into(), &true.into()));
        let trials = found["trials"].as_array().expect("trials");
        let rows: Vec<u64> = trials.iter().map(|trial| trial["n"].as_u64().expect("a number")).collect();
        assert_eq!(rows, [15, 21, 32, 42, 60], "{found}");
        assert!(trials.iter().all(|trial| trial["ended_by_itself"] == true), "{found}");
        for quantity in ["seconds", "memory_bytes"] {
            let [low, expected, high] =
                ["low", "expected", "high"].map(|name| found[quantity][name].as_f64());
            assert!(low <= expected && expected <= high && low.is_some(), "{found}");
        }
        assert!(found["plan_seconds"].is_f64() && found["plan_memory_bytes"].is_u64(), "{found}");
    }
    assert_eq!(of(&json, "cg")["unit"], "epochs");
}

#[test]
fn steps_of_training_and_passes_of_learners_are_the_work() {
    let text = zoo::spec(Task::Training, &[]).replace("n = 60", "n = 40");
    let json =
        pilot(&sandbox(&text), &[&PILOT[..], &["-s", "cg", "--format", "json"]].concat()).exits(0).json();
    let found = of(&json, "cg");
    assert_eq!((&found["unit"], &found["units"]["expected"]), (&"steps".into(), &3.0.into()), "{found}");

    let spec = checkout("benchmarks/learners-small.toml");
    let learner = ["plan", spec.to_str().expect("UTF-8"), "--pilot", "10m", "-s", "bsgd", "--format", "json"];
    let few = ["--set", "learn.epochs=2", "--set", "seeds=[0, 1]"];
    let json = pilot(&sandbox(""), &[&learner[..], &few].concat()).exits(0).json();
    let points = json["solvers"].as_array().expect("the points of a grid");
    assert_eq!(points.len(), 2);
    for found in points {
        assert_eq!((&found["unit"], &found["units"]["expected"]), (&"passes".into(), &2.0.into()), "{found}");
        assert!(found["seconds"]["expected"].is_f64(), "{found}");
    }
}

#[test]
fn every_format_has_the_forecasts_and_failures_are_said() {
    let sandbox = sandbox(&zoo::spec(Task::Posterior, &[act("error", false)]));
    let only = ["-s", "error,cholesky", "--verbose"];
    let ended = pilot(&sandbox, &[&PILOT[..], &only, &["--format", "csv"]].concat()).exits(0);
    let ended =
        ended.says(&["the pilot takes up to 10 min 00 s: 2 solvers", "cholesky/seed 0, 32 rows: ", " on "]);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert!(lines[0].contains("time in plan") && lines.len() == 3, "{}", ended.stdout);
    let failed = lines.iter().find(|line| line.contains("error")).expect("a line of the solver");
    assert!(failed.contains("failed with 60 rows") && failed.contains("unknown"), "{failed}");
    let small = [&PILOT[..], &["-s", "cholesky", "--format", "md"]].concat();
    pilot(&sandbox, &small).exits(0).prints(&["| time in plan |", "| cholesky |", "| yes |"]);
}

#[test]
fn an_interrupted_pilot_ends_its_worker_and_leaves_nothing() {
    let sandbox = sandbox(&zoo::spec(Task::Posterior, &[act("sleep", false)]));
    let mut command = sandbox.command(&[&PILOT[..], &["-s", "cholesky,sleep", "--verbose"]].concat());
    command.env("TMPDIR", sandbox.path("tmp")).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut said = BufReader::new(child.stderr.take().expect("it is piped")).lines().map_while(Result::ok);
    // The trials take turns: after one of the other solver, the sleeping one runs sooner or later, and for minutes.
    assert!(said.any(|line| line.contains("cholesky/seed 0, 32 rows")));
    kill_process(Pid::from_child(&child), Signal::INT).expect("a child can be killed");
    assert!(said.any(|line| line.contains("the pilot was interrupted")));
    assert_eq!(child.wait().expect("a child can be waited for").code(), Some(130));
    assert!(zoo::files(&sandbox.path("tmp")).is_empty() && !sandbox.path("reports").exists());
}

#[test]
fn a_pilot_refuses_what_a_run_refuses() {
    let sandbox = Sandbox::with_spec(&spec("pilot", &[("n = 60", "n = 0")]));
    sandbox.run(&PILOT).exits(2).says(&["spec.toml"]);
    sandbox.run(&["plan", "spec.toml", "--pilot", "2"]).exits(2).says(&["lacks a unit"]);
    sandbox.run(&["plan", "spec.toml", "--pilot=0s"]).exits(2).says(&["--pilot"]);
}
