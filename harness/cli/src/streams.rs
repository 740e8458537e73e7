//! The standard streams at the start of this process.
//!
//! Rust opens `/dev/null` in the place of a standard stream that is closed, before `main`, so that no other file gets
//! its number. Writing then succeeds and nothing is written. Only code that runs earlier can tell.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static OUTPUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Fails if this process was started without a standard output.
pub(crate) fn require_output() -> io::Result<()> {
    match OUTPUT_WAS_CLOSED.load(Ordering::Relaxed) {
        true => Err(io::Error::other("it is closed")),
        false => Ok(()),
    }
}

extern "C" fn check_output() {
    let is_missing = |path: &str| std::fs::symlink_metadata(path).is_err();
    OUTPUT_WAS_CLOSED.store(is_missing("/proc/self/fd/1") && !is_missing("/proc/self/fd"), Ordering::Relaxed);
}

// SAFETY: the functions of this section run once, on one thread, before `main`. `check_output` makes two system calls and
// stores a flag; it uses nothing that the runtime sets up.
#[allow(unsafe_code)]
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static CHECK_OUTPUT: extern "C" fn() = check_output;
