//! State of one process, from `/proc`.

use std::fs;

/// The fields of `/proc/<process>/stat` that are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Number of the parent.
    pub parent: u32,
    /// Processor time of all threads and of ended children, in ticks of the system's clock.
    pub cpu_ticks: u64,
    /// The part of it that ended children have used.
    pub cpu_ticks_of_children: u64,
    /// Start time, in ticks since the start of the machine. It distinguishes the process from a later one of the same
    /// number.
    pub started: u64,
    /// Whether it has ended and its parent has not waited for it yet.
    pub has_ended: bool,
}

impl Stat {
    /// Reads the file of a process; `None` if there is no such process.
    pub fn read(process: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        // The name, in brackets, may contain any characters. The state, the parent and further fields follow it.
        let fields: Vec<&str> = text.rsplit_once(") ")?.1.split(' ').collect();
        let number = |index: usize| fields.get(index)?.trim_end().parse::<u64>().ok();
        Some(Self {
            parent: number(1)?.try_into().ok()?,
            cpu_ticks: number(11)? + number(12)? + number(13)? + number(14)?,
            cpu_ticks_of_children: number(13)? + number(14)?,
            started: number(19)?,
            has_ended: matches!(fields.first(), Some(&("Z" | "X"))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_stat_is_read_whatever_the_name() {
        let text =
            "7 (a) b) S 1 5 5 0 -1 4194304 0 0 0 0 150 50 20 30 20 0 3 0 777 9999 12 18446744073709551615";
        let lives =
            Stat { parent: 1, cpu_ticks: 250, cpu_ticks_of_children: 50, started: 777, has_ended: false };
        assert_eq!(Stat::parse(text), Some(lives));
        let ended = text.replace(") S ", ") Z ");
        assert_eq!(Stat::parse(&ended), Some(Stat { has_ended: true, ..lives }));
        assert_eq!(Stat::parse("7 (a) S 1"), None);
        assert_eq!(Stat::read(u32::MAX), None);
    }
}
