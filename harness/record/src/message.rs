//! The output of a worker: JSON lines on its standard output.

use std::collections::BTreeMap;

use gpbench_terms::words;
use serde::{Deserialize, Serialize};

use crate::{
    CalibrationShares, CaseStatus, Clock, Curve, Entries, FileUnits, Hyperparameters, Metrics, Optimum,
    Predictions, SolutionOutput, Step, StopReason, TaskOutput, TracePoint,
};

/// One line of a worker's standard output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Message {
    /// A point along a solve.
    Trace(TracePoint),
    /// An outer step of training ended.
    Step(Step),
    /// `case` is about to open the plugin's library. From here on the plugin's code may run in the worker, and may
    /// affect what the worker reports and how it ends.
    Loading,
    /// `case` ended; the solution is on disk.
    Solved(Solved),
    /// `verify` ended.
    Verified(Verified),
    /// `exact` ended; the reference is on disk.
    Exact(ExactSummary),
    /// `optimum` ended; the optimum is on disk.
    Optimum(Optimum),
    /// The case failed.
    Failed(Failure),
    /// A fault of the machine or of a file prevented the work. The case has no result.
    Fault(Fault),
}

/// Measurements of `case`.
///
/// In a training case, times, entries and iterations are sums over the steps, and all else refers to the systems
/// solved for the final prediction. In estimates of the likelihood, they are sums over the repetitions. For a
/// learner, setup is its `begin`, iterations are its steps, and entries are those that it reports.
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
    /// Relative residual norms that the solver claims, one per right-hand side; empty if it claims none.
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
    /// Seconds of starting the process, reading the data and loading the plugin.
    pub startup_seconds: f64,
    /// Seconds of building the system: kernel, right-hand sides and exact reference. About 0 for a task that builds a
    /// system in each of its steps and includes that in their times.
    #[serde(default)]
    pub build_seconds: f64,
    /// Named numbers from the solver's report.
    pub values: BTreeMap<String, f64>,
    /// Further metrics of the task.
    #[serde(default)]
    pub metrics: Metrics,
    /// Files that the library has used although they are not among its planned parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unplanned_parts: Vec<String>,
    /// The hyperparameters that the case began with, where they were found in the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Hyperparameters>,
    /// Further results of the task. Outer steps and evaluations are not among them, since each was sent as a message.
    pub output: TaskOutput,
}

/// Results that `verify` computed from the solution, without the plugin.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Verified {
    /// Residuals, predictions and distances to the exact answer.
    pub metrics: Metrics,
    /// Predictions along the input, where there is one input only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<Box<Curve>>,
    /// The calibration of the predictions, for charts; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Box<CalibrationShares>>,
    /// What the columns of the user's own file were scaled by; absent for other data sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<Box<FileUnits>>,
    /// Predictions on the test rows, where they are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predictions: Option<Box<Predictions>>,
    /// The best value after each step of a random search; empty for tasks without a search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub random_search: Vec<f64>,
    /// What the solution says of further results of the task. Rows have these from the solver's process; a kept
    /// solution is compared with them.
    #[serde(default, skip_serializing_if = "SolutionOutput::is_empty")]
    pub output: SolutionOutput,
    /// The first column of the solution with a number that is not finite: 0 is that of y, others are of probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bad_column: Option<usize>,
}

/// Results of `exact`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExactSummary {
    /// Exact log marginal likelihood, test RMSE and test negative log-likelihood.
    pub metrics: Metrics,
}

/// A failure of a case that the worker itself reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Status of the case.
    pub status: CaseStatus,
    /// One sentence: what failed and why.
    pub reason: String,
}

/// A fault of the machine, of a file or of the harness, which says nothing about the solver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Cause of the fault.
    pub cause: FaultCause,
    /// One sentence: what failed and why.
    pub reason: String,
    /// Whether code of the plugin had run before the fault. The plugin may then have caused it, or may have written
    /// this message.
    pub plugin_ran: bool,
}

words! {
    /// Cause of a fault.
    pub enum FaultCause {
        /// The binary copy of the data set is missing or damaged.
        Dataset = "dataset",
        /// The exact reference is missing or damaged.
        Reference = "reference",
        /// The checkpoint of a case that trains or learns is damaged.
        Checkpoint = "checkpoint",
        /// The file of the solution is missing or damaged.
        Solution = "solution",
        /// The plugin's library is missing, or is not the one that was planned.
        Plugin = "plugin",
        /// The worker program is missing, is not the one that was planned, or ended without an answer.
        Worker = "worker",
        /// A file could not be written.
        Storage = "storage",
        /// The system refused a process, a thread, a descriptor or memory.
        Resources = "resources",
        /// The machine stood still while the case was solved, as where it was suspended.
        Standstill = "standstill",
    }
}
