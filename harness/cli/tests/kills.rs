//! A run that is killed anywhere, again and again, ends as one that never was: the same rows, and none of
//! them computed twice.
//!
//! The moments are seeded: so many lines of progress, and then up to so many milliseconds. They need not fall
//! alike on every machine, as what must hold does so wherever they fall.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use support::Bench;

/// Kills, of all chains of sittings together.
const KILLS: usize = 60;
/// Sittings of a chain after which one is let through.
const LONGEST_CHAIN: usize = 12;

const SPEC: &str = r#"
schema = 1
name = "kills"
task = "posterior"
seeds = [0, 1, 2]

[matrix]
dataset = ["draw"]
kernel = ["matern32"]
estimator = ["pathwise"]
solver = ["cholesky", "cg"]

[dataset.draw]
from = "gp-draw"
n = 40
d = 2

[kernel.matern32]
family = "matern32"
hyperparameters = { signal_scale = 1.0, noise_scale = 0.1, length_scale = 1.0 }

[estimator.pathwise]
probes = 2
features = 20

[budget]
tolerance = 1e-6
max_epochs = 1000
"#;

/// SplitMix64, the same numbers on every machine.
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

/// When and how a sitting is ended.
#[derive(Debug, Clone, Copy)]
struct Kill {
    signal: Signal,
    lines: u64,
    further: Duration,
}

impl Kill {
    fn draw(random: &mut Random) -> Kill {
        let signal = match random.below(5) {
            0 => Signal::INT,
            1 => Signal::TERM,
            _ => Signal::KILL,
        };
        // Most before the second case has ended, so that a chain has many links; some before the first line.
        let lines = random.below(6);
        let most = if lines == 0 { 500_000 } else { 30_000 };
        Kill { signal, lines, further: Duration::from_micros(random.below(most)) }
    }
}

/// How a sitting ended, and what it said.
struct Sitting {
    status: ExitStatus,
    lines: Vec<String>,
}

/// Runs the spec until it ends or is ended.
fn sit(bench: &Bench, kill: Option<Kill>) -> Sitting {
    let mut command = bench.command(&["run", "spec.toml", "-v"]);
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
    Sitting { status: child.wait().expect("a child can be waited for"), lines }
}

fn end(child: &Child, signal: Signal) {
    // It has not been waited for, so the number is still its own, whether it runs or not.
    kill_process(Pid::from_child(child), signal).expect("a child can be killed");
}

/// The bytes of the journal's whole lines.
fn journal(bench: &Bench) -> String {
    let mut text =
        std::fs::read_to_string(bench.path("reports/kills/latest/journal.jsonl")).unwrap_or_default();
    text.truncate(text.rfind('\n').map_or(0, |last| last + 1));
    text
}

/// Rows by case, without what no two runs share. Each case has one.
fn rows(journal: &str) -> BTreeMap<String, Value> {
    let mut rows = BTreeMap::new();
    for line in journal.lines() {
        let mut row: Value = serde_json::from_str(line).expect("a row");
        let object = row.as_object_mut().expect("a row is an object");
        object.remove("finished");
        let timeless = |metrics: &mut Value| {
            let metrics = metrics.as_object_mut().expect("metrics");
            metrics.retain(|name, _| !name.contains("seconds") && !name.contains("memory"));
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

/// Axes of the rows, as progress names them.
fn labels(rows: &BTreeMap<String, Value>) -> BTreeSet<String> {
    let of = |row: &Value| {
        let axis = |name: &str| row["labels"][name].as_str().expect("a name").to_owned();
        let axes = ["dataset", "kernel", "estimator", "solver"].map(axis);
        format!("{}/seed {}", axes.join("/"), row["labels"]["seed"])
    };
    rows.values().map(of).collect()
}

/// Checks a sitting that was to be ended.
fn check(kill: Kill, sitting: &Sitting) {
    let Sitting { status, lines } = sitting;
    match (status.code(), status.signal()) {
        // The signal came before anybody listened for it, or was SIGKILL.
        (None, Some(signal)) => assert_eq!(signal, kill.signal.as_raw()),
        // It came too late.
        (Some(0), _) => {}
        (Some(code), _) => {
            assert_eq!(code, 128 + kill.signal.as_raw(), "{lines:#?}");
            let last = lines.last().expect("an interrupted run says so");
            assert!(last.contains("to go on: ") && last.ends_with("run spec.toml -v"), "{last}");
        }
        (None, None) => unreachable!("a process that has ended did so in one way or the other"),
    }
}

#[test]
fn a_run_killed_anywhere_ends_as_one_that_never_was() {
    let bench = Bench::new();
    bench.write("spec.toml", SPEC);
    assert!(sit(&bench, None).status.success());
    let whole = rows(&journal(&bench));
    assert_eq!(whole.len(), 6);

    let mut random = Random(1);
    let (mut kills, mut chains, mut sittings) = (0, 0, 0);
    while kills < KILLS {
        // Another chain, in another folder; references are made again in every second one.
        std::fs::remove_dir_all(bench.path("reports")).expect("a folder of runs");
        if chains % 2 == 0 {
            std::fs::remove_dir_all(bench.path("cache")).expect("a cache");
        }
        chains += 1;
        for link in 0.. {
            let before = journal(&bench);
            let done = labels(&rows(&before));
            let kill = (link < LONGEST_CHAIN).then(|| Kill::draw(&mut random));
            let sitting = sit(&bench, kill);
            sittings += 1;
            for started in sitting.lines.iter().filter_map(|line| line.strip_prefix("starting ")) {
                assert!(!done.contains(started), "{started} had its row and was begun again");
            }
            let after = journal(&bench);
            assert!(after.starts_with(&before), "a row was lost or changed: {kill:?}");
            if let Some(kill) = kill {
                check(kill, &sitting);
            }
            if sitting.status.success() {
                break;
            }
            kills += 1;
        }
        assert_eq!(rows(&journal(&bench)), whole);
    }
    let exact = std::fs::read_dir(bench.path("cache/exact")).expect("exact references");
    let parts = exact
        .filter(|entry| entry.as_ref().expect("an entry").file_name().to_string_lossy().ends_with(".part"));
    assert_eq!(parts.count(), 0, "no half reference is left");
    println!("tried: {kills} kills in {sittings} sittings of {chains} runs; lost: 0 rows; computed twice: 0");
}
