//! The time between two checks of a worker's memory.

use std::time::Duration;

/// Time between two checks where a worker cannot reach its limit in between.
pub(super) const TICK: Duration = Duration::from_millis(20);

/// The shortest time between two checks.
const SHORTEST: Duration = Duration::from_micros(500);

/// Bytes a second that a few threads fill at most: twice what was measured.
const FILL_RATE: f64 = 16e9;

/// Least ratio of the time between two checks to the time that a check takes, so that checks use little processor time.
const SHARE: u32 = 20;

/// The time to the next check of a worker that may use `left` more bytes, where the last check took `cost`.
pub(super) fn pause(left: u64, cost: Duration) -> Duration {
    let filled = Duration::from_secs_f64(left as f64 / FILL_RATE);
    filled.max(SHORTEST).max(SHARE * cost).min(TICK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_near_its_limit_is_looked_at_more_often() {
        let free = Duration::ZERO;
        assert_eq!(pause(u64::MAX, free), TICK);
        assert_eq!(pause(160 << 20, free), Duration::from_secs_f64((160 << 20) as f64 / FILL_RATE));
        assert_eq!(pause(0, free), SHORTEST);
        assert_eq!(pause(0, Duration::from_micros(200)), Duration::from_millis(4));
        assert_eq!(pause(0, Duration::from_secs(1)), TICK);
    }

    #[test]
    fn what_is_filled_between_two_looks_is_a_small_part_of_a_limit() {
        let limit: u64 = 300 << 20;
        let mut used = 40 << 20;
        while used <= limit {
            used += (pause(limit - used, Duration::ZERO).as_secs_f64() * FILL_RATE) as u64 + 1;
        }
        assert!(used < limit + limit / 10, "{used}");
    }
}
