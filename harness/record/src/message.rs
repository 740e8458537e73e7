//! What a worker answers: JSON lines on its standard output.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Curve, Metrics, Status, Step, StopReason, TaskOutput, TracePoint};

/// One line of a worker's standard output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Message {
    /// A point along a solve.
    Trace(TracePoint),
    /// An outer step of training ended.
    Step(Step),
    /// `case` is about to open the plugin's library: from here on code of the plugin may run in the worker, and what
    /// the worker reports and how it ends may be the plugin's doing.
    Loading,
    /// `case` ended; the solution is on disk.
    Solved(Solved),
    /// `verify` ended.
    Verified(Verified),
    /// `exact` ended; the reference is on disk.
    Exact(ExactSummary),
    /// The case failed.
    Failed(Failure),
    /// The machine or a file kept the worker from doing what it was asked. The case has no result.
    Fault(Fault),
}

/// Wall-clock and processor seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Clock {
    /// Wall-clock seconds.
    pub wall: f64,
    /// Processor seconds of all threads.
    pub cpu: f64,
}

impl Clock {
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Clock) -> Clock {
        Clock { wall: self.wall + other.wall, cpu: self.cpu + other.cpu }
    }
}

/// Kernel entries, counted by the operator.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Entries {
    /// Entries used, whether evaluated or cached; n^2 of them are one epoch.
    pub used: f64,
    /// Entries evaluated.
    pub evaluated: f64,
    /// Entries that were found in memory, and would have been evaluated otherwise.
    #[serde(default)]
    pub found: f64,
    /// The part of `used` that fell into prepare.
    pub setup: f64,
    /// The part of `used` that the plugin reported by itself.
    pub self_reported: f64,
}

impl Entries {
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Entries) -> Entries {
        Entries {
            used: self.used + other.used,
            evaluated: self.evaluated + other.evaluated,
            found: self.found + other.found,
            setup: self.setup + other.setup,
            self_reported: self.self_reported + other.self_reported,
        }
    }
}

/// What `case` measured. Of a training case, times, entries and iterations are sums over the steps,
/// and the rest is of the systems solved for the final prediction; of estimates of the likelihood, they are sums
/// over the repetitions. Of a learner, setup is its beginning, iterations are its steps, and entries are those that it
/// reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Solved {
    /// Training rows.
    pub n: usize,
    /// Inputs.
    pub d: usize,
    /// Why the solver stopped.
    pub reason: StopReason,
    /// Iterations, as the solver counts them.
    pub iterations: u64,
    /// Relative residual norms the solver claims, one a right-hand side; empty if it claims none.
    pub claimed: Vec<f64>,
    /// Setup time.
    pub prepare: Clock,
    /// Solve time.
    pub solve: Clock,
    /// Kernel entries.
    pub entries: Entries,
    /// Peak resident memory of the process.
    pub peak_memory_bytes: u64,
    /// Peak resident memory before the solver was loaded: data and right-hand sides.
    pub base_memory_bytes: u64,
    /// Bytes of kernel entries that were cached between products.
    #[serde(default)]
    pub cached_bytes: u64,
    /// Seconds that starting the process, reading the data and loading the plugin took.
    pub startup_seconds: f64,
    /// Seconds that building the system took: kernel, right-hand sides and exact reference; about 0 for a
    /// task that builds a new system in each of its steps and times that there.
    #[serde(default)]
    pub build_seconds: f64,
    /// Named numbers from the solver's report.
    pub values: BTreeMap<String, f64>,
    /// Further metrics of the task.
    #[serde(default)]
    pub metrics: Metrics,
    /// Further results of the task; outer steps and looks are not among them, since each was sent as a message.
    pub output: TaskOutput,
}

/// What `verify` computed from the solution, without the plugin.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Verified {
    /// Residuals, predictions and distances to the exact answer.
    pub metrics: Metrics,
    /// Predictions along the input, where there is one input only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<Box<Curve>>,
    /// The best value after each step of a random search, of a case that searches for one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub random_search: Vec<f64>,
}

/// What `exact` computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExactSummary {
    /// Exact log marginal likelihood, test RMSE and test negative log-likelihood.
    pub metrics: Metrics,
}

/// A failure of a case that the worker itself reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// How the case counts.
    pub status: Status,
    /// One sentence: what failed and why.
    pub reason: String,
}

/// A fault of the machine, of a file or of the harness, which says nothing about the solver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What is at fault.
    pub cause: FaultCause,
    /// One sentence: what failed and why.
    pub reason: String,
    /// Whether code of the plugin had run in the case before, so that the plugin may have caused the fault, or may
    /// even have written this message.
    pub plugin_ran: bool,
}

/// What a fault lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultCause {
    /// The binary copy of the data set is missing or damaged.
    Dataset,
    /// The exact reference is missing or damaged.
    Reference,
    /// The checkpoint of a case that trains or learns is damaged.
    Checkpoint,
    /// The file of the solution is missing or damaged.
    Solution,
    /// The plugin's library is missing, or is not the one that was planned.
    Plugin,
    /// The worker program is missing, is not the one that was planned, or ended without an answer.
    Worker,
    /// A file could not be written.
    Storage,
    /// The system refused a process, a thread, a descriptor or memory.
    Resources,
}

impl FaultCause {
    /// Every cause.
    pub const ALL: [FaultCause; 8] = [
        FaultCause::Dataset,
        FaultCause::Reference,
        FaultCause::Checkpoint,
        FaultCause::Solution,
        FaultCause::Plugin,
        FaultCause::Worker,
        FaultCause::Storage,
        FaultCause::Resources,
    ];
}
