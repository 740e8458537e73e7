//! Holders of locks, and errors of locking.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use gpbench_processes::Stat;

use crate::process::{Tagged, host_name, lives, process_tag};

/// A process that holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    process: Tagged,
    /// Start of the process, in ticks of its host's clock; 0 where it is unknown.
    started: u64,
    host: String,
}

impl Holder {
    /// The holder for a process of this host.
    pub(super) fn here(process: u32) -> Self {
        let started = Stat::read(process).map_or(0, |stat| stat.started);
        Self { process: Tagged::Here(process), started, host: host_name() }
    }

    /// The number of the process on its host.
    pub fn process(&self) -> u32 {
        self.process.number()
    }

    /// The name of its host.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Content of a new lock file of this process: the tag, the start and the name of the host, and below them the
    /// number of the lock.
    pub(super) fn own_text() -> String {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let Self { started, host, .. } = Self::here(std::process::id());
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        format!("{} {started} {host}\nlock {count} of this process\n", process_tag())
    }

    /// Parses the content of a lock file; `None` if it has another form.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut words = text.lines().next()?.splitn(3, ' ');
        let process = Tagged::parse(words.next()?)?;
        let started = words.next()?.parse().ok()?;
        Some(Self { process, started, host: words.next()?.to_owned() })
    }

    /// Whether the process is alive; `None` where this host cannot know.
    pub(super) fn lives(&self) -> Option<bool> {
        match self.process {
            Tagged::Elsewhere(_) => None,
            Tagged::Here(number) => {
                // Its number may have been given to another process.
                let is_same = |stat: Stat| self.started == 0 || stat.started == self.started;
                Some(lives(number) && Stat::read(number).is_none_or(is_same))
            }
        }
    }
}

impl Display for Holder {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {}", self.process(), self.host)
    }
}

/// Why a lock cannot be taken, or is lost.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds the lock.
    #[error("it is locked by {}", name(holder.as_ref()))]
    Busy {
        /// Its holder, where known.
        holder: Option<Holder>,
    },
    /// The lock was taken over by another process, because this one had not renewed it for too long.
    #[error("its lock was lost to {}", name(holder.as_ref()))]
    Lost {
        /// The new holder, where known.
        holder: Option<Holder>,
    },
    /// The file system has failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn name(holder: Option<&Holder>) -> String {
    holder.map_or_else(|| "another process".to_owned(), Holder::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holders_are_read_back() {
        let own = Holder::parse(&Holder::own_text()).unwrap();
        assert_eq!(own, Holder::here(std::process::id()));
        assert_eq!(own.lives(), Some(true));
        let reused = Holder { started: own.started + 1, ..own.clone() };
        assert_eq!(reused.lives(), Some(false));
        let unknown = Holder { started: 0, ..own };
        assert_eq!(unknown.lives(), Some(true));
        let other = Holder::parse("h0123456789ab-17 5 node 7\n").unwrap();
        assert_eq!((other.process(), other.host(), other.lives()), (17, "node 7", None));
        assert_eq!(other.to_string(), "process 17 on node 7");
        for text in ["", "17 5 node", "h0123456789ab-17 x node", "h0123456789ab-17 5"] {
            assert_eq!(Holder::parse(text), None, "{text}");
        }
    }
}
