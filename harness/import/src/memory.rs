//! How much may be read.

use std::fs;

/// Numbers that a table may hold: a third of this machine's memory, since a table is there twice while it
/// grows. Small archives can unpack to any size.
pub(crate) fn numbers() -> usize {
    let total = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
    total.map_or(usize::MAX, |bytes| bytes / 3 / size_of::<f64>())
}

/// Bytes of physical memory, as Linux says them.
fn total(meminfo: &str) -> Option<usize> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_is_read() {
        assert_eq!(total("MemFree: 1 kB\nMemTotal:       16384 kB\n"), Some(16 << 20));
        assert_eq!(total("MemTotal: many kB"), None);
        assert!(numbers() > 1 << 20);
    }
}
