//! Memory of a process, from `/proc/<process>/status`.

/// Bytes of memory of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Status {
    /// Largest resident memory so far.
    pub(super) peak: u64,
    /// Resident memory.
    pub(super) resident: u64,
    /// The part of it that is mapped as shared memory.
    pub(super) shared: u64,
}

impl Status {
    /// The memory of this process; zeros where the system does not list it.
    pub(super) fn own() -> Status {
        let text = std::fs::read_to_string("/proc/self/status").ok();
        text.and_then(|text| Status::parse(&text)).unwrap_or_default()
    }

    /// The memory of a process; `None` if it has ended.
    pub(super) fn of(pid: u32) -> Option<Status> {
        Status::parse(&std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?)
    }

    /// Reads the file. One of a process that has ended has no memory.
    fn parse(text: &str) -> Option<Status> {
        let bytes = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
            Some(kib * 1024)
        };
        // Shared memory is listed since Linux 4.5.
        Some(Status {
            peak: bytes("VmHWM")?,
            resident: bytes("VmRSS")?,
            shared: bytes("RssShmem").unwrap_or(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_from_the_status_file() {
        let text = "Name:\tgpbench-worker\nVmPeak:\t  900 kB\nVmHWM:\t   12345 kB\nVmRSS:\t 99 kB\nRssShmem:\t 8 kB\n";
        let expected = Status { peak: 12345 * 1024, resident: 99 * 1024, shared: 8 * 1024 };
        assert_eq!(Status::parse(text), Some(expected));
        assert_eq!(Status::parse("Name:\tx\n"), None);
        assert_eq!(Status::of(u32::MAX), None);
    }
}
