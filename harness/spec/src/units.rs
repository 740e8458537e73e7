//! Times such as `1h30m` and memory such as `8GiB`.

/// Seconds of a time written with units: `90s`, `10m`, `1h30m`, `1.5h`, `500ms`.
///
/// Units descend and each occurs once. The error states the cause in one clause.
pub fn parse_time(text: &str) -> Result<f64, String> {
    const UNITS: [(&str, f64); 5] = [("d", 86400.0), ("h", 3600.0), ("m", 60.0), ("s", 1.0), ("ms", 1e-3)];
    let mut rest = text.trim();
    let mut seconds = 0.0;
    let mut largest_left = 0;
    if rest.is_empty() {
        return Err("an empty time".into());
    }
    while !rest.is_empty() {
        let (number, after) = take_number(rest)?;
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let unit = &after[..end];
        let Some(k) = UNITS.iter().position(|(name, _)| *name == unit) else {
            return Err(match unit {
                "" => format!("`{text}` lacks a unit (ms, s, m, h, d)"),
                _ => format!("`{unit}` is not a unit of time (ms, s, m, h, d)"),
            });
        };
        if k < largest_left {
            return Err(format!("units must descend, as in 1h30m, and `{unit}` is out of order"));
        }
        largest_left = k + 1;
        seconds += number * UNITS[k].1;
        rest = after[end..].trim_start();
    }
    positive(seconds, "a time")
}

/// Bytes of an amount of memory written with a unit: `8GiB`, `512MB`, `1.5 GiB`.
pub fn parse_memory(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, f64); 9] = [
        ("B", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("KiB", 1024.0),
        ("MiB", 1048576.0),
        ("GiB", 1073741824.0),
        ("TiB", 1099511627776.0),
    ];
    let (number, unit) = take_number(text.trim())?;
    let unit = unit.trim();
    match UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)) {
        Some((_, bytes)) => positive(number * bytes, "an amount of memory").map(|bytes| bytes as u64),
        None if unit.is_empty() => Err(format!("`{text}` lacks a unit (kB, MB, GB, KiB, MiB, GiB)")),
        None => Err(format!("`{unit}` is not a unit of memory (kB, MB, GB, KiB, MiB, GiB)")),
    }
}

/// A fraction written as a percentage: `1%`, `0.5 %`.
pub(crate) fn parse_percent(text: &str) -> Result<f64, String> {
    let (number, sign) = take_number(text.trim())?;
    match sign.trim() {
        "%" => positive(number / 100.0, "a percentage"),
        _ => Err(format!("`{text}` is not a percentage")),
    }
}

/// Splits a decimal number off the front.
fn take_number(text: &str) -> Result<(f64, &str), String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].parse().map_err(|_| format!("`{text}` does not begin with a number"))?;
    Ok((number, text[end..].trim_start()))
}

fn positive(value: f64, what: &str) -> Result<f64, String> {
    if value > 0.0 && value < 1e18 {
        Ok(value)
    } else {
        Err(format!("{what} must be positive and not too large"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let right = [
            ("90s", 90.0),
            ("10m", 600.0),
            ("1h30m", 5400.0),
            ("1.5h", 5400.0),
            ("250ms", 0.25),
            ("1d 2h", 93600.0),
        ];
        for (text, seconds) in right {
            assert_eq!(parse_time(text), Ok(seconds), "{text}");
        }
        for text in ["", "10", "ten minutes", "10min", "30m1h", "1h1h", "-3s", "0s", "1..5s", "m", "1e3s"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn percentages() {
        for (text, fraction) in [("1%", 0.01), ("0.5 %", 0.005), ("200%", 2.0)] {
            assert_eq!(parse_percent(text), Ok(fraction), "{text}");
        }
        for text in ["", "1", "%", "-1%", "0%", "1%%", "1 percent"] {
            assert!(parse_percent(text).is_err(), "{text}");
        }
    }

    #[test]
    fn memory() {
        let right = [("8GiB", 8 << 30), ("512MB", 512_000_000), ("1.5 GiB", 3 << 29), ("64mib", 64 << 20)];
        for (text, bytes) in right {
            assert_eq!(parse_memory(text), Ok(bytes), "{text}");
        }
        for text in ["", "8", "8 gigs", "GiB", "-1GB", "0MB", "8G"] {
            assert!(parse_memory(text).is_err(), "{text}");
        }
    }
}
