//! Messages of the system when it has no process, thread, descriptor or memory left.

use rustix::process::{Resource, getrlimit};
use signal_hook::consts::{SIGXCPU, SIGXFSZ};

/// Texts of the C library, of Rust and of OpenBLAS.
const REFUSALS: [&str; 5] = [
    "Resource temporarily unavailable",
    "Too many open files",
    "Cannot allocate memory",
    "Out of memory (os error",
    "pthread_create failed",
];

/// Whether a text holds such a message.
pub(crate) fn tells_of_refusal(text: &str) -> bool {
    REFUSALS.iter().any(|refusal| text.contains(refusal))
}

/// Whether memory may be refused to a process that uses little of it: the address space is limited, or the system
/// promises no more than it has.
pub(crate) fn memory_may_be_refused() -> bool {
    let is_limited = |resource| getrlimit(resource).current.is_some();
    let strict = std::fs::read_to_string("/proc/sys/vm/overcommit_memory");
    is_limited(Resource::As) || is_limited(Resource::Data) || strict.is_ok_and(|mode| mode.trim() == "2")
}

/// Whether a signal tells of a limit on files or on processor time that this process has too, as by `ulimit`.
pub(crate) fn is_inherited_limit(signal: i32) -> bool {
    let resource = match signal {
        SIGXFSZ => Resource::Fsize,
        SIGXCPU => Resource::Cpu,
        _ => return false,
    };
    getrlimit(resource).current.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_own_words_are_known() {
        // EAGAIN, ENOMEM, EMFILE and ENFILE.
        for code in [11, 12, 24, 23] {
            let text = std::io::Error::from_raw_os_error(code).to_string();
            assert!(tells_of_refusal(&text) || text.contains("Too many open files"), "{text}");
        }
        assert!(!tells_of_refusal("index out of bounds"));
    }
}
