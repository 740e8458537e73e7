//! The time of the job, and the time that a case may take.

use std::time::{Duration, Instant};

use gpbench_cluster::WARNING_SECONDS;
use gpbench_engine::Planned;
use gpbench_record::NodeOptions;

/// Seconds beside those of the solver: loading, exact reference, verification.
const SECONDS_BESIDE: f64 = 60.0;
/// Factor by which a case may take longer than estimated.
const SECONDS_FACTOR: f64 = 2.0;

/// The time of a job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JobTime {
    /// When the scheduler announces the end of the job's time; none where that is not known.
    over: Option<Instant>,
}

impl JobTime {
    /// The time of a job of this number of seconds, which had run for `elapsed` at `now`.
    pub(crate) fn new(seconds: Option<u64>, elapsed: Duration, now: Instant) -> Self {
        let left = |seconds: u64| {
            Duration::from_secs(seconds.saturating_sub(WARNING_SECONDS)).saturating_sub(elapsed)
        };
        Self { over: seconds.and_then(|seconds| now.checked_add(left(seconds))) }
    }

    /// Whether a case of at most so many seconds can end in time if it starts at `now`.
    pub(crate) fn is_enough(self, bound: Option<f64>, now: Instant) -> bool {
        let (Some(over), Some(bound)) = (self.over, bound) else { return true };
        bound <= over.saturating_duration_since(now).as_secs_f64()
    }
}

/// The seconds that a case may take, where anything bounds them: the estimate by which its task asks for time, its budget, or
/// the time after which it is killed, whichever is least.
pub(crate) fn bound(planned: Planned<'_>, options: &NodeOptions) -> Option<f64> {
    let estimated = planned.files.seconds_estimate.map(|seconds| SECONDS_FACTOR * seconds);
    let allowed = planned.case.budget.seconds.or(options.kill_after_seconds);
    let least = estimated.into_iter().chain(allowed).min_by(f64::total_cmp);
    least.filter(|_| planned.skip.is_none()).map(|seconds| seconds + SECONDS_BESIDE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_starts_if_it_can_end_before_the_job_is_told() {
        let now = Instant::now();
        let at = |seconds| now + Duration::from_secs(seconds);
        let time = JobTime::new(Some(600), Duration::from_secs(30), now);
        // 120 of 600 s are the scheduler's, and 30 s were over.
        assert!(time.is_enough(Some(450.0), now) && !time.is_enough(Some(451.0), now));
        assert!(time.is_enough(Some(50.0), at(400)) && !time.is_enough(Some(50.1), at(400)));
        assert!(!time.is_enough(Some(1.0), at(10_000)));
        assert!(time.is_enough(None, at(10_000)), "nothing is known of the case");
        assert!(JobTime::new(None, Duration::ZERO, now).is_enough(Some(1e9), now));
        assert!(!JobTime::new(Some(60), Duration::from_secs(3600), now).is_enough(Some(60.0), now));
    }
}
