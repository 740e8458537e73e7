//! A worker and all that it has started.

use std::fs;
use std::time::{Duration, Instant};

use gpbench_processes::{Stat, descendants, end_orphans};
use rustix::param::clock_ticks_per_second;

use super::control_group::ControlGroup;
use super::memory::{HeldFiles, held_files, proportional, resident};

/// Time after which the family is listed again, even without a sign that it has grown.
const LONG_TICK: Duration = Duration::from_secs(1);
/// Time between two checks of the open files of a family that holds none in memory.
const FILES_TICK: Duration = Duration::from_millis(5);

/// The known processes of a worker.
#[derive(Debug)]
pub(super) struct Family {
    leader: u32,
    descendants: Vec<u32>,
    looked_up: Instant,
    /// The number of the machine's newest process at that time.
    newest: Option<u32>,
    /// Processor seconds of the descendants at that time.
    cpu_seconds: f64,
    files: HeldFiles,
    files_seen: Option<Instant>,
}

impl Family {
    /// A worker that has not started anything.
    pub(super) fn of(leader: u32) -> Self {
        Self {
            leader,
            descendants: Vec::new(),
            looked_up: Instant::now(),
            newest: None,
            cpu_seconds: 0.0,
            files: HeldFiles::new(),
            files_seen: None,
        }
    }

    fn all(&self) -> impl Iterator<Item = u32> {
        [self.leader].into_iter().chain(self.descendants.iter().copied())
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        1 + self.descendants.len()
    }

    /// Lists the family if it has not been listed for [`LONG_TICK`].
    pub(super) fn look_up_at_times(&mut self, group: Option<&ControlGroup>) {
        if self.looked_up.elapsed() > LONG_TICK {
            self.look_up(group);
        }
    }

    /// Lists the family if any process of the machine has been started since.
    pub(super) fn look_up_if_grown(&mut self, group: Option<&ControlGroup>) {
        self.look_up_at_times(group);
        if self.newest.is_none() || newest_process() != self.newest {
            self.look_up(group);
        }
    }

    fn look_up(&mut self, group: Option<&ControlGroup>) {
        // Read first: what starts meanwhile is found the next time.
        self.newest = newest_process();
        // A worker adopts orphans. One that has come here hides from it, and from its limits.
        end_orphans(Duration::ZERO);
        self.descendants = descendants(self.leader);
        self.descendants.extend(group.into_iter().flat_map(ControlGroup::processes));
        self.descendants.sort_unstable();
        self.descendants.dedup();
        self.descendants.retain(|process| *process != self.leader);
        self.cpu_seconds = self.descendants.iter().copied().map(cpu_seconds).sum();
        self.looked_up = Instant::now();
    }

    /// Processor seconds of all, those of ended children included.
    pub(super) fn cpu_seconds(&self) -> f64 {
        cpu_seconds(self.leader) + self.cpu_seconds
    }

    /// Bytes that the family takes at most: pages that its processes share count more than once.
    pub(super) fn memory_at_most(&mut self) -> u64 {
        let is_due =
            !self.files.is_empty() || self.files_seen.is_none_or(|time| time.elapsed() >= FILES_TICK);
        if is_due {
            self.files = held_files(self.all());
            self.files_seen = Some(Instant::now());
        }
        self.all().map(resident).sum::<u64>() + self.files.values().sum::<u64>()
    }

    /// Bytes that the family takes. Reading them takes milliseconds where they are many.
    pub(super) fn memory(&self) -> u64 {
        proportional(self.all(), &self.files)
    }
}

/// Processor seconds of a process and of its ended children; 0 if it has ended.
fn cpu_seconds(process: u32) -> f64 {
    let ticks = Stat::read(process).map_or(0, |stat| stat.cpu_ticks);
    ticks as f64 / clock_ticks_per_second() as f64
}

/// The number that was given to a process or thread last.
fn newest_process() -> Option<u32> {
    fs::read_to_string("/proc/loadavg").ok()?.split_ascii_whitespace().next_back()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_family_grows_with_what_is_started() {
        let mut family = Family::of(std::process::id());
        family.look_up_if_grown(None);
        assert_eq!(family.count(), 1);
        let before = family.memory_at_most();
        let mut command = Command::new("cat");
        let mut child =
            gpbench_processes::spawn(command.stdin(Stdio::piped()).stdout(Stdio::null())).unwrap();
        family.look_up_if_grown(None);
        assert_eq!(family.descendants, [child.id()]);
        assert!(before > 0 && family.memory() > 0 && family.cpu_seconds() >= 0.0);
        assert!(family.memory_at_most() >= family.memory() / 2);
        drop(child.child.stdin.take());
        child.wait().unwrap();
    }
}
