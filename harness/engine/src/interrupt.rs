//! The request to end a run, from a signal or from the caller.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGALRM, SIGINT, SIGTERM};

/// The signal that means that the time limit of an attempt is reached.
pub(crate) const TIME_OVER: i32 = SIGALRM;

/// A flag that holds the signal that asks for the end, shared by all threads.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicUsize>);

impl Interrupt {
    /// A flag raised by SIGINT and SIGTERM, which then no longer end the process.
    ///
    /// # Errors
    /// When the handlers cannot be installed.
    pub fn on_signals() -> io::Result<Self> {
        let flag = Self::default();
        for signal in [SIGINT, SIGTERM] {
            let value = usize::try_from(signal).expect("signal numbers are positive");
            signal_hook::flag::register_usize(signal, Arc::clone(&flag.0), value)?;
        }
        Ok(flag)
    }

    /// Asks for the end, as `signal` would.
    pub fn raise(&self, signal: i32) {
        self.0.store(usize::try_from(signal).unwrap_or_default(), Ordering::SeqCst);
    }

    /// The signal that asked for the end, if one did.
    pub fn signal(&self) -> Option<i32> {
        i32::try_from(self.0.load(Ordering::SeqCst)).ok().filter(|signal| *signal != 0)
    }
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
    }
}
