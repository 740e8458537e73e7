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
    pub fn take(&mut self, spent: Clock) -> Clock {
        let left = FREE_SECONDS + FREE_SHARE * self.counted - self.uncounted;
        let free = left.clamp(0.0, spent.wall.max(0.0));
        self.uncounted += free;
        let wall = spent.wall - free;
        if wall > 0.0 {
            self.counted += wall;
            return Clock { wall, cpu: spent.cpu * wall / spent.wall };
        }
        Clock::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{Account, SolveLimits};
    use crate::services::testing::{TIME, TestClock};

    fn account() -> Account {
        let limits = SolveLimits { tolerance: None, max_epochs: None, seconds: None, threads: 1, seed: 1 };
        Account::new(10, limits, &TestClock(4.0))
    }

    #[test]
    fn calls_beside_the_work_share_one_allowance_over_all_sessions() {
        let first = account();
        let work = |seconds: f64| move || TIME.set(TIME.get() + seconds);
        first.aside(work(0.04));
        assert_eq!((first.clock().wall, first.is_running()), (0.0, false));
        first.aside(work(2.0));
        assert!((first.clock().wall - 1.99).abs() < 1e-9, "{:?}", first.clock());
        assert!((first.clock().cpu - 4.0 * 1.99).abs() < 1e-9, "{:?}", first.clock());
        let second = account();
        second.continue_allowance(first.allowance());
        second.aside(work(1.0));
        let free = 0.05 * 1.99;
        assert!((second.clock().wall - (1.0 - free)).abs() < 1e-9, "{:?}", second.clock());
        assert!((second.allowance().uncounted() - 0.05 - free).abs() < 1e-9);
    }
}
