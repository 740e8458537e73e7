//! Arrays of tasks that are sent together, and the nodes where they must not run.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::Attempt;
use jiff::Timestamp;

use crate::front::known::Known;
use crate::front::state::{Front, Sent, Standing, Submission};
use crate::ledger::LedgerLine;
use crate::limits::ResourceRequest;
use crate::scheduler::Array;

/// What tasks of one array have in common: the resources that they request, and the nodes where they must not run.
type Group = (ResourceRequest, Vec<String>);

impl Front {
    /// Arrays of all tasks that wait.
    pub(super) fn submissions(&mut self, now: Timestamp) -> Vec<Submission> {
        if self.hold_until.is_some_and(|until| now < until) {
            return Vec::new();
        }
        let arrays: Vec<(Group, Vec<usize>)> = self
            .groups()
            .into_iter()
            .flat_map(|(group, tasks)| {
                let chunks = tasks.chunks(self.array_size.max(1) as usize).map(<[usize]>::to_vec);
                chunks.map(|chunk| (group.clone(), chunk)).collect::<Vec<_>>()
            })
            .collect();
        // Where only one task is let into the queue at a time, the next one waits for the answer to this one.
        let most = if self.hold_until.take().is_some() { 1 } else { arrays.len() };
        let total = arrays.iter().map(|(_, tasks)| tasks.len()).sum();
        arrays
            .into_iter()
            .take(most)
            .map(|(group, tasks)| self.submission(group, &tasks, total, now))
            .collect()
    }

    fn groups(&self) -> BTreeMap<Group, Vec<usize>> {
        let banned = self.banned();
        let mut groups: BTreeMap<Group, Vec<usize>> = BTreeMap::new();
        for (index, task) in self.tasks.iter().enumerate() {
            if task.standing == Standing::Waiting {
                let group = (
                    ResourceRequest::of(&self.manifest_tasks[index]),
                    self.excluded(&task.excluded, &banned),
                );
                groups.entry(group).or_default().push(index);
            }
        }
        groups
    }

    /// Nodes on which several tasks have failed quickly.
    pub(super) fn banned(&self) -> BTreeSet<String> {
        let fails = |tasks: &BTreeSet<u32>| tasks.len() >= self.policy.node_failures;
        self.quick.iter().filter(|(_, tasks)| fails(tasks)).map(|(node, _)| node.clone()).collect()
    }

    /// Nodes where a task must not run: those where it has failed, and banned ones; fewer where no node would be left.
    fn excluded(&self, own: &BTreeSet<String>, banned: &BTreeSet<String>) -> Vec<String> {
        let leaves_some = |nodes: &BTreeSet<String>| {
            self.limits.nodes.is_empty() || self.limits.nodes.iter().any(|node| !nodes.contains(&node.name))
        };
        let all: BTreeSet<String> = own.union(banned).cloned().collect();
        let choices = [&all, banned, own];
        choices.into_iter().find(|nodes| leaves_some(nodes)).into_iter().flatten().cloned().collect()
    }

    fn submission(
        &mut self,
        (request, excluded): Group,
        tasks: &[usize],
        total: usize,
        now: Timestamp,
    ) -> Submission {
        self.submissions += 1;
        let number = self.submissions;
        let attempts: Vec<(Attempt, Vec<String>)> = tasks
            .iter()
            .map(|&index| {
                let task = &mut self.tasks[index];
                task.attempts += 1;
                let attempt = Attempt { task: index as u32, attempt: task.attempts };
                task.standing = Standing::Live(attempt);
                (attempt, task.left.clone())
            })
            .collect();
        let ids: Vec<Attempt> = attempts.iter().map(|(attempt, _)| *attempt).collect();
        for (index, attempt) in (0..).zip(&ids) {
            self.live.insert(*attempt, Known::new(number, index, request, now));
        }
        self.sent.insert(number, Sent { attempts: ids, ..Sent::default() });
        // Each array of a step gets its share of the tasks that may run at a time.
        let share = |most: u32| (most as usize * tasks.len() / total.max(1)).max(1) as u32;
        let array = Array {
            comment: self.comment(number),
            count: tasks.len() as u32,
            request,
            throttle: self.policy.throttle.map(share),
            excluded,
            argument: number.to_string(),
        };
        Submission { number, attempts, array }
    }
}

impl Submission {
    /// The line that the ledger gets before the array is sent.
    pub fn intent(&self) -> LedgerLine {
        let attempts = self.attempts.iter().map(|(attempt, _)| *attempt).collect();
        LedgerLine::Intent { submission: self.number, attempts, request: Some(self.array.request) }
    }
}
