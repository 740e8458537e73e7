//! Texts for numbers of bytes and of seconds.

/// Bytes in binary units.
pub(crate) fn bytes(n: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = n;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 || value >= 100.0 {
        format!("{value:.0} {}", UNITS[unit])
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

/// Seconds in the largest units that fit.
pub(crate) fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..=59 if seconds < 0.9995 => format!("{:.0} ms", 1000.0 * seconds),
        0..=59 if seconds < 10.0 => format!("{seconds:.1} s"),
        0..=59 => format!("{whole} s"),
        60..=3599 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// Seconds as on a clock: `1:05`, or `2:01:05` from an hour on.
pub(crate) fn clock(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole % 3600 / 60, whole % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations_are_rounded() {
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(bytes(1.5 * 1024.0 * 1024.0), "1.5 MiB");
        assert_eq!(duration(0.25), "250 ms");
        assert_eq!(duration(2.5), "2.5 s");
        assert_eq!(duration(75.0), "1 min 15 s");
        assert_eq!(duration(7260.0), "2 h 01 min");
        assert_eq!([0.4, 65.0, 7265.0].map(clock), ["0:00", "1:05", "2:01:05"]);
    }
}
