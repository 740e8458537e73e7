//! Names of processes that are unique among all hosts that share a file system.
//!
//! The number of a process is unique only on its host, and there only within one namespace of process numbers. A tag
//! consists of a token for host and namespace, and the number. Two processes have the same token if and only if each
//! can find out whether the other is alive.

use std::fs;
use std::sync::OnceLock;

use gpbench_processes::Stat;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use sha2::{Digest as _, Sha256};

/// Hexadecimal digits of a host's token.
const DIGITS: usize = 12;
/// First character of a host's token, which distinguishes it from a number.
const BEGIN: char = 'h';

/// The tag of this process, a word of letters, digits and one hyphen: `<token of the host>-<number>`.
///
/// The token stands for one start of the operating system (its boot id), the namespace of process numbers, and the
/// name of the host, which tells copies of a virtual machine apart. Files that only one process writes have its tag
/// in their names; [`remove_stale`](crate::remove_stale) and [`may_be_in_use`](crate::may_be_in_use) find it there.
pub fn process_tag() -> String {
    format!("{}-{}", host_token(), std::process::id())
}

fn host_token() -> &'static str {
    static TOKEN: OnceLock<String> = OnceLock::new();
    TOKEN.get_or_init(|| {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let digest = Sha256::digest(format!("{boot}\n{}\n{}", namespace.display(), host_name()));
        let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{BEGIN}{}", &digits[..DIGITS])
    })
}

/// The name of this host.
pub fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// A process that a tag names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tagged {
    /// A process of this host and namespace, with its number.
    Here(u32),
    /// A process of another host or of another namespace of process numbers, with its number there.
    Elsewhere(u32),
}

impl Tagged {
    /// Parses a tag; `None` if the word is something else.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        let (host, number) = word.split_once('-')?;
        let digits = host.strip_prefix(BEGIN)?;
        let is_token = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = parse_number(number).filter(|_| is_token)?;
        Some(if host == host_token() { Tagged::Here(number) } else { Tagged::Elsewhere(number) })
    }

    /// The number of the process on its host.
    pub(crate) fn number(self) -> u32 {
        match self {
            Tagged::Here(number) | Tagged::Elsewhere(number) => number,
        }
    }
}

/// Parses the number of a process; `None` if the word has characters other than digits.
pub(crate) fn parse_number(word: &str) -> Option<u32> {
    word.parse().ok().filter(|_| word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a process of this host is alive.
pub(crate) fn lives(number: u32) -> bool {
    let Some(process) = i32::try_from(number).ok().and_then(Pid::from_raw) else { return false };
    // Processes of other users can be hidden in `/proc`, but not from signals.
    test_kill_process(process) != Err(Errno::SRCH) && !Stat::read(number).is_some_and(|stat| stat.has_ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_names_a_process_here_or_elsewhere() {
        let own = std::process::id();
        assert_eq!(process_tag(), process_tag());
        assert_eq!(Tagged::parse(&process_tag()), Some(Tagged::Here(own)));
        assert_eq!(Tagged::parse("h0123456789ab-17"), Some(Tagged::Elsewhere(17)));
        for word in ["17", "h0123456789ab", "h0123456789ab-", "h0123456789ab-+1", "h01-1", "H0123456789ab-1"]
        {
            assert_eq!(Tagged::parse(word), None, "{word}");
        }
    }

    #[test]
    fn this_process_lives_and_an_ended_one_does_not() {
        assert!(lives(std::process::id()) && lives(1));
        assert!(!lives(u32::MAX) && !lives(0));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let number = child.id();
        child.wait().unwrap();
        assert!(!lives(number));
    }
}
