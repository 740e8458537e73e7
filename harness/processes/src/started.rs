//! Processes that this program has started, and orphans that it has adopted.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, kill_process, kill_process_group, pidfd_open,
    pidfd_send_signal, set_child_subreaper, waitid,
};

use crate::stat::Stat;
use crate::tree::{children, descendants};

/// First pause between two searches for processes that are about to end. Pauses double up to the longest one.
const FIRST_PAUSE: Duration = Duration::from_micros(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(2);

/// The children that [`spawn`] has started and that were not waited for. The set is locked while a child is started,
/// is waited for, or is classified as an orphan.
static STARTED: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn started() -> MutexGuard<'static, BTreeSet<u32>> {
    // Each change of the set is a single call, which a panic cannot interrupt.
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes this process the parent of all its descendants whose own parent ends.
///
/// # Errors
/// If the system refuses. Descendants are then found only as long as their parents are alive.
pub fn adopt_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Starts a process that leads a process group of its own.
///
/// # Errors
/// If it cannot be started.
pub fn spawn(command: &mut Command) -> io::Result<Started> {
    let mut started = started();
    let child = command.process_group(0).spawn()?;
    started.insert(child.id());
    Ok(Started { child, status: None })
}

/// A process started by [`spawn`]. Dropping this kills it.
#[derive(Debug)]
pub struct Started {
    /// Handle of the process, for its streams. Callers must not wait for it through this handle.
    pub child: Child,
    status: Option<ExitStatus>,
}

impl Started {
    /// Number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Whether it has ended. This does not reap the process, so that its number is not given to another one.
    pub fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.status.is_some() || !matches!(waitid(WaitId::Pid(self.pid()), options), Ok(None))
    }

    /// Waits until it has ended, but not beyond a deadline; whether it has.
    pub(crate) fn ends_before(&self, deadline: Instant) -> bool {
        let mut pause = FIRST_PAUSE;
        while !self.has_ended() {
            if Instant::now() > deadline {
                return false;
            }
            thread::sleep(pause);
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
        true
    }

    /// Kills it and its process group.
    fn kill(&mut self) {
        if self.status.is_none() {
            // These calls fail if the processes have already ended.
            let _ = kill_process_group(self.pid(), Signal::KILL);
            let _ = self.child.kill();
        }
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// If the system cannot wait for it.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        // The lock is not held here, since this may take long.
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(self.pid()), options) {}
        let mut started = started();
        let status = self.child.wait();
        started.remove(&self.child.id());
        let status = status?;
        self.status = Some(status);
        Ok(status)
    }

    /// Kills it, waits for it, and ends its orphans, waiting for them no longer than `patience`.
    ///
    /// # Errors
    /// If the system cannot wait for it.
    pub fn end(&mut self, patience: Duration) -> io::Result<ExitStatus> {
        self.kill();
        let status = self.wait();
        end_orphans(patience);
        status
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.kill();
        let _ = self.wait();
    }
}

/// Ends the children that this process did not start itself, and their descendants. Waits no longer than `patience`
/// for them to end, and returns whether none is left.
pub fn end_orphans(patience: Duration) -> bool {
    until_none(patience, || end_children_but(&started()))
}

/// Ends all children and their descendants, and waits no longer than `patience` for them to end. No process can be
/// started afterwards, so this is for a program that is about to end.
pub fn end_all(patience: Duration) {
    let started = started();
    until_none(patience, || end_children_but(&BTreeSet::new()));
    std::mem::forget(started);
}

/// Repeats `sweep` until it finds nothing.
fn until_none(patience: Duration, sweep: impl Fn() -> usize) -> bool {
    let deadline = Instant::now() + patience;
    let mut pause = FIRST_PAUSE;
    while sweep() > 0 {
        if Instant::now() > deadline {
            return false;
        }
        thread::sleep(pause);
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
    true
}

/// Kills each child that is not in `kept`, and its descendants, and reaps it if it has ended. Returns the number of
/// these children.
///
/// The children of a killed child become children of this process, so that the next call finds them.
fn end_children_but(kept: &BTreeSet<u32>) -> usize {
    let mut orphans = children(std::process::id());
    orphans.retain(|child| !kept.contains(child));
    for orphan in &orphans {
        let below = descendants(*orphan);
        // The orphans of those that are killed first become children of this process.
        let parents: BTreeSet<u32> = below.iter().copied().chain([*orphan, std::process::id()]).collect();
        for descendant in below {
            kill_if_below(descendant, &parents);
        }
        // No other code waits for a child of this process, so its number is still valid.
        if let Some(pid) = pid(*orphan) {
            let _ = kill_process(pid, Signal::KILL);
            let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
    }
    orphans.len()
}

/// Kills a process if its parent is one of `parents`. Its number may have been given to a foreign process since it
/// was listed. The parent is therefore read after the handle is opened: if the number is reused in between, the
/// handle does not refer to the new process.
fn kill_if_below(process: u32, parents: &BTreeSet<u32>) {
    let handle = pid(process).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    if let Some(handle) = handle
        && Stat::read(process).is_some_and(|stat| parents.contains(&stat.parent))
    {
        let _ = pidfd_send_signal(handle, Signal::KILL);
    }
}

fn pid(process: u32) -> Option<Pid> {
    i32::try_from(process).ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::Stdio;

    use super::*;

    /// Lock for the tests, which would otherwise find each other's orphans.
    static ALONE: Mutex<()> = Mutex::new(());

    /// Starts a shell, and reads the numbers that it prints in its first line.
    fn shell(script: &str) -> (Started, Vec<u32>) {
        let mut command = Command::new("sh");
        let mut started = spawn(command.args(["-c", script]).stdout(Stdio::piped())).unwrap();
        let mut line = String::new();
        BufReader::new(started.child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (started, line.split_whitespace().map(|number| number.parse().unwrap()).collect())
    }

    #[test]
    fn what_leaves_its_session_its_parent_and_its_environment_is_ended() {
        let _alone = ALONE.lock();
        adopt_orphans().unwrap();
        let daemon =
            "(env -i setsid sh -c 'trap \"\" HUP INT QUIT TERM; echo $$; sleep 600 & wait' &) ; wait";
        let (mut started, numbers) = shell(daemon);
        let (other, _) = shell("echo 1; sleep 600");
        let daemon = numbers[0];
        assert!(Stat::read(daemon).is_some());
        assert_eq!(started.wait().unwrap().code(), Some(0));
        assert!(end_orphans(Duration::from_secs(60)));
        assert_eq!(Stat::read(daemon), None, "killed and waited for");
        assert!(!other.has_ended(), "what was started stays");
    }

    #[test]
    fn the_end_of_a_process_is_that_of_its_descendants() {
        let _alone = ALONE.lock();
        adopt_orphans().unwrap();
        let (mut started, numbers) = shell("setsid sh -c 'echo $$; sleep 600' & wait");
        let status = started.end(Duration::from_secs(60)).unwrap();
        assert_eq!(status.signal(), Some(9));
        assert_eq!(Stat::read(numbers[0]), None);
        assert!(started.has_ended() && started.wait().unwrap() == status);
    }

    #[test]
    fn a_process_of_another_parent_is_not_killed() {
        let _alone = ALONE.lock();
        let here = std::process::id();
        let end = |parents: BTreeSet<u32>| {
            let mut started = spawn(Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null())).unwrap();
            kill_if_below(started.id(), &parents);
            drop(started.child.stdin.take());
            started.wait().unwrap()
        };
        assert_eq!(end(BTreeSet::from([here + 1])).code(), Some(0), "it ends by itself");
        assert_eq!(end(BTreeSet::from([here])).signal(), Some(9));
    }

    #[test]
    fn a_process_that_is_stopped_is_ended_too() {
        let _alone = ALONE.lock();
        adopt_orphans().unwrap();
        let (started, numbers) = shell("(setsid sh -c 'echo $$; kill -STOP $$' &) ; wait");
        drop(started);
        assert!(end_orphans(Duration::from_secs(60)));
        assert_eq!(Stat::read(numbers[0]), None);
    }
}
