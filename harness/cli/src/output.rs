//! What is printed on standard output: one listing in four forms.

use std::io::{self, IsTerminal, Write};

use gpbench_report::Table;
use serde_json::Value;

use crate::args::{Format, When};

/// Prints text on standard output. A reader that went away is not an error.
pub(crate) fn print(text: &str) {
    let mut out = io::stdout().lock();
    let ended = if text.ends_with('\n') { "" } else { "\n" };
    let _ = write!(out, "{text}{ended}").and_then(|()| out.flush());
}

/// A table, and the same as JSON.
#[derive(Debug)]
pub(crate) struct Listing {
    table: Table,
    json: Value,
}

impl Listing {
    /// A listing with no rows yet. `json` is what `--format json` prints.
    pub(crate) fn new(header: &[&str], json: Value) -> Listing {
        let table = header.iter().fold(Table::default(), |table, title| table.words(*title));
        Listing { table, json }
    }

    /// Adds a row: one cell a column.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.table.row(cells);
    }

    /// Prints the listing.
    pub(crate) fn print(&self, format: Format) {
        show(&self.table, &self.json, format);
    }
}

/// Prints a table, or `json` in its place, in the form asked for.
pub(crate) fn show(table: &Table, value: &Value, format: Format) {
    print(&match format {
        Format::Table => table.text(),
        Format::Md => table.markdown(),
        Format::Csv => table.csv(),
        Format::Json => json(value),
    });
}

/// A JSON value over several lines.
pub(crate) fn json(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("a JSON value always serialises")
}

/// Bytes in binary units, for reading.
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

/// Seconds in the largest fitting units, for reading.
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

/// Styles for standard error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Styles {
    on: bool,
}

impl Styles {
    /// Decides from `--color`, NO_COLOR and the terminal.
    pub(crate) fn new(when: When) -> Styles {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()) && io::stderr().is_terminal();
        Styles { on: when == When::Always || (when == When::Auto && wanted) }
    }

    /// Something that went wrong.
    pub(crate) fn bad(self, text: &str) -> String {
        self.paint("31;1", text)
    }

    /// Something to look at.
    pub(crate) fn warning(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// Something that went well.
    pub(crate) fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations_read_well() {
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(bytes(1.5 * 1024.0 * 1024.0), "1.5 MiB");
        assert_eq!(duration(0.25), "250 ms");
        assert_eq!(duration(2.5), "2.5 s");
        assert_eq!(duration(75.0), "1 min 15 s");
        assert_eq!(duration(7260.0), "2 h 01 min");
    }
}
