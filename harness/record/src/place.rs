//! The node of a cluster on which a case ran.

use serde::{Deserialize, Serialize};

/// The node and the job in which a case ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodePlace {
    /// The node's name.
    pub node: String,
    /// The array's job id.
    pub job: u64,
    /// The attempt at the task.
    pub attempt: u32,
    /// Whether other jobs could run on the node at the same time.
    pub shared: bool,
    /// Seconds for which the job was suspended while the case ran.
    #[serde(default)]
    pub suspended_seconds: f64,
}
