//! The time that a worker had: without times in which this machine stood still.
//!
//! A suspended job, a frozen container or a stopped process takes no time of a solver. This process looks at a worker every few
//! milliseconds. A long time between two looks in which the worker used hardly any processor time either is one in which
//! neither ran. Where this process alone stood still, the time is the worker's.

use std::time::{Duration, Instant};

/// Time between two looks from which on this process is known not to have run.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Most processor time of a worker that did not run, as a share of the time between two looks: it may have been stopped later or
/// continued earlier than this process.
const MOST_USED: f64 = 0.5;

/// The time that a worker had.
#[derive(Debug)]
pub(super) struct RunningTime {
    looked: Instant,
    /// Processor seconds of the worker at a recent look.
    cpu_seconds: f64,
    ran: Duration,
    stood_still: Duration,
}

impl RunningTime {
    /// Begins when a worker starts.
    pub(super) fn since(start: Instant) -> Self {
        Self { looked: start, cpu_seconds: 0.0, ran: Duration::ZERO, stood_still: Duration::ZERO }
    }

    /// Looks at the worker. `cpu_seconds` is asked for its processor time after a long pause alone.
    pub(super) fn look(&mut self, now: Instant, cpu_seconds: impl FnOnce() -> f64) {
        let pause = now.saturating_duration_since(self.looked);
        self.looked = now;
        if pause <= LONGEST_PAUSE {
            self.ran += pause;
            return;
        }
        let used = cpu_seconds() - self.cpu_seconds;
        if used < MOST_USED * pause.as_secs_f64() {
            self.stood_still += pause;
        } else {
            self.ran += pause;
        }
    }

    /// Notes the worker's processor time so far.
    pub(super) fn note_cpu(&mut self, seconds: f64) {
        self.cpu_seconds = seconds;
    }

    /// The time that the worker had until the last look.
    pub(super) fn elapsed(&self) -> Duration {
        self.ran
    }

    /// The time that the worker will have had at a later moment, if it runs until then.
    pub(super) fn elapsed_until(&self, now: Instant) -> Duration {
        self.ran + now.saturating_duration_since(self.looked)
    }

    /// Seconds of all long pauses in which neither this process nor the worker ran; none where there was none.
    pub(super) fn standstill(&self) -> Option<f64> {
        (!self.stood_still.is_zero()).then_some(self.stood_still.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seconds that a worker had, and those in which it stood still, after looks at times with its processor seconds.
    fn after(looks: &[(f64, f64)]) -> (f64, Option<f64>) {
        let start = Instant::now();
        let mut time = RunningTime::since(start);
        for &(seconds, cpu) in looks {
            time.look(start + Duration::from_secs_f64(seconds), || cpu);
            time.note_cpu(cpu);
        }
        (time.elapsed().as_secs_f64(), time.standstill())
    }

    #[test]
    fn short_pauses_are_the_workers() {
        assert_eq!(after(&[(0.25, 0.25), (1.0, 0.25), (2.0, 0.25)]), (2.0, None));
    }

    #[test]
    fn time_in_which_neither_ran_is_not_the_workers() {
        assert_eq!(after(&[(0.5, 0.5), (30.5, 0.75), (31.0, 1.25)]), (1.0, Some(30.0)));
        // One that continued earlier has run for a part of it.
        assert_eq!(after(&[(0.5, 0.5), (10.5, 5.0)]), (0.5, Some(10.0)));
        assert_eq!(after(&[(4.0, 0.0), (4.5, 0.5), (14.5, 0.5)]), (0.5, Some(14.0)));
    }

    #[test]
    fn time_in_which_the_worker_ran_on_is_its_own() {
        assert_eq!(after(&[(0.5, 0.5), (30.5, 30.0)]), (30.5, None));
        // Several threads use more.
        assert_eq!(after(&[(0.5, 2.0), (30.5, 122.0)]), (30.5, None));
    }
}
