//! The request to end a run, from a signal or from the caller.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGXFSZ};

/// The signal number that stands for the time limit of an attempt.
pub(crate) const TIME_OVER: i32 = SIGALRM;
/// Signals that keys of the terminal send to every process in its foreground.
const KEYS: [i32; 2] = [SIGINT, SIGQUIT];

/// A flag that holds the signal that asks for the end, shared by all threads.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicUsize>);

impl Interrupt {
    /// A flag raised by SIGINT, SIGTERM, SIGUSR1 (schedulers of clusters announce the end of a job by it), SIGHUP and SIGQUIT,
    /// which then no longer end the process. The last two stay ignored where they were, as under `nohup`. SIGXFSZ no longer ends
    /// the process either, so that a limit on the size of files gives an error.
    ///
    /// # Errors
    /// When the handlers cannot be installed.
    pub fn on_signals() -> io::Result<Self> {
        let flag = Self::default();
        let ignored = ignored_signals();
        let is_asked_for = |signal: &i32| ignored & (1 << (signal - 1)) == 0;
        let unless_ignored = [SIGHUP, SIGQUIT].into_iter().filter(is_asked_for);
        for signal in [SIGINT, SIGTERM, SIGUSR1].into_iter().chain(unless_ignored) {
            let value = usize::try_from(signal).expect("signal numbers are positive");
            signal_hook::flag::register_usize(signal, Arc::clone(&flag.0), value)?;
        }
        signal_hook::flag::register(SIGXFSZ, Arc::default())?;
        Ok(flag)
    }

    /// Asks for the end, as `signal` would.
    pub fn raise(&self, signal: i32) {
        self.0.store(usize::try_from(signal).unwrap_or_default(), Ordering::SeqCst);
    }

    /// Takes back a request by a key of the terminal (SIGINT or SIGQUIT), which a program in the foreground has answered.
    pub(crate) fn forget_key(&self) {
        let is_key = self.signal().is_some_and(|signal| KEYS.contains(&signal));
        if is_key {
            self.0.store(0, Ordering::SeqCst);
        }
    }

    /// Whether anything but a key of the terminal asked for the end.
    pub(crate) fn is_more_than_key(&self) -> bool {
        self.signal().is_some_and(|signal| !KEYS.contains(&signal))
    }

    /// The signal that asked for the end, if one did.
    pub fn signal(&self) -> Option<i32> {
        i32::try_from(self.0.load(Ordering::SeqCst)).ok().filter(|signal| *signal != 0)
    }
}

/// The signals that this process ignores: bit n - 1 is that of signal n.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_raises_the_flag_and_not_the_end() {
        let interrupt = Interrupt::on_signals().unwrap();
        assert_eq!(interrupt.signal(), None);
        signal_hook::low_level::raise(SIGTERM).unwrap();
        assert_eq!(interrupt.clone().signal(), Some(15));
        for signal in [SIGHUP, SIGQUIT, SIGINT] {
            signal_hook::low_level::raise(signal).unwrap();
            assert_eq!(interrupt.signal(), Some(signal));
        }
    }

    #[test]
    fn keys_are_forgotten_and_other_requests_are_not() {
        let interrupt = Interrupt::default();
        for (signal, left) in [(SIGINT, None), (SIGQUIT, None), (SIGTERM, Some(SIGTERM))] {
            interrupt.raise(signal);
            assert_eq!(interrupt.is_more_than_key(), left.is_some());
            interrupt.forget_key();
            assert_eq!(interrupt.signal(), left);
        }
    }
}
