//! The child process that runs the interpreter, and the socket to it.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::arena::{Arena, check};
use crate::frame;

/// Time that a child gets to end when it is asked to.
const PATIENCE: Duration = Duration::from_secs(2);

/// Runs a file without its own folder on the search path, which has files named like standard modules.
const RUN: &str =
    "import sys, runpy; del sys.path[0], sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')";

/// A running child.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    socket: OwnedFd,
    pidfd: OwnedFd,
    buffer: Vec<u8>,
}

/// What came from the child.
#[derive(Debug)]
pub enum Received {
    /// A datagram of so many bytes, see [`Child::bytes`].
    Datagram(usize),
    /// The child has ended.
    Ended(ExitStatus),
    /// The child lives, but has closed its end of the socket.
    Closed,
}

/// What a child is started with.
#[derive(Debug)]
pub struct Start<'s> {
    /// The interpreter.
    pub python: &'s Path,
    /// Folder of the package `gpbench_harness`.
    pub package: &'s Path,
    /// The script.
    pub script: &'s Path,
    /// Threads that it may use.
    pub threads: u32,
    /// Whether it sees the GPUs that this process sees; else none.
    pub sees_gpus: bool,
    /// Bytes of the description of the script in the arena.
    pub listed: usize,
}

impl Child {
    /// Starts the interpreter. It ends with this process.
    pub fn start(start: &Start<'_>, arena: &Arena) -> io::Result<Child> {
        let (ours, theirs) = socket_pair()?;
        let descriptors = [theirs.as_raw_fd(), arena.file().as_raw_fd()];
        let parent = std::process::id();
        let mut command = Command::new(start.python);
        command.args(["-B", "-u", "-X", "faulthandler", "-c", RUN]);
        command
            .arg(start.package.join("gpbench_harness/_start.py"))
            .args(descriptors.map(|number| number.to_string()));
        command.arg(arena.size().to_string()).arg(start.listed.to_string()).arg(start.script);
        command.envs(environment(start)).stdin(Stdio::null());
        // SAFETY: only system calls on numbers between fork and exec.
        unsafe { command.pre_exec(move || prepare(parent, descriptors)) };
        let process = command.spawn()?;
        drop(theirs);
        // SAFETY: a system call on numbers.
        let pidfd = unsafe { libc::syscall(libc::SYS_pidfd_open, process.id(), 0) };
        let pidfd = check(pidfd as i32)?;
        // SAFETY: a new descriptor, which has no other owner.
        let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
        Ok(Child { process, socket: ours, pidfd, buffer: vec![0; frame::MOST + 1] })
    }

    /// Its process number.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Sends a frame. A child that has ended is noticed by the next [`receive`](Self::receive).
    pub fn send(&self, bytes: &[u8]) {
        loop {
            let flags = libc::MSG_NOSIGNAL;
            // SAFETY: readable bytes.
            let sent =
                unsafe { libc::send(self.socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) };
            if sent >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return;
            }
        }
    }

    /// Waits for a datagram or for the end of the child. A process that the child has started may hold the socket
    /// open, so the end of the child is watched too.
    pub fn receive(&mut self) -> io::Result<Received> {
        loop {
            let [is_readable, has_ended] = wait([&self.socket, &self.pidfd], None)?;
            if is_readable {
                match self.read() {
                    Ok(0) => return self.closed(),
                    Ok(length) => return Ok(Received::Datagram(length)),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return self.closed(),
                    Err(error) => return Err(error),
                }
            }
            if has_ended {
                return Ok(Received::Ended(self.process.wait()?));
            }
        }
    }

    /// The first bytes of the last datagram.
    pub fn bytes(&self, length: usize) -> &[u8] {
        &self.buffer[..length.min(self.buffer.len())]
    }

    /// A process closes its descriptors shortly before its end can be seen.
    fn closed(&mut self) -> io::Result<Received> {
        let [has_ended] = wait([&self.pidfd], Some(PATIENCE))?;
        Ok(if has_ended { Received::Ended(self.process.wait()?) } else { Received::Closed })
    }

    fn read(&mut self) -> io::Result<usize> {
        let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
        let (to, room) = (self.buffer.as_mut_ptr().cast(), self.buffer.len());
        // SAFETY: room for so many bytes.
        let length = unsafe { libc::recv(self.socket.as_raw_fd(), to, room, flags) };
        usize::try_from(length).map_err(|_| io::Error::last_os_error())
    }

    /// Asks the child to end, and ends it if it does not.
    pub fn end(&mut self) {
        self.send(&frame::encode(frame::kind::END, 0, 0, 0, &[], &[]));
        let ended = wait([&self.pidfd], Some(PATIENCE));
        if !matches!(ended, Ok([true])) {
            self.kill();
        }
        // An error means that somebody else has waited for it.
        let _ = self.process.wait();
    }

    /// Ends the child at once.
    pub fn kill(&mut self) {
        // Errors mean that it has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Ends this process as the child has ended, so that a fault of a script looks like one of a native library.
pub fn end_like(status: ExitStatus) -> ! {
    if let Some(signal) = status.signal() {
        // SAFETY: ends this process by the signal: the default action, not blocked.
        unsafe {
            let mut all = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::sigprocmask(libc::SIG_UNBLOCK, &all, std::ptr::null_mut());
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
            // The default action of few signals is to go on.
            libc::_exit(128 + signal)
        }
    }
    // SAFETY: ends this process.
    unsafe { libc::_exit(status.code().unwrap_or(libc::EXIT_FAILURE)) }
}

fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut pair = [0; 2];
    // SAFETY: room for two descriptors.
    check(unsafe {
        libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, pair.as_mut_ptr())
    })?;
    // SAFETY: two new descriptors, which have no other owner.
    let [ours, theirs] = pair.map(|descriptor| unsafe { OwnedFd::from_raw_fd(descriptor) });
    Ok((ours, theirs))
}

/// Runs in the child before the interpreter: it ends with its parent, inherits two descriptors, and leaves it to the
/// parent to act on an interrupt from the keyboard.
fn prepare(parent: u32, inherited: [i32; 2]) -> io::Result<()> {
    // SAFETY: system calls on numbers.
    unsafe {
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        if libc::getppid() as u32 != parent {
            libc::_exit(libc::EXIT_FAILURE);
        }
        libc::signal(libc::SIGINT, libc::SIG_IGN);
        for descriptor in inherited {
            check(libc::fcntl(descriptor, libc::F_SETFD, 0))?;
        }
    }
    Ok(())
}

/// Environment variables of the child. The worker's own number of BLAS threads is 1 and must not be inherited. Idle
/// threads that spin would take processors from the host's products.
fn environment(start: &Start<'_>) -> impl Iterator<Item = (&'static str, String)> {
    const THREADS: [&str; 8] = [
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "POLARS_MAX_THREADS",
        "RAYON_NUM_THREADS",
        "NPROC",
    ];
    const FIXED: [(&str, &str); 5] = [
        ("OMP_WAIT_POLICY", "passive"),
        ("OPENBLAS_THREAD_TIMEOUT", "4"),
        ("KMP_BLOCKTIME", "0"),
        ("PYTHONHASHSEED", "0"),
        ("MPLBACKEND", "Agg"),
    ];
    let threads = start.threads.max(1).to_string();
    let counts = THREADS.map(|name| (name, threads.clone())).into_iter();
    let no_gpu = (!start.sees_gpus).then_some(("CUDA_VISIBLE_DEVICES", ""));
    counts.chain(FIXED.into_iter().chain(no_gpu).map(|(name, value)| (name, value.to_owned())))
}

/// Waits until one of the descriptors can be read or is hung up; which of them are. False for all after `limit`.
fn wait<const N: usize>(descriptors: [&OwnedFd; N], limit: Option<Duration>) -> io::Result<[bool; N]> {
    let mut polled =
        descriptors.map(|fd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 });
    let milliseconds = limit.map_or(-1, |limit| i32::try_from(limit.as_millis()).unwrap_or(i32::MAX));
    loop {
        // SAFETY: an array of N entries.
        let answer = unsafe { libc::poll(polled.as_mut_ptr(), N as libc::nfds_t, milliseconds) };
        match check(answer) {
            Ok(_) => return Ok(polled.map(|entry| entry.revents != 0)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn gpus_are_hidden_from_a_child_that_did_not_ask_for_one() {
        let [hidden, seen] = [false, true].map(|sees_gpus| {
            let none = Path::new("");
            let start = Start { python: none, package: none, script: none, threads: 3, sees_gpus, listed: 0 };
            environment(&start).collect::<BTreeMap<_, _>>()
        });
        assert_eq!(hidden["CUDA_VISIBLE_DEVICES"], "");
        assert!(!seen.contains_key("CUDA_VISIBLE_DEVICES"));
        assert_eq!((hidden["OMP_NUM_THREADS"].as_str(), seen["NPROC"].as_str()), ("3", "3"));
    }
}
