//! Runs that meet faults at random instants.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant as Clock};

use super::cluster::{Cluster, Metrics, PATIENCE, RUN, by_id, expected, journal, sandbox};
use super::parts::{Instant, Parts};
use super::strike::{Fault, mend, return_nodes, strike};
use super::table::{Origin, Round, record};
use crate::support::Sandbox;

/// Time between two looks at the nodes.
const LOOK: Duration = Duration::from_secs(2);
/// Rows of data: a case takes about half a second.
const ROWS: usize = 1500;
/// Cases of a run.
const CASES: u64 = 8;

/// A number that looks random: splitmix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// When a fault happens: so long after so many cases have started. It does not depend on how busy the machine is.
#[derive(Debug, Clone, Copy)]
struct Moment {
    started: usize,
    delay: Duration,
}

impl Moment {
    fn at_random(state: &mut u64) -> Moment {
        let started = (random(state) % (CASES + 1)) as usize;
        // Before the first case, tasks are sent and begin.
        let longest = if started == 0 { 3000 } else { 600 };
        Moment { started, delay: Duration::from_millis(random(state) % longest) }
    }

    fn wait(self, sandbox: &Sandbox, front: &mut Child) {
        while Parts::read(sandbox).started() < self.started && front.try_wait().is_ok_and(|end| end.is_none())
        {
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(self.delay);
    }
}

/// Waits for the end of a front, and kills one that is still there at the deadline.
fn end(front: &mut Child, deadline: Clock) -> ExitStatus {
    let mut looked = Clock::now();
    loop {
        if let Some(status) = front.try_wait().expect("a child") {
            return status;
        }
        if looked.elapsed() > LOOK {
            return_nodes();
            looked = Clock::now();
        }
        if Clock::now() > deadline {
            let _ = front.kill();
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Runs a spec to its end while a fault happens. Gives the instant of the fault, and how often the command had to be given.
fn endure(
    cluster: &Cluster,
    sandbox: &Sandbox,
    fault: Fault,
    moment: Moment,
    choice: u64,
) -> (Instant, usize) {
    let deadline = Clock::now() + PATIENCE;
    let mut instant = Instant::BeforeStart;
    for commands in 1.. {
        assert!(Clock::now() < deadline, "{fault:?} at {moment:?}: not finished in {PATIENCE:?}");
        let log = fs::File::create(sandbox.path(&format!("front-{commands}.log"))).expect("a file");
        let mut command = sandbox.command(&RUN);
        let mut front = command.stdout(Stdio::null()).stderr(log).spawn().expect("gpbench");
        if commands == 1 {
            moment.wait(sandbox, &mut front);
            instant = strike(fault, cluster, sandbox, &mut front, choice);
        }
        // A run whose cases all have rows ends with an error only where a row is not what it should be.
        if end(&mut front, deadline).success() || journal(sandbox).len() >= CASES as usize {
            return (instant, commands);
        }
        if std::env::var_os("GPBENCH_FAULT_LOGS").is_some() {
            eprintln!("{}", sandbox.read(&format!("front-{commands}.log")));
        }
    }
    unreachable!("the loop has no end")
}

/// What is left of a run with a fault, beside that of a local run.
fn round(
    cluster: &Cluster,
    fault: Fault,
    moment: Moment,
    choice: u64,
    expected: &BTreeMap<String, Metrics>,
) -> Round {
    let sandbox = sandbox(ROWS);
    fault.prepare(cluster, &sandbox);
    let begun = Clock::now();
    let (instant, commands) = endure(cluster, &sandbox, fault, moment, choice);
    let seconds = begun.elapsed().as_secs_f64();
    mend(fault, cluster, &sandbox);
    let (rows, found, parts) = (journal(&sandbox), by_id(&sandbox), Parts::read(&sandbox));
    for case in sandbox.cases().iter().filter(|case| case["status"] != "ok") {
        eprintln!("{}: {} {}", case["id"], case["status"], case["reason"]);
    }
    let lost = expected.keys().filter(|id| !rows.contains(id)).count();
    Round {
        fault,
        instant,
        commands,
        attempts: parts.attempts(),
        duplicates: parts.duplicates(),
        lost,
        twice: (rows.len() + lost).saturating_sub(expected.len()),
        rows: rows.len(),
        wrong: found.iter().filter(|(id, metrics)| expected.get(*id) != Some(metrics)).count(),
        seconds,
    }
}

#[test]
fn faults_at_random_instants_lose_no_row() {
    let Some(cluster) = Cluster::of("faults_at_random_instants_lose_no_row") else { return };
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
    };
    let (count, seed) = (number("GPBENCH_FAULT_ROUNDS", 20), number("GPBENCH_FAULT_SEED", 1));
    let only = std::env::var("GPBENCH_FAULT_KINDS").ok();
    let is_wanted = |fault: &Fault| {
        let kinds = only.as_ref().map(|kinds| kinds.split(',').any(|kind| kind == format!("{fault:?}")));
        kinds.unwrap_or(true) && (cluster.has_mounts() || !fault.needs_mounts())
    };
    let faults: Vec<Fault> = Fault::ALL.into_iter().filter(is_wanted).collect();
    if !cluster.has_mounts() {
        eprintln!("nodes have no file systems of their own here: faults of these are skipped");
    }
    let (origin, expected, mut state) = (Origin::here(seed), expected(ROWS), seed);
    let mut bad = Vec::new();
    for place in 0..count {
        let fault = faults[place as usize % faults.len()];
        let (moment, choice) = (Moment::at_random(&mut state), random(&mut state));
        let round = round(&cluster, fault, moment, choice, &expected);
        eprintln!("round {place}: {moment:?}: {round:?}");
        record(&origin, place, &round);
        if round.lost + round.twice + round.wrong > 0 {
            bad.push(format!("round {place}: {fault:?} at {moment:?}: {round:?}"));
        }
    }
    assert!(bad.is_empty(), "each row once, as a local run has it: {bad:#?}");
}
