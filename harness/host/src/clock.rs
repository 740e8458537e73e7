//! A stopwatch on two clocks, wall and processor, that can be paused.

use gpbench_terms::Clock;

use crate::services::Services;

/// Stopwatch that adds up the time between resuming and pausing.
pub(crate) struct Stopwatch {
    services: &'static dyn Services,
    spent: Clock,
    running_since: Option<Clock>,
    paused_at: Option<Clock>,
}

impl Stopwatch {
    /// A paused stopwatch at zero that reads the time of these services.
    pub(crate) fn new(services: &'static dyn Services) -> Stopwatch {
        Stopwatch { services, spent: Clock::default(), running_since: None, paused_at: None }
    }

    /// The time of the services.
    pub(crate) fn now(&self) -> Clock {
        self.services.now()
    }

    /// Starts the stopwatch; does nothing if it runs.
    pub(crate) fn resume(&mut self) {
        if self.running_since.is_none() {
            self.running_since = Some(self.services.now());
        }
    }

    /// Pauses the stopwatch; does nothing if it is paused.
    pub(crate) fn pause(&mut self) {
        if let Some(since) = self.running_since.take() {
            let now = self.services.now();
            self.spent = sum(self.spent, difference(now, since));
            self.paused_at = Some(now);
        }
    }

    /// Starts the stopwatch as if it had not been paused before.
    pub(crate) fn resume_without_pause(&mut self) {
        self.running_since = self.running_since.or(self.paused_at);
    }

    /// The time since the stopwatch was paused; zero while it runs.
    pub(crate) fn stopped_for(&self) -> Clock {
        match (self.running_since, self.paused_at) {
            (None, Some(since)) => difference(self.services.now(), since),
            _ => Clock::default(),
        }
    }

    /// Adds time that passed while the stopwatch was paused.
    pub(crate) fn add(&mut self, time: Clock) {
        self.spent = sum(self.spent, time);
    }

    /// Whether the stopwatch runs.
    pub(crate) fn is_running(&self) -> bool {
        self.running_since.is_some()
    }

    /// The time so far, without pauses.
    pub(crate) fn read(&self) -> Clock {
        match self.running_since {
            None => self.spent,
            Some(since) => sum(self.spent, difference(self.services.now(), since)),
        }
    }
}

fn sum(a: Clock, b: Clock) -> Clock {
    Clock { wall: a.wall + b.wall, cpu: a.cpu + b.cpu }
}

/// The time between two readings.
pub fn difference(later: Clock, earlier: Clock) -> Clock {
    Clock { wall: later.wall - earlier.wall, cpu: later.cpu - earlier.cpu }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::testing::{TIME, TestClock};

    #[test]
    fn pauses_do_not_count() {
        let mut watch = Stopwatch::new(&TestClock(2.0));
        assert_eq!(watch.read(), Clock::default());
        watch.resume();
        TIME.set(3.0);
        assert_eq!(watch.read(), Clock { wall: 3.0, cpu: 6.0 });
        watch.pause();
        TIME.set(10.0);
        assert_eq!(watch.read(), Clock { wall: 3.0, cpu: 6.0 });
        watch.pause();
        watch.resume();
        TIME.set(11.0);
        watch.resume();
        TIME.set(12.0);
        assert_eq!(watch.read(), Clock { wall: 5.0, cpu: 10.0 });
        assert_eq!(watch.stopped_for(), Clock::default());
        watch.pause();
        TIME.set(20.0);
        assert_eq!(watch.stopped_for(), Clock { wall: 8.0, cpu: 16.0 });
        watch.add(Clock { wall: 0.5, cpu: 1.0 });
        watch.resume_without_pause();
        assert_eq!(watch.read(), Clock { wall: 13.5, cpu: 27.0 });
    }
}
