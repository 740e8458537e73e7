//! What processes use, and which of them belong to a worker, by `/proc`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use rustix::param::{clock_ticks_per_second, page_size};

/// Memory and processor time of one process or several.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Usage {
    /// Resident bytes.
    pub(super) memory_bytes: u64,
    /// Processor seconds, those of ended children included.
    pub(super) cpu_seconds: f64,
}

impl Usage {
    /// The usage of one process; none of one that has ended.
    pub(super) fn of(process: u32) -> Self {
        Stat::read(process).map_or(Self::default(), |stat| stat.usage)
    }

    /// The usage of processes beside the one that they were forked from: memory that they share with no other.
    pub(super) fn of_descendants(processes: impl IntoIterator<Item = u32>) -> Self {
        processes.into_iter().fold(Self::default(), |sum, process| {
            sum.and(Self { memory_bytes: private_bytes(process), ..Self::of(process) })
        })
    }

    /// The sum of both.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            memory_bytes: self.memory_bytes + other.memory_bytes,
            cpu_seconds: self.cpu_seconds + other.cpu_seconds,
        }
    }
}

/// The fields of `/proc/<process>/stat` that are used.
struct Stat {
    group: u32,
    usage: Usage,
}

impl Stat {
    fn read(process: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        // The name, in brackets, may hold anything. State, parent and group follow; processor time is
        // 11 to 14 fields after the state, resident pages 21.
        let fields: Vec<&str> = text.rsplit_once(") ")?.1.split(' ').collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        let ticks = number(11)? + number(12)? + number(13)? + number(14)?;
        let usage = Usage {
            memory_bytes: number(21)? * page_size() as u64,
            cpu_seconds: ticks as f64 / clock_ticks_per_second() as f64,
        };
        Some(Self { group: number(2)?.try_into().ok()?, usage })
    }
}

/// The processes of a process group without its leader. Reads every process of the machine.
pub(super) fn group_of(leader: u32) -> Vec<u32> {
    let is_led = |process: &u32| Stat::read(*process).is_some_and(|stat| stat.group == leader);
    processes().filter(|process| *process != leader).filter(is_led).collect()
}

/// Resident bytes that a process shares with no other; 0 if it has ended.
fn private_bytes(process: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
    let private = text.lines().filter(|line| line.starts_with("Private_"));
    let kibibytes = |line: &str| line.split_whitespace().nth(1)?.parse::<u64>().ok();
    private.filter_map(kibibytes).sum::<u64>() * 1024
}

/// The processes that were started with an environment variable whose value begins with `value`.
pub(super) fn marked(variable: &str, value: &OsStr) -> Vec<u32> {
    let mark = [variable.as_bytes(), b"=", value.as_bytes()].concat();
    let is_marked = |process: &u32| {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|variable| variable.starts_with(&mark))
    };
    processes().filter(|process| *process != std::process::id()).filter(is_marked).collect()
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_stat_is_read_whatever_the_name() {
        let text =
            "7 (a) b) S 1 5 5 0 -1 4194304 0 0 0 0 150 50 20 30 20 0 3 0 1 9999 12 18446744073709551615";
        let stat = Stat::parse(text).unwrap();
        assert_eq!(stat.group, 5);
        assert_eq!(stat.usage.memory_bytes, 12 * page_size() as u64);
        assert_eq!(stat.usage.cpu_seconds, 250.0 / clock_ticks_per_second() as f64);
        assert!(Stat::parse("7 (a) S 1").is_none());
    }

    #[test]
    fn this_process_uses_memory_and_an_ended_one_none() {
        let own = Usage::of(std::process::id());
        assert!(own.memory_bytes > 0);
        assert!((1..=own.memory_bytes).contains(&private_bytes(std::process::id())));
        assert_eq!(Usage::of(u32::MAX), Usage::default());
        assert_eq!(Usage::of_descendants([u32::MAX]), Usage::default());
    }
}
