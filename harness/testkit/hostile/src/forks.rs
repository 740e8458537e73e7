//! Acts with further processes and threads. A child makes only calls that are allowed after a fork in a process of
//! several threads.

use std::ptr::null_mut;
use std::thread;

use crate::acts;

/// Seconds after which a child ends by itself.
const PATIENCE: u32 = 60;
/// Largest number of children or threads of an act that exhausts them.
const MANY: usize = 1000;
/// Bytes of the stack of a thread that only sleeps.
const SMALL_STACK: usize = 64 << 10;

unsafe extern "C" {
    static mut environ: *mut *mut libc::c_char;
}

/// Forks; true in the child.
pub(crate) fn fork() -> bool {
    // SAFETY: the child makes only system calls.
    unsafe { libc::fork() == 0 }
}

/// Sleeps and ends.
fn sleep() -> ! {
    // SAFETY: system calls on numbers.
    unsafe {
        libc::sleep(PATIENCE);
        libc::_exit(0)
    }
}

/// Leaves the process group, sleeps and ends.
fn outlive() -> ! {
    // SAFETY: a system call without arguments.
    unsafe { libc::setsid() };
    sleep()
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

/// Leaves a daemon that does `work`: in a session of its own, with an empty environment, its parent ended.
fn daemon(work: fn() -> !) {
    if fork() {
        // SAFETY: a system call without arguments.
        unsafe { libc::setsid() };
        clear_environment();
        if fork() {
            work();
        }
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) };
    }
}

/// Overwrites the environment where the system reads it. Changes only this process's copy.
fn clear_environment() {
    // SAFETY: a child has one thread, and the variables end with zero, as their list does.
    unsafe {
        let mut variable = environ;
        while !variable.is_null() && !(*variable).is_null() {
            let mut byte = *variable;
            while *byte != 0 {
                *byte = 0;
                byte = byte.add(1);
            }
            variable = variable.add(1);
        }
    }
}

/// Leaves a daemon that sleeps.
pub(crate) fn escape_unmarked() {
    daemon(sleep);
}

/// Leaves a daemon that takes memory, and sleeps for a while.
pub(crate) fn allocate_in_daemon() {
    daemon(allocate);
    wait_to_be_noticed();
}

/// Leaves a daemon that uses processor time, and sleeps for a while.
pub(crate) fn burn_in_daemon() {
    daemon(burn);
    wait_to_be_noticed();
}

/// Sleeps long enough to be detected.
pub(crate) fn wait_to_be_noticed() {
    // SAFETY: a system call on a number.
    unsafe { libc::sleep(PATIENCE / 3) };
}

/// Uses processor time up to its own limit, so that it ends even if the harness does not detect it.
fn burn() -> ! {
    let limit = libc::rlimit { rlim_cur: PATIENCE.into(), rlim_max: PATIENCE.into() };
    // SAFETY: a live struct.
    unsafe { libc::setrlimit(libc::RLIMIT_CPU, &limit) };
    acts::hang()
}

/// Takes two gigabytes, by system calls only, and sleeps.
fn allocate() -> ! {
    const PIECE: usize = 16 << 20;
    for _ in 0..128 {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
        // SAFETY: a new mapping at any address.
        let piece =
            unsafe { libc::mmap(null_mut(), PIECE, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if piece == libc::MAP_FAILED {
            break;
        }
    }
    sleep()
}

/// Allocates memory in a child, and waits for it.
pub(crate) fn allocate_in_child() {
    if fork() {
        allocate();
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

/// Forks children that sleep, until one is refused.
pub(crate) fn exhaust_processes() {
    for _ in 0..MANY {
        // SAFETY: the child makes only system calls.
        match unsafe { libc::fork() } {
            0 => sleep(),
            child if child < 0 => return,
            _ => {}
        }
    }
}

/// Starts threads that sleep, until one is refused.
pub(crate) fn exhaust_threads() {
    for _ in 0..MANY {
        let thread = thread::Builder::new().stack_size(SMALL_STACK);
        if thread.spawn(|| acts::sleep()).is_err() {
            return;
        }
    }
}

/// Ends the main thread while another one loops.
pub(crate) fn hang_without_leader() -> ! {
    thread::spawn(|| acts::hang());
    leave_thread()
}

/// Ends the calling thread without unwinding it.
pub(crate) fn leave_thread() -> ! {
    // SAFETY: nothing on this thread's stack is used by another one.
    unsafe { libc::syscall(libc::SYS_exit, 0) };
    unreachable!("the thread has ended")
}
