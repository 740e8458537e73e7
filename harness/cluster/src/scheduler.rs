//! What a run asks of the scheduler of a cluster.

use std::fmt;

use gpbench_record::ClusterTask;

/// A scheduler that runs arrays of tasks. One value serves one run.
pub trait Scheduler {
    /// What tasks may ask for.
    ///
    /// # Errors
    /// When the scheduler does not answer, or not as expected.
    fn limits(&self) -> Result<Limits, SchedulerError>;

    /// Asks whether an array would be accepted. Nothing is sent.
    ///
    /// # Errors
    /// When it would be refused, and when the scheduler does not answer.
    fn test(&self, array: &Array) -> Result<(), SchedulerError>;

    /// Sends an array. Gives its job id.
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
    fn cancel(&self, targets: &[Target]) -> Result<(), SchedulerError>;
}

/// Tasks that are sent together. Their indices are 0 to `count` - 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    /// Tells this array from others of the run.
    pub comment: String,
    /// The number of tasks.
    pub count: u32,
    /// What each task asks for. Its cases are of no interest here.
    pub ask: Ask,
    /// Most tasks that run at a time; absent: as many as the cluster allows.
    pub throttle: Option<u32>,
    /// Nodes on which none of them may run.
    pub excluded: Vec<String>,
    /// The argument of the script, beside the index of the task.
    pub argument: String,
}

/// What a task asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ask {
    /// Wall-clock seconds.
    pub seconds: u64,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Threads.
    pub threads: u32,
}

impl Ask {
    /// What a task of a manifest asks for.
    pub fn of(task: &ClusterTask) -> Self {
        Self { seconds: task.seconds, memory_bytes: task.memory_bytes, threads: task.threads }
    }
}

/// What is to be ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// All tasks of an array.
    Array(u64),
    /// One task, by the array's job id and its index.
    Task(u64, u32),
}

/// A task, as the scheduler tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobTask {
    /// The array's job id.
    pub job: u64,
    /// The task's index in the array.
    pub index: u32,
    /// Its state.
    pub state: State,
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
    /// As Slurm writes it: `status:signal`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.status, self.signal)
    }
}

/// The state of a task.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum State {
    /// It waits.
    Pending,
    /// It runs.
    Running,
    /// It is stopped for a while.
    Suspended,
    /// It has ended, or its node does not say so.
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
    /// It gave way to a more important job.
    Preempted,
    /// The scheduler means to run it once more.
    Requeued,
    /// Somebody cancelled it.
    Cancelled,
    /// A state of another version; the task may still run.
    Other(String),
}

impl State {
    /// The state that Slurm calls so.
    pub fn parse(text: &str) -> Self {
        match text {
            "PENDING" => State::Pending,
            "RUNNING" | "CONFIGURING" | "RESIZING" | "SIGNALING" | "STAGE_OUT" => State::Running,
            "SUSPENDED" | "STOPPED" => State::Suspended,
            "COMPLETING" => State::Completing,
            "COMPLETED" => State::Completed,
            "FAILED" => State::Failed,
            "TIMEOUT" | "DEADLINE" => State::TimedOut,
            "OUT_OF_MEMORY" => State::OutOfMemory,
            "NODE_FAIL" | "BOOT_FAIL" => State::NodeFailed,
            "PREEMPTED" | "REVOKED" => State::Preempted,
            "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD" | "SPECIAL_EXIT" => State::Requeued,
            "CANCELLED" => State::Cancelled,
            other => State::Other(other.to_owned()),
        }
    }

    /// Whether the task runs no more, as far as the scheduler knows.
    pub fn is_over(&self) -> bool {
        match self {
            State::Pending | State::Running | State::Suspended | State::Requeued | State::Other(_) => false,
            State::Completing
            | State::Completed
            | State::Failed
            | State::TimedOut
            | State::OutOfMemory
            | State::NodeFailed
            | State::Preempted
            | State::Cancelled => true,
        }
    }
}

impl fmt::Display for State {
    /// As Slurm calls the most frequent state of the kind.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::Pending => "PENDING",
            State::Running => "RUNNING",
            State::Suspended => "SUSPENDED",
            State::Completing => "COMPLETING",
            State::Completed => "COMPLETED",
            State::Failed => "FAILED",
            State::TimedOut => "TIMEOUT",
            State::OutOfMemory => "OUT_OF_MEMORY",
            State::NodeFailed => "NODE_FAIL",
            State::Preempted => "PREEMPTED",
            State::Requeued => "REQUEUED",
            State::Cancelled => "CANCELLED",
            State::Other(text) => text,
        })
    }
}

/// What tasks may ask for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Limits {
    /// Most tasks of an array.
    pub array_size: u32,
    /// Longest wall-clock time in seconds, where there is a bound.
    pub seconds: Option<u64>,
    /// The partition's nodes.
    pub nodes: Vec<Node>,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Logical processors.
    pub processors: u32,
}

/// A task that asks for more than there is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("task {task} asks for {what} and {most}: {remedy}")]
pub struct TooMuch {
    /// The task's index in the manifest.
    pub task: usize,
    /// What it asks for.
    pub what: String,
    /// What there is.
    pub most: String,
    /// What to do.
    pub remedy: &'static str,
}

impl Limits {
    /// Compares what tasks ask for with what there is, since a scheduler may accept what it can never run.
    ///
    /// # Errors
    /// The first task that asks for too much.
    pub fn check(&self, tasks: &[ClusterTask]) -> Result<(), TooMuch> {
        tasks.iter().enumerate().try_for_each(|(task, wanted)| self.check_one(task, Ask::of(wanted)))
    }

    fn check_one(&self, task: usize, ask: Ask) -> Result<(), TooMuch> {
        const GIB: f64 = 1_073_741_824.0;
        if let Some(most) = self.seconds.filter(|most| ask.seconds > *most) {
            return Err(TooMuch {
                task,
                what: format!("{} min", ask.seconds.div_ceil(60)),
                most: format!("the partition allows {} min", most / 60),
                remedy: "lower `time` of `ask`, or name another partition",
            });
        }
        let memory = self.nodes.iter().map(|node| node.memory_bytes).max().unwrap_or_default();
        if ask.memory_bytes > memory {
            return Err(TooMuch {
                task,
                what: format!("{:.1} GiB of memory", ask.memory_bytes as f64 / GIB),
                most: format!("the largest node of the partition has {:.1} GiB", memory as f64 / GIB),
                remedy: "lower `memory` of `ask` or of the budget, or name another partition",
            });
        }
        let threads = self.nodes.iter().map(|node| node.processors).max().unwrap_or_default();
        if ask.threads > threads {
            return Err(TooMuch {
                task,
                what: format!("{} threads", ask.threads),
                most: format!("the largest node of the partition has {threads} processors"),
                remedy: "lower `threads`, or name another partition",
            });
        }
        if !self.nodes.iter().any(|n| n.memory_bytes >= ask.memory_bytes && n.processors >= ask.threads) {
            return Err(TooMuch {
                task,
                what: format!("{:.1} GiB and {} threads", ask.memory_bytes as f64 / GIB, ask.threads),
                most: "no node of the partition has both".to_owned(),
                remedy: "lower one of them, or name another partition",
            });
        }
        Ok(())
    }
}

/// Why the scheduler did not do as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{command}` {said}")]
pub struct SchedulerError {
    /// The command and its arguments.
    pub command: String,
    /// Its exit status and the last lines of its standard error, or why it gave no answer.
    pub said: String,
    /// What the failure means.
    pub kind: Trouble,
}

/// What a failure of the scheduler means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The scheduler is away or busy; the same may succeed later. What was asked may have been done.
    Passing,
    /// The user has as many tasks in the queue as is allowed.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_told_before_it_is_sent() {
        let node = |name: &str, gib: u64, processors| Node {
            name: name.into(),
            memory_bytes: gib << 30,
            processors,
        };
        let limits = Limits {
            array_size: 11,
            seconds: Some(3600),
            nodes: vec![node("wide", 8, 64), node("large", 512, 16)],
        };
        let task = |seconds, gib: u64, threads| ClusterTask {
            cases: Vec::new(),
            seconds,
            memory_bytes: gib << 30,
            threads,
        };
        let check = |wanted| limits.check(&[task(60, 1, 1), wanted]).map_err(|error| error.to_string());
        assert_eq!(check(task(3600, 8, 64)), Ok(()));
        assert_eq!(check(task(3600, 512, 16)), Ok(()));
        for (wanted, said) in [
            (task(3601, 1, 1), "task 1 asks for 61 min and the partition allows 60 min"),
            (task(60, 600, 1), "task 1 asks for 600.0 GiB of memory and the largest node"),
            (task(60, 1, 65), "task 1 asks for 65 threads and the largest node"),
            (task(60, 9, 17), "task 1 asks for 9.0 GiB and 17 threads and no node"),
        ] {
            let error = check(wanted).unwrap_err();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
