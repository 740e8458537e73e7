//! Numbers and signals in words, and the end of a log.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes of a log that a row carries at most.
const TAIL_BYTES: u64 = 4096;
/// Lines of a log that a row carries at most.
const TAIL_LINES: usize = 20;

/// The last lines of a log, empty if there is none.
pub(crate) fn log_tail(path: &Path) -> String {
    read_end(path).map(|text| last_lines(&text, TAIL_LINES)).unwrap_or_default()
}

fn read_end(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// A number of bytes, such as `1.5 GiB`.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{count} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// A signal's name, such as `SIGSEGV`.
pub(crate) fn signal(number: i32) -> String {
    match signal_hook::low_level::signal_name(number) {
        Some(name) => name.to_owned(),
        None => format!("signal {number}"),
    }
}

/// A number with three significant digits.
pub(crate) fn shortest(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    if rounded != 0.0 && !(1e-3..1e6).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        format!("{rounded}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in
            [(0.0101, "0.0101"), (80.0, "80"), (1.234_567e-9, "1.23e-9"), (0.0, "0"), (1e300, "1e300")]
        {
            assert_eq!(shortest(value), text);
        }
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(3 << 29), "1.5 GiB");
        assert_eq!(bytes(u64::MAX), "16777216.0 TiB");
    }

    #[test]
    fn a_tail_is_the_last_lines() {
        assert_eq!(last_lines("a\nb\nc\n\n", 2), "b\nc");
        assert_eq!(last_lines("", 2), "");
        assert_eq!(log_tail(Path::new("/nonexistent/log")), "");
    }

    #[test]
    fn signals_have_names() {
        assert_eq!(signal(11), "SIGSEGV");
        assert_eq!(signal(9), "SIGKILL");
    }
}
