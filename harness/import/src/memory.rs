//! The limit on the size of a table.

use std::fs;

/// The most numbers that a table may hold: a third of this machine's memory, because a growing table is in memory
/// twice. Without a limit a small archive could unpack to any size.
pub(crate) fn numbers() -> usize {
    physical().map_or(usize::MAX, |bytes| bytes / 3 / size_of::<f64>())
}

/// Bytes of this machine's memory, where they are known.
pub(crate) fn physical() -> Option<usize> {
    total(&fs::read_to_string("/proc/meminfo").ok()?)
}

/// Bytes of physical memory, from the text of `/proc/meminfo`.
fn total(meminfo: &str) -> Option<usize> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn physical_memory_is_parsed() {
        assert_eq!(total("MemFree: 1 kB\nMemTotal:       16384 kB\n"), Some(16 << 20));
        assert_eq!(total("MemTotal: many kB"), None);
        assert!(numbers() > 1 << 20);
    }
}
