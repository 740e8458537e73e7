//! The resources that tasks request, and the limits of the cluster.

use gpbench_record::ClusterTask;
use serde::{Deserialize, Serialize};

/// Bytes of memory that a task needs at least: for its runner, and for a worker that computes nothing yet.
pub const LEAST_MEMORY: u64 = 512 << 20;

/// The resources that a task requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ResourceRequest {
    /// Wall-clock seconds.
    pub seconds: u64,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Threads.
    pub threads: u32,
}

impl ResourceRequest {
    /// The request of a task of a manifest.
    pub fn of(task: &ClusterTask) -> Self {
        Self { seconds: task.seconds, memory_bytes: task.memory_bytes, threads: task.threads }
    }
}

/// The limits of the cluster on requests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClusterLimits {
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

/// A task that requests more than there is, or too little.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("task {task} asks for {what} and {bound}: {remedy}")]
pub struct BadRequest {
    /// The task's index in the manifest.
    pub task: usize,
    /// The resource that it requests.
    pub what: String,
    /// The limit, or the amount that is needed.
    pub bound: String,
    /// What to do.
    pub remedy: &'static str,
}

impl ClusterLimits {
    /// Compares the requests of tasks with the limits, since a scheduler may accept a task that it can never run.
    ///
    /// # Errors
    /// The first task that requests too much, or too little.
    pub fn check(&self, tasks: &[ClusterTask]) -> Result<(), BadRequest> {
        tasks
            .iter()
            .enumerate()
            .try_for_each(|(task, wanted)| self.check_one(task, ResourceRequest::of(wanted)))
    }

    fn check_one(&self, task: usize, request: ResourceRequest) -> Result<(), BadRequest> {
        const GIB: f64 = 1_073_741_824.0;
        if let Some(most) = self.seconds.filter(|most| request.seconds > *most) {
            return Err(BadRequest {
                task,
                what: format!("{} min", request.seconds.div_ceil(60)),
                bound: format!("the partition allows {} min", most / 60),
                remedy: "lower `time` of `ask`, or name another partition",
            });
        }
        if request.memory_bytes < LEAST_MEMORY {
            return Err(BadRequest {
                task,
                what: format!("{} MiB of memory", request.memory_bytes >> 20),
                bound: format!("its runner and an idle worker need {} MiB", LEAST_MEMORY >> 20),
                remedy: "raise `memory` of `ask`",
            });
        }
        let memory = self.nodes.iter().map(|node| node.memory_bytes).max().unwrap_or_default();
        if request.memory_bytes > memory {
            return Err(BadRequest {
                task,
                what: format!("{:.1} GiB of memory", request.memory_bytes as f64 / GIB),
                bound: format!("the largest node of the partition has {:.1} GiB", memory as f64 / GIB),
                remedy: "lower `memory` of `ask` or of the budget, or name another partition",
            });
        }
        let threads = self.nodes.iter().map(|node| node.processors).max().unwrap_or_default();
        if request.threads > threads {
            return Err(BadRequest {
                task,
                what: format!("{} threads", request.threads),
                bound: format!("the largest node of the partition has {threads} processors"),
                remedy: "lower `threads`, or name another partition",
            });
        }
        if !self
            .nodes
            .iter()
            .any(|n| n.memory_bytes >= request.memory_bytes && n.processors >= request.threads)
        {
            return Err(BadRequest {
                task,
                what: format!("{:.1} GiB and {} threads", request.memory_bytes as f64 / GIB, request.threads),
                bound: "no node of the partition has both".to_owned(),
                remedy: "lower one of them, or name another partition",
            });
        }
        Ok(())
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
        let limits = ClusterLimits {
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
        let little = ClusterTask { memory_bytes: 256 << 20, ..task(60, 1, 1) };
        for (wanted, said) in [
            (little, "task 1 asks for 256 MiB of memory and its runner and an idle worker need 512 MiB"),
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
