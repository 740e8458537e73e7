//! Texts for numbers and signals.

use signal_hook::consts::{SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM};

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

/// Whether this is a signal that people and systems end processes with, rather than one that a fault of the process
/// raises.
pub(crate) fn ends_processes(number: i32) -> bool {
    [SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT].contains(&number)
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
    fn signals_have_names() {
        assert_eq!(signal(11), "SIGSEGV");
        assert_eq!(signal(9), "SIGKILL");
        assert!(ends_processes(9) && !ends_processes(11));
    }
}
