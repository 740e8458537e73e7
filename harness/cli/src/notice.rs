//! What is printed on standard error, in colour on a terminal.

use std::fmt::Display;
use std::io::{self, IsTerminal};

use crate::args::{Global, When};
use crate::output::note;

/// Prints a warning.
pub(crate) fn warn(global: &Global, text: impl Display) {
    note(format!("{} {text}", Styles::new(global.color).warning("warning:")));
}

/// Colours of standard error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Styles {
    on: bool,
}

impl Styles {
    /// Uses colours as `--color`, NO_COLOR and the terminal say.
    pub(crate) fn new(when: When) -> Styles {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()) && io::stderr().is_terminal();
        Styles { on: when == When::Always || (when == When::Auto && wanted) }
    }

    /// A failure.
    pub(crate) fn bad(self, text: &str) -> String {
        self.paint("31;1", text)
    }

    /// A warning.
    pub(crate) fn warning(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// A success.
    pub(crate) fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
