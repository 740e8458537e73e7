//! The time of day, for names of folders and for rows.

use jiff::Timestamp;

/// A source of the time of day.
pub trait WallClock: Sync {
    /// The time in UTC.
    fn now(&self) -> Timestamp;
}

/// The system clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl WallClock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}
