//! Time of a plugin that is left uncounted: of calls that only hand something over, such as a requested iterate, a
//! model or a saved state.

use gpbench_terms::Clock;

/// Seconds that a plugin may spend uncounted, even in a very short case. Copying takes far less.
const FREE_SECONDS: f64 = 0.05;

/// Further uncounted time, as a share of the counted time.
const FREE_SHARE: f64 = 0.05;

/// Counted and uncounted seconds of a case so far. The uncounted ones are limited to a small share of the counted ones,
/// so that a plugin gains nothing by working while the clock is paused.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Allowance {
    /// Seconds on the clock.
    pub(crate) counted: f64,
    /// Seconds that were left uncounted.
    pub(crate) uncounted: f64,
}

impl Allowance {
    /// Seconds that were left uncounted.
    pub fn uncounted(&self) -> f64 {
        self.uncounted
    }

    /// Takes the time of a call while the clock was paused, and returns the part of it that counts.
    ///
    /// No more processor seconds are free than wall-clock seconds: a call that waits for the end of a child process has all of
    /// the child's.
    pub fn take(&mut self, spent: Clock) -> Clock {
        let left = FREE_SECONDS + FREE_SHARE * self.counted - self.uncounted;
        let free = left.clamp(0.0, spent.wall.max(0.0));
        let counted = Clock { wall: (spent.wall - free).max(0.0), cpu: (spent.cpu - free).max(0.0) };
        self.uncounted += free;
        self.counted += counted.wall;
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_share_one_allowance() {
        let clock = |wall: f64| Clock { wall, cpu: wall };
        let about =
            |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}, {expected}");
        let mut allowance = Allowance::default();
        assert_eq!(allowance.take(clock(0.04)), Clock::default());
        let counted = allowance.take(clock(2.0));
        about(counted.wall, 1.99);
        about(counted.cpu, 1.99);
        about(allowance.uncounted(), 0.05);
        // A twentieth of what has been counted is free, once.
        about(allowance.take(clock(1.0)).wall, 1.0 - 0.05 * 1.99);
        assert!(allowance.take(clock(1.0)).wall > 0.94);
        assert!(allowance.uncounted() <= 0.05 + 0.05 * allowance.counted);
    }

    #[test]
    fn processor_time_of_a_child_that_ends_meanwhile_counts() {
        let counted = Allowance::default().take(Clock { wall: 0.02, cpu: 0.31 });
        assert!(counted.wall == 0.0 && (counted.cpu - 0.29).abs() < 1e-12, "{counted:?}");
    }
}
