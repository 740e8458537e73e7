//! Limits that the kernel enforces.

use std::fs;
use std::process::Child;

use gpbench_record::Limits;
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use super::control_group::{ControlGroup, ControlGroups};

/// Processor seconds beyond the limit after which the kernel kills.
const CPU_SLACK: f64 = 2.0;

/// Puts a worker into a control group with bounded memory, as far as both are available.
pub(super) fn confine(groups: &ControlGroups, child: &Child, limits: &Limits) -> Option<ControlGroup> {
    let group = groups.make()?;
    group.admit(child.id()).ok()?;
    if let Some(bytes) = limits.memory_bytes.filter(|_| groups.bounds_memory()) {
        // If this fails, memory is still watched.
        let _ = group.bound_memory(bytes);
    }
    Some(group)
}

/// Sets the limits that the kernel enforces for each process by itself.
pub(super) fn bound(child: &Child, limits: &Limits) {
    let pid = Some(Pid::from_child(child));
    let between = |soft: u64, hard: u64| Rlimit { current: Some(soft), maximum: Some(hard) };
    // These fail for a child that has ended, which needs no limit.
    let _ = prlimit(pid, Resource::Core, between(0, 0));
    if let Some(seconds) = limits.cpu_seconds {
        let seconds = (seconds + CPU_SLACK).ceil() as u64;
        // First SIGXCPU, which names the reason, then SIGKILL for a process that ignores it.
        let _ = prlimit(pid, Resource::Cpu, between(seconds, seconds + 1));
    }
    // If the system runs out of memory, it kills a worker rather than the engine.
    let _ = fs::write(format!("/proc/{}/oom_score_adj", child.id()), "1000");
}
