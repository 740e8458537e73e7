//! The interface to the scheduler of a cluster.

use std::fmt;

use crate::limits::{ClusterLimits, ResourceRequest};

/// A scheduler that runs arrays of tasks. One value serves one run.
pub trait Scheduler {
    /// The limits on requests of tasks.
    ///
    /// # Errors
    /// When the scheduler does not answer, or not as expected.
    fn limits(&self) -> Result<ClusterLimits, SchedulerError>;

    /// Tests whether an array would be accepted. Nothing is sent.
    ///
    /// # Errors
    /// When it would be refused, and when the scheduler does not answer.
    fn test(&self, array: &Array) -> Result<(), SchedulerError>;

    /// Sends an array; its job id.
    ///
    /// # Errors
    /// When it is refused. When the scheduler does not answer, the array may have arrived.
    fn submit(&self, array: &Array) -> Result<u64, SchedulerError>;

    /// All tasks of the run that the scheduler still knows, ended ones among them.
    ///
    /// # Errors
    /// When the scheduler does not answer, or not as expected.
    fn poll(&self) -> Result<Vec<JobTask>, SchedulerError>;

    /// Ends tasks; those that have not begun first. Unknown ones and those that have ended are no errors.
    ///
    /// # Errors
    /// When the scheduler does not answer.
    fn cancel(&self, targets: &[CancelTarget]) -> Result<(), SchedulerError>;
}

/// Tasks that are sent together. Their indices are 0 to `count` - 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    /// Distinguishes this array from others of the run.
    pub comment: String,
    /// The number of tasks.
    pub count: u32,
    /// The resources that each task requests.
    pub request: ResourceRequest,
    /// Most tasks that run at a time; absent: as many as the cluster allows.
    pub throttle: Option<u32>,
    /// Nodes on which none of them may run.
    pub excluded: Vec<String>,
    /// The argument of the script, beside the index of the task.
    pub argument: String,
}

/// The tasks to cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CancelTarget {
    /// All tasks of an array.
    Array(u64),
    /// One task, by the array's job id and its index.
    Task(u64, u32),
}

impl fmt::Display for CancelTarget {
    /// The form of Slurm: `12` or `12_3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CancelTarget::Array(job) => write!(f, "{job}"),
            CancelTarget::Task(job, index) => write!(f, "{job}_{index}"),
        }
    }
}

/// A task, as the scheduler reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobTask {
    /// The array's job id.
    pub job: u64,
    /// The task's index in the array.
    pub index: u32,
    /// Its state.
    pub state: TaskState,
    /// Why it waits, or why it ended.
    pub reason: String,
    /// The node; empty for a task that never had one.
    pub node: String,
    /// How its script ended.
    pub exit: Exit,
    /// The array's comment.
    pub comment: String,
}

/// How a script ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exit {
    /// Its exit status.
    pub status: i32,
    /// The signal that ended it; 0 for none.
    pub signal: i32,
}

impl fmt::Display for Exit {
    /// The form of Slurm: `status:signal`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.status, self.signal)
    }
}

/// The state of a task.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TaskState {
    /// It waits.
    Pending,
    /// It runs.
    Running,
    /// It is suspended.
    Suspended,
    /// It has ended, and its node has not reported the end yet. How it ended is unknown.
    Completing,
    /// Its script ended with status 0.
    Completed,
    /// Its script ended with another status, or did not start.
    Failed,
    /// Its time is over.
    TimedOut,
    /// It used too much memory.
    OutOfMemory,
    /// Its node failed.
    NodeFailed,
    /// It was preempted by a more important job.
    Preempted,
    /// The scheduler is about to run it once more.
    Requeued,
    /// Somebody cancelled it.
    Cancelled,
    /// A state of another version; the task may still run.
    Other(String),
}

impl TaskState {
    /// The state with this name in Slurm.
    pub fn parse(text: &str) -> Self {
        match text {
            "PENDING" => TaskState::Pending,
            "RUNNING" | "CONFIGURING" | "RESIZING" | "SIGNALING" | "STAGE_OUT" => TaskState::Running,
            "SUSPENDED" | "STOPPED" => TaskState::Suspended,
            "COMPLETING" => TaskState::Completing,
            "COMPLETED" => TaskState::Completed,
            "FAILED" => TaskState::Failed,
            "TIMEOUT" | "DEADLINE" => TaskState::TimedOut,
            "OUT_OF_MEMORY" => TaskState::OutOfMemory,
            "NODE_FAIL" | "BOOT_FAIL" => TaskState::NodeFailed,
            "PREEMPTED" | "REVOKED" => TaskState::Preempted,
            "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD" | "SPECIAL_EXIT" => TaskState::Requeued,
            "CANCELLED" => TaskState::Cancelled,
            other => TaskState::Other(other.to_owned()),
        }
    }

    /// Whether the task runs no more, as far as the scheduler knows.
    pub fn is_over(&self) -> bool {
        match self {
            TaskState::Pending
            | TaskState::Running
            | TaskState::Suspended
            | TaskState::Requeued
            | TaskState::Other(_) => false,
            TaskState::Completing
            | TaskState::Completed
            | TaskState::Failed
            | TaskState::TimedOut
            | TaskState::OutOfMemory
            | TaskState::NodeFailed
            | TaskState::Preempted
            | TaskState::Cancelled => true,
        }
    }
}

impl fmt::Display for TaskState {
    /// The name in Slurm of the most frequent state of the kind.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TaskState::Pending => "PENDING",
            TaskState::Running => "RUNNING",
            TaskState::Suspended => "SUSPENDED",
            TaskState::Completing => "COMPLETING",
            TaskState::Completed => "COMPLETED",
            TaskState::Failed => "FAILED",
            TaskState::TimedOut => "TIMEOUT",
            TaskState::OutOfMemory => "OUT_OF_MEMORY",
            TaskState::NodeFailed => "NODE_FAIL",
            TaskState::Preempted => "PREEMPTED",
            TaskState::Requeued => "REQUEUED",
            TaskState::Cancelled => "CANCELLED",
            TaskState::Other(text) => text,
        })
    }
}

/// A failure of the scheduler.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{command}` {said}")]
pub struct SchedulerError {
    /// The command and its arguments.
    pub command: String,
    /// Its exit status and the last lines of its standard error, or why it gave no answer.
    pub said: String,
    /// The kind of failure.
    pub kind: Trouble,
}

/// The kind of a failure of the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The scheduler does not answer or is busy; the same may succeed later. The request may have been executed.
    Passing,
    /// The user has as many tasks in the queue as are allowed.
    Full,
    /// It will not succeed.
    Lasting,
}

impl SchedulerError {
    /// Whether the same may succeed later.
    pub fn may_pass(&self) -> bool {
        self.kind != Trouble::Lasting
    }
}
