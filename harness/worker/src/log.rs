//! The log of this process: its standard error.

use std::fmt::Arguments;
use std::io::{self, Write as _};

/// Writes a line to the log. A log that cannot be written, for example on a full disk, is ignored: `eprintln!` would
/// panic, and a panic in a callback would count against the plugin.
pub fn line(text: Arguments<'_>) {
    let _ = io::stderr().lock().write_fmt(format_args!("{text}\n"));
}
