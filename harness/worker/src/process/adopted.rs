//! Child processes whose processor time and memory count as this process's own.
//!
//! A child that has ended counts once it has been waited for: the system adds its time to that of the ended children
//! (`getrusage`). The time of a child that runs is read from its own clock, but only if it was adopted, since finding
//! all children takes longer than many a call of a solver. [`left_running`] finds the others, once at the end of a
//! case.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gpbench_processes::{Stat, descendants};

use super::status::Status;
#[cfg(target_os = "linux")]
use super::usage::seconds_of;
use super::usage::{maximum, usage_of};

/// Time between two looks at the memory of the adopted processes. One takes some 30 us a process.
const LOOK: Duration = Duration::from_millis(100);

/// A child process that was adopted and has not been waited for.
#[derive(Debug, Clone, Copy)]
struct Adopted {
    pid: u32,
    #[cfg(target_os = "linux")]
    clock: libc::clockid_t,
    /// Largest resident memory seen.
    peak_bytes: u64,
    /// Largest memory seen that it may share with this process.
    shared_bytes: u64,
}

/// The adopted processes, and the memory of those that have ended.
#[derive(Debug, Default)]
struct Family {
    running: Vec<Adopted>,
    /// Peak memory of the processes that have ended, as if all had run at the same time.
    ended_peak_bytes: u64,
    /// Time of the last look at their memory.
    looked: Option<Instant>,
}

static FAMILY: Mutex<Family> = Mutex::new(Family { running: Vec::new(), ended_peak_bytes: 0, looked: None });

fn family() -> MutexGuard<'static, Family> {
    FAMILY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adopts a child of this process.
///
/// # Errors
/// If it is no child, as a clause.
pub fn adopt(pid: u32) -> Result<(), String> {
    if Stat::read(pid).is_none_or(|stat| stat.parent != std::process::id()) {
        return Err(format!("process {pid} is no child of this process"));
    }
    let mut family = family();
    if !family.running.iter().any(|adopted| adopted.pid == pid) {
        let mut adopted = Adopted {
            pid,
            #[cfg(target_os = "linux")]
            clock: clock_of(pid).ok_or_else(|| format!("process {pid} has ended"))?,
            peak_bytes: 0,
            shared_bytes: 0,
        };
        adopted.look(&Status::own());
        family.running.push(adopted);
    }
    Ok(())
}

/// Numbers of the adopted processes that have not been waited for.
pub fn adopted() -> Vec<u32> {
    family().running.iter().map(|adopted| adopted.pid).collect()
}

/// Processor seconds of the adopted processes and of the children that this process has waited for.
pub(super) fn seconds() -> f64 {
    let mut family = family();
    let ended = seconds_of_children();
    if family.running.is_empty() {
        return ended;
    }
    let count = family.running.len();
    let mut running = 0.0;
    if family.looked.is_none_or(|looked| looked.elapsed() > LOOK) {
        family.look();
    }
    let Family { running: all, ended_peak_bytes, looked: _ } = &mut *family;
    all.retain(|adopted| match adopted.seconds() {
        Some(seconds) => {
            running += seconds;
            true
        }
        None => {
            *ended_peak_bytes += adopted.peak_bytes.saturating_sub(adopted.shared_bytes);
            false
        }
    });
    // Whatever was waited for since the first reading is in the second one.
    let ended = if family.running.len() == count { ended } else { seconds_of_children() };
    ended + running
}

/// Peak memory of the adopted processes, without what they share with this process.
pub(super) fn peak_bytes() -> u64 {
    look();
    let family = family();
    let running =
        family.running.iter().map(|adopted| adopted.peak_bytes.saturating_sub(adopted.shared_bytes));
    family.ended_peak_bytes + running.sum::<u64>()
}

/// Resident memory of the adopted processes, without what they share with this process.
pub(super) fn resident_bytes() -> u64 {
    let own = Status::own();
    let of =
        |pid| Status::of(pid).map_or(0, |status: Status| status.resident - status.shared.min(own.shared));
    adopted().into_iter().map(of).sum()
}

/// Looks at the memory of the adopted processes, whose peaks are lost when they end.
pub fn look() {
    family().look();
}

/// What the descendants of this process have used that no other function counts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LeftRunning {
    /// Processor seconds of the descendants that neither were adopted nor have been waited for, and of the children
    /// that the adopted ones have waited for.
    pub seconds: f64,
    /// Memory of the former.
    pub bytes: u64,
}

/// Looks for descendants that were not adopted.
pub fn left_running() -> LeftRunning {
    let adopted = adopted();
    let (mut ticks, mut bytes) = (0, 0);
    for pid in descendants(std::process::id()) {
        let stat = Stat::read(pid);
        if adopted.contains(&pid) {
            ticks += stat.map_or(0, |stat| stat.cpu_ticks_of_children);
        } else {
            ticks += stat.map_or(0, |stat| stat.cpu_ticks);
            bytes += proportional_bytes(pid);
        }
    }
    // SAFETY: a plain system call on a number.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    LeftRunning { seconds: ticks as f64 / per_second.max(1) as f64, bytes }
}

/// Memory of a process, each page divided among the processes that have it.
fn proportional_bytes(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kib: Option<u64> = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    kib.unwrap_or(0) * 1024
}

impl Family {
    /// Reads the memory of those that run.
    fn look(&mut self) {
        if !self.running.is_empty() {
            let own = Status::own();
            self.running.iter_mut().for_each(|adopted| adopted.look(&own));
            self.looked = Some(Instant::now());
        }
    }
}

impl Adopted {
    /// Processor seconds of all of its threads; `None` once it has been waited for.
    #[cfg(target_os = "linux")]
    fn seconds(&self) -> Option<f64> {
        seconds_of(self.clock)
    }

    /// Only the time of ended children is known here.
    #[cfg(not(target_os = "linux"))]
    fn seconds(&self) -> Option<f64> {
        Some(0.0)
    }

    fn look(&mut self, own: &Status) {
        if let Some(status) = Status::of(self.pid) {
            self.peak_bytes = self.peak_bytes.max(status.peak);
            self.shared_bytes = self.shared_bytes.max(status.shared.min(own.shared));
        }
    }
}

/// The clock of a process.
#[cfg(target_os = "linux")]
fn clock_of(pid: u32) -> Option<libc::clockid_t> {
    let mut clock = 0;
    // SAFETY: `clock` is a valid place to write to.
    let error = unsafe { libc::clock_getcpuclockid(pid as libc::pid_t, &mut clock) };
    (error == 0).then_some(clock)
}

/// Processor seconds of the children that this process has waited for, and of those that they have waited for.
fn seconds_of_children() -> f64 {
    let usage = usage_of(libc::RUSAGE_CHILDREN);
    let seconds = |time: libc::timeval| time.tv_sec as f64 + 1e-6 * time.tv_usec as f64;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Largest peak memory of any child that this process has waited for.
pub(super) fn peak_of_ended_child() -> u64 {
    maximum(&usage_of(libc::RUSAGE_CHILDREN))
}
