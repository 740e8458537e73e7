//! A front at work in the world.

use std::collections::HashSet;

use gpbench_record::{Attempt, CaseStatus, Ending, Manifest, PartLine};

use super::world::{Shared, case_line, limits, manifest};
use crate::front::{Front, FrontSummary, Policy};
use crate::ledger::LedgerLine;
use crate::limits::ClusterLimits;
use crate::manager::{Manager, Round};
use crate::scheduler::{Array, Exit, TaskState};

/// A front at work.
pub(super) struct Bench {
    pub(super) shared: Shared,
    pub(super) manager: Manager<Shared, Shared>,
    pub(super) manifest: Manifest,
    pub(super) policy: Policy,
    pub(super) limits: ClusterLimits,
}

impl Bench {
    /// Sends the tasks.
    pub(super) fn new(tasks: &[&[&str]]) -> Self {
        Self::with(tasks, Policy::default(), limits(4, 100))
    }

    pub(super) fn with(tasks: &[&[&str]], policy: Policy, limits: ClusterLimits) -> Self {
        let tasks: Vec<Vec<String>> =
            tasks.iter().map(|cases| cases.iter().map(|&id| id.to_owned()).collect()).collect();
        Self::of(manifest(&tasks), policy, limits)
    }

    pub(super) fn of(manifest: Manifest, policy: Policy, limits: ClusterLimits) -> Self {
        let shared = Shared::default();
        shared.0.borrow_mut().now = 1_000_000;
        let front =
            Front::new(&manifest, limits.clone(), policy, HashSet::new(), &[], &[], shared.0.borrow().time());
        let manager = Manager::new(front, shared.clone(), shared.clone());
        Self { shared, manager, manifest, policy, limits }
    }

    /// Another front takes over; `resume`: as the command that runs the spec again.
    pub(super) fn restart(&mut self, resume: bool) {
        let front = {
            let mut world = self.shared.0.borrow_mut();
            if resume {
                world.ledger.push(LedgerLine::Resumed);
            }
            world.parts.values_mut().for_each(|(_, read)| *read = 0);
            let parts: Vec<Attempt> = world.parts.keys().copied().collect();
            let (limits, now) = (self.limits.clone(), world.time());
            Front::new(&self.manifest, limits, self.policy, world.rows(), &world.ledger, &parts, now)
        };
        self.manager = Manager::new(front, self.shared.clone(), self.shared.clone());
    }

    pub(super) fn round(&mut self) -> Round {
        let now = self.shared.0.borrow().time();
        self.manager.round(now).unwrap()
    }

    /// Rounds every quarter of a minute, for so many seconds.
    pub(super) fn wait(&mut self, seconds: i64) {
        for _ in 0..seconds / 15 {
            self.shared.0.borrow_mut().now += 15;
            self.round();
        }
    }

    /// A task begins on a node.
    pub(super) fn begin(&mut self, task: u32, node: &str) {
        let world = &mut *self.shared.0.borrow_mut();
        world.begin(world.place(task), node, 0);
    }

    /// The runner of the newest attempt at a task tells something.
    pub(super) fn tell(&mut self, task: u32, line: impl Fn(String) -> PartLine) {
        let world = &mut *self.shared.0.borrow_mut();
        let attempt = world.jobs[&world.place(task)].attempt;
        let line = line(world.time().to_string());
        world.tell(attempt, line, 0);
    }

    pub(super) fn start(&mut self, task: u32, id: &str) {
        self.tell(task, |time| PartLine::Started { time, id: id.into() });
    }

    pub(super) fn row(&mut self, task: u32, id: &str) {
        self.tell(task, |_| case_line(id));
    }

    pub(super) fn beat(&mut self, task: u32) {
        self.tell(task, |time| PartLine::Beat { time, advanced: false });
    }

    pub(super) fn ended(&mut self, task: u32, ending: Ending) {
        self.tell(task, |time| PartLine::Ended { time, ending: ending.clone(), advanced: false });
    }

    /// The scheduler changes the state of a task.
    pub(super) fn set(&mut self, task: u32, state: TaskState, reason: &str, exit: (i32, i32)) {
        let world = &mut *self.shared.0.borrow_mut();
        let exit = Exit { status: exit.0, signal: exit.1 };
        world.set(world.place(task), state, reason, exit);
    }

    /// A task begins on a node, starts a case and ends so, all within a moment.
    pub(super) fn fail(&mut self, task: u32, node: &str, id: &str, state: TaskState, exit: (i32, i32)) {
        self.begin(task, node);
        self.start(task, id);
        self.set(task, state, "", exit);
        self.wait(105);
    }

    /// The arrays that were sent: excluded nodes, and the attempts with their cases.
    pub(super) fn sent(&self) -> Vec<String> {
        let world = self.shared.0.borrow();
        let attempts = |array: &Array| {
            let attempts = &world.prepared[&array.argument.parse().unwrap()];
            attempts
                .iter()
                .map(|(attempt, cases)| format!(" {attempt} {}", cases.join("+")))
                .collect::<String>()
        };
        world
            .arrays
            .iter()
            .map(|array| format!("[{}]{}", array.excluded.join(","), attempts(array)))
            .collect()
    }

    pub(super) fn summary(&self) -> FrontSummary {
        self.manager.front.summary()
    }

    /// The rows, and why the front wrote those that it wrote.
    pub(super) fn journal(&self) -> Vec<String> {
        let world = self.shared.0.borrow();
        let line = |(id, outcome): &(String, Option<(CaseStatus, String)>)| match outcome {
            None => id.clone(),
            Some((status, reason)) => format!("{id} {status}: {reason}"),
        };
        world.journal.iter().map(line).collect()
    }
}
