//! System calls about this process: its clocks, its memory and its end.

#![allow(unsafe_code)]

mod adopted;
mod status;
mod usage;

use std::os::unix::process::{CommandExt, parent_id};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gpbench_record::Clock;

use status::Status;
use usage::{maximum, seconds_of, usage_of};

pub use adopted::{adopt, adopted, left_running, look};

static START: OnceLock<Instant> = OnceLock::new();

/// The parent of a process that ends its own subprocesses.
static PARENT: OnceLock<u32> = OnceLock::new();

/// Whether a signal has requested the end of such a process.
static ASKED_TO_END: AtomicBool = AtomicBool::new(false);

/// Time that killed processes may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Marks the start of the process; [`seconds_since_start`] and [`now`] count from here.
pub fn mark_start() {
    START.get_or_init(Instant::now);
}

/// Wall-clock seconds since [`mark_start`].
pub fn seconds_since_start() -> f64 {
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// Wall-clock seconds since the start, and processor seconds of all threads so far, those of the adopted processes and
/// of the children that this process has waited for included.
pub fn now() -> Clock {
    Clock { wall: seconds_since_start(), cpu: cpu_seconds() + adopted::seconds() }
}

/// Processor seconds that all threads of this process have used.
fn cpu_seconds() -> f64 {
    seconds_of(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap_or(0.0)
}

/// Asks the system to kill this process when its parent ends, so that an
/// engine killed without warning leaves no worker behind. Ends at once if standard output has no
/// reader: then the parent had ended before.
pub fn die_with_parent() {
    #[cfg(target_os = "linux")]
    // SAFETY: a plain system call on numbers.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
    }
    leave_without_reader();
}

/// Makes a write beyond a limit on the size of files an error, as on a full disk, if this process was
/// started with such a limit. A limit that a plugin sets later still ends the process, which counts against the
/// plugin.
pub fn survive_full_disk() {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is a valid place to write to; on failure it stays as it is.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    if limit.rlim_cur != libc::RLIM_INFINITY {
        // SAFETY: a plain system call on numbers.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    }
}

/// Ends the process if standard output has no reader.
fn leave_without_reader() {
    let mut output = libc::pollfd { fd: libc::STDOUT_FILENO, events: 0, revents: 0 };
    // SAFETY: one valid descriptor entry, and no waiting.
    let noticed = unsafe { libc::poll(&mut output, 1, 0) };
    if noticed > 0 && output.revents & libc::POLLERR != 0 {
        leave(libc::EXIT_FAILURE);
    }
}

/// Lets this process end all its subprocesses before it ends itself, also where its parent ends first or a signal
/// requests its end. This replaces [`die_with_parent`] in processes that run no plugin code themselves.
/// [`leave_if_asked`] must be called often from then on, and [`leave_in_order`] at the end.
pub fn end_in_order() {
    extern "C" fn note(_signal: libc::c_int) {
        ASKED_TO_END.store(true, Ordering::Relaxed);
    }
    PARENT.get_or_init(parent_id);
    leave_without_reader();
    // Handlers, unlike ignored signals, are not passed on to programs that this one starts.
    let handler = note as extern "C" fn(libc::c_int);
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
        // SAFETY: the handler does nothing but store a number.
        unsafe { libc::signal(signal, handler as libc::sighandler_t) };
    }
    adopt_orphans();
}

/// Makes this process the parent of all processes below it whose own parents end. Without this, the process that
/// started this one still ends them.
pub fn adopt_orphans() {
    if let Err(error) = gpbench_processes::adopt_orphans() {
        crate::log::line(format_args!("gpbench-worker: cannot adopt orphans: {error}"));
    }
}

/// Calls [`leave_in_order`] if the parent has ended or a signal has arrived.
pub fn leave_if_asked() {
    let parent_ended = PARENT.get().is_some_and(|parent| *parent != parent_id());
    if parent_ended || ASKED_TO_END.load(Ordering::Relaxed) {
        leave_in_order(libc::EXIT_FAILURE);
    }
}

/// Ends all subprocesses of this process, then the process itself.
pub fn leave_in_order(code: i32) -> ! {
    gpbench_processes::end_all(PATIENCE);
    leave(code)
}

/// Restarts this program with further environment variables, unless there
/// are none to set: some libraries read them before `main`.
/// If that fails, this process continues as it is.
pub fn restart_with(variables: &[(&'static str, &'static str)]) {
    let (false, Ok(program)) = (variables.is_empty(), std::env::current_exe()) else { return };
    let error =
        Command::new(program).args(std::env::args_os().skip(1)).envs(variables.iter().copied()).exec();
    crate::log::line(format_args!("gpbench-worker: cannot restart with {variables:?}: {error}"));
}

/// Bytes of address space that this process may use, where that is limited: by `ulimit -v` or `-d`, or h_vmem of a
/// cluster. A system that promises no more memory than it has is a limit too, of unknown size: the largest number.
pub fn address_space_limit() -> Option<u64> {
    let of = |resource| {
        let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: `limit` is a valid place to write to; on failure it stays as it is.
        unsafe { libc::getrlimit(resource, &mut limit) };
        (limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
    };
    let is_strict =
        || std::fs::read_to_string("/proc/sys/vm/overcommit_memory").is_ok_and(|mode| mode.trim() == "2");
    let own = [of(libc::RLIMIT_AS), of(libc::RLIMIT_DATA)].into_iter().flatten().min();
    own.or_else(|| is_strict().then_some(u64::MAX))
}

/// Peak resident memory of this process and the adopted ones: the sum of their peaks, less what they share.
///
/// Linux carries the `ru_maxrss` of a parent over `exec`, so the program's own
/// peak is read from `/proc`, or from `getrusage` where there is none.
pub fn peak_memory_bytes() -> u64 {
    let own = match Status::own().peak {
        0 => peak_by_getrusage(),
        peak => peak,
    };
    (own + adopted::peak_bytes()).max(adopted::peak_of_ended_child())
}

/// Resident memory of this process and the adopted ones; 0 where the system does not list it.
pub fn resident_bytes() -> u64 {
    Status::own().resident + adopted_bytes()
}

/// Resident memory of the adopted processes, without what they share with this one.
pub fn adopted_bytes() -> u64 {
    adopted::resident_bytes()
}

fn peak_by_getrusage() -> u64 {
    maximum(&usage_of(libc::RUSAGE_SELF))
}

/// Ends the process without running exit handlers.
///
/// A loaded library may have registered exit handlers, and they must not change the
/// reported results. Buffered output is flushed first.
pub fn leave(code: i32) -> ! {
    // SAFETY: a null stream means all of them; no lock of ours is held.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    // SAFETY: ends the process.
    unsafe { libc::_exit(code) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_ask_for_memory_answer() {
        assert!(peak_memory_bytes() > 1 << 20);
        assert!(peak_by_getrusage() > 1 << 20);
    }
}
