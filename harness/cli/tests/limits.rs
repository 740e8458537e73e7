//! What plugins start never outlives what was asked of gpbench, however that ends.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::{Ended, Sandbox, library, spec};
use rustix::process::{Pid, Signal, kill_process};

/// A case of the misbehaving plugin beside the healthy ones.
fn with_act(act: &str) -> Sandbox {
    let library = library("gpbench_hostile");
    let table = format!(
        "\n[solver.odd]\nplugin = \"hostile\"\nlibrary = \"{}\"\nparams.act = \"{act}\"\nbudget.time = \"1h\"\n",
        library.display()
    );
    let solvers = ("solver = [\"cholesky\", \"cg\"]", "solver = [\"cholesky\", \"cg\", \"odd\"]");
    Sandbox::with_spec(&(spec("limits", &[solvers]) + &table))
}

/// Processes that work in the sandbox.
fn processes(sandbox: &Sandbox) -> Vec<u32> {
    let folder = sandbox.path(".").canonicalize().expect("it exists");
    let is_ours = |pid: &u32| {
        std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|path| path.starts_with(&folder))
    };
    let entries = std::fs::read_dir("/proc").expect("processes");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(is_ours).collect()
}

/// [`processes`] that are left. Waits a moment, because a kill takes one.
fn survivors(sandbox: &Sandbox) -> Vec<u32> {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let found = processes(sandbox);
        if found.is_empty() || Instant::now() > deadline {
            return found;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_terminal_that_closes_ends_a_run_in_order() {
    for (signal, code) in [(Signal::HUP, 129), (Signal::QUIT, 131)] {
        let sandbox = with_act("fork_and_hang");
        // Whoever runs the tests may have these signals ignored, as `nohup` does.
        let program = env!("CARGO_BIN_EXE_gpbench");
        let words = ["--default-signal=HUP,QUIT", program, "run", "spec.toml", "-v", "-j", "3", "-t", "3"];
        let mut command = sandbox.command_of("env", &words);
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let mut said = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let log = || std::fs::read_dir(sandbox.path("reports/limits/latest/logs")).map_or(0, Iterator::count);
        // All three cases have begun once there are three logs.
        while log() < 3 {
            std::thread::yield_now();
        }
        kill_process(Pid::from_child(&child), signal).expect("a child can be killed");
        while said.next().is_some() {}
        assert_eq!(child.wait().expect("a child can be waited for").code(), Some(code));
        assert_eq!(survivors(&sandbox), [0; 0], "{signal:?}");
    }
}

#[test]
fn a_grandchild_in_a_session_of_its_own_ends_with_its_case() {
    let sandbox = with_act("escape");
    sandbox.run(&["run", "spec.toml", "-j", "3", "-t", "3"]).exits(0);
    assert_eq!(survivors(&sandbox), [0; 0]);
    assert!(sandbox.cases().iter().all(|case| case["status"] == "ok"));
}

#[test]
fn only_processors_of_the_affinity_mask_count() {
    let status = std::fs::read_to_string("/proc/self/status").expect("the own process");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("a mask");
    let first = list.trim().split([',', '-']).next().expect("a processor");
    let sandbox = Sandbox::new();
    let words = ["-c", first, env!("CARGO_BIN_EXE_gpbench"), "doctor", "--format", "json"];
    let found = Ended::of(&mut sandbox.command_of("taskset", &words)).exits(0).json();
    assert_eq!((&found["environment"]["cores"], &found["environment"]["threads"]), (&1.into(), &1.into()));
}
