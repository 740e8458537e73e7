//! Intervals and thresholds of the front's decisions.

use gpbench_record::{Intervals, Site};

/// Intervals and thresholds of the front's decisions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Policy {
    /// Seconds between two polls of the scheduler while something changes.
    pub poll_seconds: f64,
    /// Seconds between two polls of the scheduler after nothing has changed for long.
    pub longest_poll_seconds: f64,
    /// Seconds between the two answers of the scheduler that show an attempt as ended or unknown.
    pub confirm_seconds: f64,
    /// Seconds without news from a runner after which its heartbeat counts as silent.
    pub silent_seconds: f64,
    /// Seconds without news after which a task that the scheduler calls running is cancelled.
    pub stuck_seconds: f64,
    /// Seconds of an attempt below which its failure counts against the node.
    pub quick_seconds: f64,
    /// Tasks that have to fail so quickly on a node before no task goes there.
    pub node_failures: usize,
    /// Kills during a case after which the case counts as crashed.
    pub kills: u32,
    /// Failures of machines after which a task is not sent again.
    pub retries: u32,
    /// Seconds by which a case may have begun late, or may have been told early, and has had all of its time.
    pub slack_seconds: f64,
    /// Seconds to wait where not even one more task fits into the queue.
    pub full_seconds: f64,
    /// Most tasks that run at a time; absent: as many as the cluster allows.
    pub throttle: Option<u32>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            poll_seconds: 15.0,
            longest_poll_seconds: 120.0,
            confirm_seconds: 60.0,
            silent_seconds: 90.0,
            stuck_seconds: 600.0,
            quick_seconds: 60.0,
            node_failures: 3,
            kills: 3,
            retries: 3,
            slack_seconds: 300.0,
            full_seconds: 60.0,
            throttle: None,
        }
    }
}

impl Policy {
    /// The defaults, with the settings of a site.
    pub fn of(site: &Site) -> Self {
        let Intervals { poll, longest_poll, confirm, silent, stuck, beat: _, answer: _ } = site.intervals;
        Self {
            poll_seconds: poll,
            longest_poll_seconds: longest_poll,
            confirm_seconds: confirm,
            silent_seconds: silent,
            stuck_seconds: stuck,
            retries: site.tasks.retries,
            throttle: site.tasks.throttle,
            ..Self::default()
        }
    }
}
