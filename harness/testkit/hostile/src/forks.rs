//! Acts with further processes. A child makes only calls that are allowed after a fork in a process of
//! several threads.

use std::ptr::null_mut;

use crate::acts;

/// Seconds after which a child ends by itself.
const PATIENCE: u32 = 60;

/// Forks; true in the child.
fn fork() -> bool {
    // SAFETY: the child makes only system calls.
    unsafe { libc::fork() == 0 }
}

/// Leaves the process group, sleeps and ends.
fn outlive() -> ! {
    // SAFETY: system calls on numbers.
    unsafe {
        libc::setsid();
        libc::sleep(PATIENCE);
        libc::_exit(0)
    }
}

/// Leaves a child in a session of its own, and never returns.
pub(crate) fn fork_and_hang() -> ! {
    if fork() {
        outlive();
    }
    acts::hang()
}

/// Leaves a grandchild in a session of its own, whose parent has ended, like a daemon.
pub(crate) fn escape() {
    if fork() {
        if fork() {
            outlive();
        }
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) };
    }
}

/// Allocates memory in a child until it fails, and waits for it.
pub(crate) fn allocate_in_child() {
    const PIECE: usize = 16 << 20;
    if fork() {
        loop {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
            // SAFETY: a new mapping at any address.
            let piece =
                unsafe { libc::mmap(null_mut(), PIECE, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
            if piece == libc::MAP_FAILED {
                // SAFETY: ends the child.
                unsafe { libc::_exit(1) };
            }
        }
    }
    wait();
}

/// Uses processor time in a child, and waits for it.
pub(crate) fn burn_in_child() {
    if fork() {
        acts::hang();
    }
    wait();
}

fn wait() {
    // SAFETY: waits for any child; its status is not used.
    unsafe { libc::wait(null_mut()) };
}
