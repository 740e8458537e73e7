//! Settings of a site with a cluster.

use gpbench_terms::words;
use serde::{Deserialize, Serialize};

/// Settings of jobs at a site. All of them are optional.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Site {
    /// The partition; if absent, the default one.
    pub partition: Option<String>,
    /// The account that is charged.
    pub account: Option<String>,
    /// The quality of service.
    pub qos: Option<String>,
    /// Features that nodes must have.
    pub constraint: Option<String>,
    /// Further options of `sbatch`.
    pub extra: Vec<String>,
    /// The resources that each task requests.
    pub ask: ResourceSettings,
    /// How cases become tasks.
    pub tasks: TaskSettings,
    /// Settings of the nodes.
    pub nodes: NodeSettings,
    /// Intervals of the front's polls and of the runners' heartbeats.
    pub intervals: Intervals,
}

/// Intervals in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Intervals {
    /// Interval between two polls while something changes.
    pub poll: f64,
    /// Interval between two polls after a long time without changes.
    pub longest_poll: f64,
    /// Interval between the two answers that show an attempt as ended or unknown.
    pub confirm: f64,
    /// Interval between two heartbeats of a runner.
    pub beat: f64,
    /// Time without a heartbeat after which a runner counts as silent.
    pub silent: f64,
    /// Time without a heartbeat after which a task that the scheduler reports as running is cancelled.
    pub stuck: f64,
    /// Time limit for the answer of a short job that reports the numerics of a node.
    pub answer: f64,
}

impl Default for Intervals {
    fn default() -> Self {
        Self {
            poll: 15.0,
            longest_poll: 120.0,
            confirm: 60.0,
            beat: 30.0,
            silent: 90.0,
            stuck: 600.0,
            answer: 1800.0,
        }
    }
}

/// The resources that each task requests; absent ones follow from the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceSettings {
    /// Wall-clock seconds.
    pub seconds: Option<u64>,
    /// Bytes of memory.
    pub memory_bytes: Option<u64>,
    /// Threads.
    pub threads: Option<u32>,
    /// Whether no other job may run on the node.
    pub exclusive: bool,
}

impl Default for ResourceSettings {
    fn default() -> Self {
        Self { seconds: None, memory_bytes: None, threads: None, exclusive: true }
    }
}

words! {
    /// Which cases share a task.
    #[derive(Default)]
    pub enum TaskUnit {
        /// All cases of a data set, kernel, estimator and seed, so that their times can be compared.
        #[default]
        Block = "block",
        /// Each case is a task; times are not compared.
        Case = "case",
    }
}

/// How cases become tasks, and how often a task is tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskSettings {
    /// Which cases share a task.
    pub by: TaskUnit,
    /// Seconds up to which short blocks share a task; if absent, each block is a task.
    pub pack_seconds: Option<u64>,
    /// Largest number of tasks that run at a time; if absent, the cluster decides.
    pub throttle: Option<u32>,
    /// Number of times that a task is sent again after failures of machines.
    pub retries: u32,
}

impl Default for TaskSettings {
    fn default() -> Self {
        Self { by: TaskUnit::Block, pack_seconds: None, throttle: None, retries: 3 }
    }
}

/// Settings of the nodes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeSettings {
    /// Shell lines that run before each task.
    pub setup: Vec<String>,
    /// Their instruction set; if absent, a short job reports it.
    pub instruction_set: Option<String>,
    /// Their OpenBLAS core type; if absent, a short job reports it.
    pub blas_core: Option<String>,
}
