//! Random faults: each case ends with exactly one row, or is listed as left, and no solver is blamed for a machine.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use gpbench_record::{Attempt, CaseStatus, Ending, PartLine};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::bench::Bench;
use super::world::{Answer, case_line, limits, manifest};
use crate::front::Policy;
use crate::scheduler::{Exit, TaskState, Trouble};

/// A runner on a node.
#[derive(Debug)]
struct Runner {
    attempt: Attempt,
    node: String,
    cases: VecDeque<String>,
    /// When the running case ends.
    until: i64,
    /// Whether the scheduler believes it gone.
    is_ghost: bool,
}

struct Simulation {
    bench: Bench,
    random: ChaCha8Rng,
    nodes: u32,
    runners: BTreeMap<(u64, u32), Runner>,
    /// Faults in a million rounds of a runner.
    rate: u32,
    /// How often a case was running when each of these happened to it.
    happened: HashMap<(&'static str, String), usize>,
}

/// What may happen to a runner.
const FAULTS: [&str; 12] = [
    "killed",
    "node",
    "node-ghost",
    "preempted",
    "forgotten",
    "silent",
    "cancelled",
    "memory",
    "signal",
    "failed",
    "time",
    "requeued",
];

impl Simulation {
    fn new(tasks: usize, cases: usize, nodes: u32, rate: u32, seed: u64) -> Self {
        let ids = |task: usize| (0..cases).map(|case| format!("{task}-{case}")).collect();
        let tasks: Vec<Vec<String>> = (0..tasks).map(ids).collect();
        let limits = limits(nodes, 1001);
        Self {
            bench: Bench::of(manifest(&tasks), Policy::default(), limits),
            random: ChaCha8Rng::seed_from_u64(seed),
            nodes,
            runners: BTreeMap::new(),
            rate,
            happened: HashMap::new(),
        }
    }

    fn chance(&mut self, in_a_million: u32) -> bool {
        self.random.random_range(0..1_000_000) < in_a_million
    }

    /// Tells something that the front sees a while later.
    fn tell(&mut self, attempt: Attempt, line: impl FnOnce(String) -> PartLine) {
        let delay = self.random.random_range(0..=60);
        let world = &mut *self.bench.shared.0.borrow_mut();
        let line = line(world.time().to_string());
        world.tell(attempt, line, delay);
    }

    fn set(&self, place: (u64, u32), state: TaskState, exit: (i32, i32)) {
        let exit = Exit { status: exit.0, signal: exit.1 };
        self.bench.shared.0.borrow_mut().set(place, state, "None", exit);
    }

    /// A quarter of a minute. Whether the run is finished.
    fn tick(&mut self) -> bool {
        self.bench.shared.0.borrow_mut().now += 15;
        self.begin_some();
        for place in self.runners.keys().copied().collect::<Vec<_>>() {
            self.run(place);
        }
        self.trouble_the_front();
        self.bench.round().is_finished
    }

    /// Pending tasks begin on free nodes.
    fn begin_some(&mut self) {
        let busy: BTreeSet<String> = self.runners.values().map(|runner| runner.node.clone()).collect();
        let free = (1..=self.nodes).map(|k| format!("n{k}")).filter(|node| !busy.contains(node));
        let mut free: VecDeque<String> = free.collect();
        let mut world = self.bench.shared.0.borrow_mut();
        let waiting =
            world.jobs.iter().filter(|(_, job)| job.task.state == TaskState::Pending && !job.is_forgotten);
        let waiting: Vec<_> = waiting.map(|(place, job)| (*place, job.attempt)).take(free.len()).collect();
        for (place, attempt) in waiting {
            let array = &world.arrays[place.0 as usize - 1];
            let number: u32 = array.argument.parse().unwrap();
            let Some(at) = free.iter().position(|node| !array.excluded.contains(node)) else { continue };
            let node = free.remove(at).unwrap();
            let cases = world.prepared[&number][place.1 as usize].1.clone().into();
            world.begin(place, &node, 20);
            self.runners.insert(place, Runner { attempt, node, cases, until: 0, is_ghost: false });
        }
    }

    /// What a runner does in a quarter of a minute.
    fn run(&mut self, place: (u64, u32)) {
        let (now, state) = {
            let world = self.bench.shared.0.borrow();
            (world.now, world.jobs[&place].task.state.clone())
        };
        let runner = self.runners.get_mut(&place).unwrap();
        let attempt = runner.attempt;
        if state == TaskState::Cancelled && !runner.is_ghost {
            self.runners.remove(&place);
            return self.tell(attempt, |time| ended(time, Ending::Signal { signal: 15 }));
        }
        if now >= runner.until {
            let is_first = runner.until == 0;
            let done = if is_first { None } else { runner.cases.pop_front() };
            let next = runner.cases.front().cloned();
            runner.until = now + self.random.random_range(15..400);
            if let Some(id) = done {
                self.tell(attempt, |_| case_line(&id));
            }
            match next {
                Some(id) => self.tell(attempt, |time| PartLine::Started { time, id }),
                None => {
                    self.tell(attempt, |time| ended(time, Ending::Done));
                    if !self.runners.remove(&place).unwrap().is_ghost {
                        self.set(place, TaskState::Completed, (0, 0));
                    }
                    return;
                }
            }
        } else {
            self.tell(attempt, |time| PartLine::Beat { time, advanced: false });
        }
        if !self.runners[&place].is_ghost && self.chance(self.rate) {
            self.fault(place);
        }
    }

    fn fault(&mut self, place: (u64, u32)) {
        let fault = FAULTS[self.random.random_range(0..FAULTS.len())];
        let runner = self.runners.get_mut(&place).unwrap();
        let (attempt, case) = (runner.attempt, runner.cases[0].clone());
        *self.happened.entry((fault, case)).or_default() += 1;
        let lives_on = matches!(fault, "node-ghost" | "forgotten" | "requeued");
        runner.is_ghost = lives_on;
        if !lives_on {
            self.runners.remove(&place);
        }
        let ending = match fault {
            "preempted" | "cancelled" | "signal" => Some(Ending::Signal { signal: 15 }),
            "failed" => Some(Ending::Failed { reason: "the disk is full".into() }),
            _ => None,
        };
        if let Some(ending) = ending {
            self.tell(attempt, |time| ended(time, ending));
        }
        match fault {
            "killed" => self.set(place, TaskState::Failed, (0, 9)),
            "node" | "node-ghost" => self.set(place, TaskState::NodeFailed, (0, 0)),
            "preempted" => self.set(place, TaskState::Preempted, (0, 15)),
            "forgotten" => self.bench.shared.0.borrow_mut().jobs.get_mut(&place).unwrap().is_forgotten = true,
            "cancelled" => self.set(place, TaskState::Cancelled, (0, 15)),
            "memory" => self.set(place, TaskState::OutOfMemory, (0, 125)),
            "signal" => self.set(place, TaskState::Failed, (75, 0)),
            "failed" => self.set(place, TaskState::Failed, (1, 0)),
            "time" => self.set(place, TaskState::TimedOut, (0, 15)),
            "requeued" => self.set(place, TaskState::Requeued, (0, 0)),
            _ => {}
        }
    }

    fn trouble_the_front(&mut self) {
        if self.chance(10 * self.rate) {
            let is_away = self.chance(500_000);
            self.bench.shared.0.borrow_mut().is_away = is_away;
        }
        if self.chance(5 * self.rate) {
            let answers =
                [Answer::AcceptsSilently, Answer::Refuses(Trouble::Passing), Answer::Refuses(Trouble::Full)];
            let answer = answers[self.random.random_range(0..answers.len())];
            self.bench.shared.0.borrow_mut().answers.push_back(answer);
        }
        if self.chance(2 * self.rate) {
            self.bench.restart(false);
        }
    }

    /// Runs to the end; how many rounds it took.
    fn run_to_the_end(&mut self) -> usize {
        let rounds = (1..200_000).find(|_| self.tick());
        rounds.unwrap_or_else(|| panic!("no end: {:?}", self.bench.summary()))
    }

    fn check(&self) {
        let world = self.bench.shared.0.borrow();
        let mut ids: Vec<String> = world.journal.iter().map(|(id, _)| id.clone()).collect();
        ids.extend(self.bench.summary().left);
        ids.sort();
        let mut all: Vec<&String> = self.bench.manifest.tasks.iter().flat_map(|task| &task.cases).collect();
        all.sort();
        assert!(ids.iter().eq(all), "each case has one row or is left");
        for (id, outcome) in &world.journal {
            let Some((status, reason)) = outcome else { continue };
            let happened = |fault| self.happened.get(&(fault, id.clone())).copied().unwrap_or_default();
            let is_right = match status {
                CaseStatus::Crashed => happened("killed") >= 3,
                CaseStatus::OutOfMemory => happened("memory") >= 1,
                _ => false,
            };
            assert!(is_right, "{id} {status}: {reason}");
        }
    }
}

fn ended(time: String, ending: Ending) -> PartLine {
    PartLine::Ended { time, ending, advanced: false }
}

#[test]
fn each_case_has_one_row_or_is_left() {
    for seed in 0..60 {
        let rate = [1_000, 10_000, 60_000][seed as usize % 3];
        let mut simulation = Simulation::new(40, 4, 12, rate, seed);
        simulation.run_to_the_end();
        simulation.check();
    }
}

#[test]
fn cases_that_run_again_have_one_new_row_or_are_left() {
    for seed in 0..30 {
        let rate = [1_000, 10_000, 60_000][seed as usize % 3];
        let mut simulation = Simulation::new(20, 4, 12, rate, seed);
        simulation.run_to_the_end();
        simulation.check();
        let rows = simulation.bench.shared.0.borrow().journal.clone();
        let again: Vec<String> = rows.into_iter().map(|(id, _)| id).step_by(3).collect();
        simulation.bench.restart(true);
        simulation.bench.manager.front.again(&again);
        // The ledger has it from now on, whatever happens to the front.
        simulation.bench.round();
        simulation.run_to_the_end();
        let left = simulation.bench.summary().left;
        let world = simulation.bench.shared.0.borrow();
        let ends = world.journal.iter().map(|(id, _)| id).chain(&left);
        let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
        ends.for_each(|id| *counts.entry(id).or_default() += 1);
        for id in simulation.bench.manifest.tasks.iter().flat_map(|task| &task.cases) {
            assert_eq!(counts[id], 1 + usize::from(again.contains(id)), "{id} of seed {seed}");
        }
    }
}

#[test]
fn without_faults_each_task_is_sent_once() {
    let mut simulation = Simulation::new(100, 3, 10, 0, 1);
    simulation.run_to_the_end();
    simulation.check();
    let world = simulation.bench.shared.0.borrow();
    assert_eq!((world.arrays.len(), world.journal.len(), world.cancelled.len()), (1, 300, 0));
}

#[test]
fn ten_thousand_cases_are_no_burden() {
    let mut simulation = Simulation::new(2_500, 4, 200, 2_000, 7);
    let rounds = simulation.run_to_the_end();
    simulation.check();
    let world = simulation.bench.shared.0.borrow();
    eprintln!("{} rows, {} lines of the ledger, {rounds} rounds", world.journal.len(), world.ledger.len());
}
