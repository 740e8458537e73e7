//! What processes have used, by the system's own counts.

/// The seconds of a clock of the system, if it exists.
pub(super) fn seconds_of(clock: libc::clockid_t) -> Option<f64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place to write to.
    let outcome = unsafe { libc::clock_gettime(clock, &mut time) };
    (outcome == 0).then_some(time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64)
}

/// What this process (`RUSAGE_SELF`), or the children that it has waited for (`RUSAGE_CHILDREN`), have used.
pub(super) fn usage_of(who: libc::c_int) -> libc::rusage {
    // SAFETY: all-zero bytes are a valid `rusage`, which holds only numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid place to write to; on failure it stays zero.
    unsafe { libc::getrusage(who, &mut usage) };
    usage
}

/// The largest resident memory of a usage, in bytes.
pub(super) fn maximum(usage: &libc::rusage) -> u64 {
    // Linux counts kibibytes, macOS bytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    usage.ru_maxrss.max(0) as u64 * unit
}
