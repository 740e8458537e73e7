//! A run that is killed repeatedly, at any moment, ends with the rows of an uninterrupted run, and computes none of
//! them twice.
//!
//! The moments come from a seed: a number of lines of progress, then up to some milliseconds. They may differ from
//! machine to machine; the assertions hold for all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Sandbox, is_reproducible, spec};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Number of kills in the test.
const KILLS: usize = 20;
/// Number of attempts that are killed in one run, at most.
const MOST_KILLS_OF_A_RUN: usize = 12;
/// Number of those that are by SIGKILL, at most: a case that three attempts did not survive would be `crashed`.
const MOST_SIGKILLS_OF_A_RUN: usize = 2;

/// SplitMix64: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// When and how an attempt is ended.
#[derive(Debug, Clone, Copy)]
struct Kill {
    signal: Signal,
    lines: u64,
    further: Duration,
}

impl Kill {
    fn draw(random: &mut Random, may_be_sigkill: bool) -> Kill {
        let signal = match random.below(5) {
            0 => Signal::INT,
            2.. if may_be_sigkill => Signal::KILL,
            _ => Signal::TERM,
        };
        // Most kills come before the second case ends, so that a run has many attempts; some before the first line.
        let lines = random.below(6);
        let most = if lines == 0 { 500_000 } else { 30_000 };
        Kill { signal, lines, further: Duration::from_micros(random.below(most)) }
    }
}

/// One start of the program: how it ended, and what it printed.
struct Attempt {
    status: ExitStatus,
    lines: Vec<String>,
}

/// Runs the spec until it ends or is killed.
fn attempt(sandbox: &Sandbox, kill: Option<Kill>) -> Attempt {
    let mut command = sandbox.command(&["run", "spec.toml", "-v"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut said = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    let mut lines = Vec::new();
    if let Some(kill) = kill {
        let wanted = usize::try_from(kill.lines).expect("a small number");
        lines.extend(said.by_ref().take(wanted).map(|line| line.expect("UTF-8")));
        let moment = Instant::now() + kill.further;
        while Instant::now() < moment {
            std::thread::yield_now();
        }
        end(&child, kill.signal);
    }
    lines.extend(said.map_while(Result::ok));
    Attempt { status: child.wait().expect("a child can be waited for"), lines }
}

fn end(child: &Child, signal: Signal) {
    // The child has not been waited for, so its id has not been reused.
    kill_process(Pid::from_child(child), signal).expect("a child can be killed");
}

/// The complete lines of the journal.
fn journal(sandbox: &Sandbox) -> String {
    let mut text =
        std::fs::read_to_string(sandbox.path("reports/kills/latest/journal.jsonl")).unwrap_or_default();
    text.truncate(text.rfind('\n').map_or(0, |last| last + 1));
    text
}

/// The row of each case, without times and memory.
fn rows(journal: &str) -> BTreeMap<String, Value> {
    let mut rows = BTreeMap::new();
    for line in journal.lines() {
        let mut row: Value = serde_json::from_str(line).expect("a row");
        let object = row.as_object_mut().expect("a row is an object");
        object.remove("finished");
        object.remove("check");
        let timeless = |metrics: &mut Value| {
            let metrics = metrics.as_object_mut().expect("metrics");
            metrics.retain(|name, _| is_reproducible(name));
        };
        timeless(&mut object["metrics"]);
        for point in object["trace"].as_array_mut().expect("a trace") {
            point["seconds"] = Value::Null;
            timeless(&mut point["metrics"]);
        }
        let id = object["id"].as_str().expect("an id").to_owned();
        assert!(rows.insert(id.clone(), row).is_none(), "case {id} has two rows");
    }
    rows
}

/// The labels of the rows, as progress prints them.
fn labels(rows: &BTreeMap<String, Value>) -> BTreeSet<String> {
    let of = |row: &Value| {
        let axis = |name: &str| row["labels"][name].as_str().expect("a name").to_owned();
        let axes = ["dataset", "kernel", "estimator", "solver"].map(axis);
        format!("{}/seed {}", axes.join("/"), row["labels"]["seed"])
    };
    rows.values().map(of).collect()
}

/// Checks how a killed attempt ended.
fn check(kill: Kill, attempt: &Attempt) {
    let Attempt { status, lines } = attempt;
    match (status.code(), status.signal()) {
        // SIGKILL, or the signal came before its handler was installed.
        (None, Some(signal)) => assert_eq!(signal, kill.signal.as_raw()),
        // The signal came too late.
        (Some(0), _) => {}
        (Some(code), _) => {
            assert_eq!(code, 128 + kill.signal.as_raw(), "{lines:#?}");
            let last = lines.last().expect("an interrupted run says so");
            assert!(last.contains("to continue: ") && last.ends_with("run spec.toml -v"), "{last}");
        }
        (None, None) => unreachable!("a process ends with a code or by a signal"),
    }
}

#[test]
fn a_run_killed_at_any_moment_ends_with_the_same_rows() {
    let sandbox = Sandbox::with_spec(&spec(
        "kills",
        &[
            ("seeds = [0]", "seeds = [0, 1, 2]"),
            ("n = 60", "n = 40"),
            ("tolerance = 0.01", "tolerance = 1e-6\nmax_epochs = 1000"),
        ],
    ));
    assert!(attempt(&sandbox, None).status.success());
    let uninterrupted = rows(&journal(&sandbox));
    assert_eq!(uninterrupted.len(), 6);

    let mut random = Random(1);
    let (mut kills, mut runs, mut attempts) = (0, 0, 0);
    while kills < KILLS {
        // A new run in a new folder; every second run computes the exact references again.
        std::fs::remove_dir_all(sandbox.path("reports")).expect("a folder of runs");
        if runs % 2 == 0 {
            std::fs::remove_dir_all(sandbox.path("cache")).expect("a cache");
        }
        runs += 1;
        let mut sigkills = 0;
        for count in 0.. {
            let before = journal(&sandbox);
            let done = labels(&rows(&before));
            let may_be_sigkill = sigkills < MOST_SIGKILLS_OF_A_RUN;
            let kill = (count < MOST_KILLS_OF_A_RUN).then(|| Kill::draw(&mut random, may_be_sigkill));
            sigkills += usize::from(kill.is_some_and(|kill| kill.signal == Signal::KILL));
            let attempt = attempt(&sandbox, kill);
            attempts += 1;
            for started in attempt.lines.iter().filter_map(|line| line.strip_prefix("starting ")) {
                assert!(!done.contains(started), "{started} has a row and was started again");
            }
            let after = journal(&sandbox);
            assert!(after.starts_with(&before), "a row was lost or changed: {kill:?}");
            if let Some(kill) = kill {
                check(kill, &attempt);
            }
            if attempt.status.success() {
                break;
            }
            kills += 1;
        }
        assert_eq!(rows(&journal(&sandbox)), uninterrupted);
    }
    let exact = std::fs::read_dir(sandbox.path("cache/exact")).expect("exact references");
    let parts = exact
        .filter(|entry| entry.as_ref().expect("an entry").file_name().to_string_lossy().ends_with(".part"));
    assert_eq!(parts.count(), 0, "no incomplete reference is left");
    println!("{kills} kills in {attempts} attempts of {runs} runs: no row lost, none computed twice");
}
