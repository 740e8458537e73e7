//! The log of this process: its standard error.

use std::fmt::Arguments;
use std::io::{self, Write as _};

/// Writes a line to the log. A log that cannot be written, as on a full disk, changes nothing: `eprintln!` would
/// panic, and a panic in a callback would count against the plugin.
pub fn line(text: Arguments<'_>) {
    let _ = io::stderr().lock().write_fmt(format_args!("{text}\n"));
}
