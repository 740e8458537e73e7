//! A child process that uses processor time and memory on request. It makes only system calls, as is allowed after a fork
//! in a process of several threads.

use std::os::fd::RawFd;

use gpbench_sdk::abi::{self, Status};
use gpbench_sdk::{Error, Result};

use crate::served;

/// The child. It ends when its end of the channel is closed, or with its parent.
#[derive(Debug)]
pub(crate) struct Child {
    pid: libc::pid_t,
    channel: RawFd,
}

impl Child {
    /// Starts a child that holds so many mebibytes, and lets the host adopt it.
    pub(crate) fn start(mebibytes: usize) -> Result<Child> {
        let mut ends = [0; 2];
        // SAFETY: room for two descriptors.
        if unsafe {
            libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0, ends.as_mut_ptr())
        } != 0
        {
            return Err(Error::new("no channel to a child"));
        }
        // SAFETY: the child makes only system calls.
        let pid = unsafe { libc::fork() };
        if pid < 0 {
            return Err(Error::new("no child"));
        }
        if pid == 0 {
            serve(ends, mebibytes);
        }
        // SAFETY: the child's end is not used here.
        unsafe { libc::close(ends[1]) };
        let child = Child { pid, channel: ends[0] };
        // It has its memory from now on.
        child.burn(0.0)?;
        if !served().script.is_orphan {
            child.adopt()?;
        }
        Ok(child)
    }

    fn adopt(&self) -> Result<()> {
        let process: &abi::Process = served().extension(abi::id::PROCESS)?;
        let adopt = process.adopt.ok_or_else(|| Error::new("the host has no `adopt`"))?;
        // SAFETY: a live host.
        match unsafe { adopt(served().host(), self.pid.into()) } {
            Status::DONE => Ok(()),
            Status(code) => Err(Error::new(format!("the child was not adopted: {code}"))),
        }
    }

    /// Lets the child use so many processor seconds, and waits for it.
    pub(crate) fn burn(&self, seconds: f64) -> Result<()> {
        let mut seconds = seconds.to_le_bytes();
        // SAFETY: eight bytes to read and to write.
        let done = unsafe {
            libc::write(self.channel, seconds.as_ptr().cast(), 8) == 8
                && libc::read(self.channel, seconds.as_mut_ptr().cast(), 8) == 8
        };
        if done { Ok(()) } else { Err(Error::new("the child has ended")) }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: our own descriptor and child; its status is not used.
        unsafe {
            libc::close(self.channel);
            libc::waitpid(self.pid, std::ptr::null_mut(), 0);
        }
    }
}

/// Uses processor time as requested, until the other end is closed.
fn serve(ends: [RawFd; 2], mebibytes: usize) -> ! {
    // SAFETY: system calls on our own descriptors and memory.
    unsafe {
        libc::close(ends[0]);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
        if mebibytes > 0 {
            libc::mmap(
                std::ptr::null_mut(),
                mebibytes << 20,
                libc::PROT_READ | libc::PROT_WRITE,
                flags,
                -1,
                0,
            );
        }
        let mut seconds = [0; 8];
        while libc::read(ends[1], seconds.as_mut_ptr().cast(), 8) == 8 {
            let until = used() + f64::from_le_bytes(seconds);
            while used() < until {}
            libc::write(ends[1], seconds.as_ptr().cast(), 8);
        }
        libc::_exit(0)
    }
}

/// Processor seconds of this process.
fn used() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}
