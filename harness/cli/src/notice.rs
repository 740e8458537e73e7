//! Messages on standard error, in colour on a terminal.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write as _};
use std::panic::PanicHookInfo;

use gpbench_record::text;

use crate::args::{Global, When};

/// Largest number of bytes of a message.
const LONGEST: usize = 1 << 16;

/// Prints a message.
pub(crate) fn say(text: impl Display) {
    Notice::new(Styles::PLAIN).text(text).print();
}

/// Prints a warning.
pub(crate) fn warn(global: &Global, text: impl Display) {
    Notice::new(Styles::new(global.color)).warning("warning:").text(" ").text(text).print();
}

/// Prints an error.
pub(crate) fn fail(global: &Global, text: impl Display) {
    Notice::new(Styles::new(global.color)).bad("gpbench:").text(" ").text(text).print();
}

/// Prints the message of a panic.
pub(crate) fn panicked(panic: &PanicHookInfo<'_>) {
    say(panic);
}

/// A message for standard error. Text that is added may be foreign: only the message's own colours control the terminal.
#[derive(Debug, Clone)]
pub(crate) struct Notice {
    styles: Styles,
    shown: String,
}

impl Notice {
    /// An empty message.
    pub(crate) fn new(styles: Styles) -> Notice {
        Notice { styles, shown: String::new() }
    }

    /// Adds text.
    #[must_use]
    pub(crate) fn text(mut self, text: impl Display) -> Notice {
        self.shown += &shown(text);
        self
    }

    /// Adds a failure.
    #[must_use]
    pub(crate) fn bad(self, text: &str) -> Notice {
        self.painted("31;1", text)
    }

    /// Adds a warning.
    #[must_use]
    pub(crate) fn warning(self, text: &str) -> Notice {
        self.painted("33", text)
    }

    /// Adds a success.
    #[must_use]
    pub(crate) fn good(self, text: &str) -> Notice {
        self.painted("32", text)
    }

    fn painted(mut self, code: &str, text: &str) -> Notice {
        let text = shown(text);
        self.shown += &if self.styles.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text };
        self
    }

    /// Prints the message. Errors are ignored: there is no place to report that standard error is closed or full.
    pub(crate) fn print(&self) {
        let _ = writeln!(io::stderr().lock(), "{}", self.shown);
    }

    /// The message with the escape sequences of its colours.
    pub(crate) fn as_str(&self) -> &str {
        &self.shown
    }
}

/// The text without characters that control a terminal.
fn shown(text: impl Display) -> String {
    let text = text.to_string();
    let plain: Cow<'_, str> = text::plain(&text);
    text::cut(&plain, LONGEST).into_owned()
}

/// Colours of standard error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Styles {
    on: bool,
}

impl Styles {
    /// No colours.
    pub(crate) const PLAIN: Styles = Styles { on: false };

    /// Uses colours as `--color`, NO_COLOR and the terminal say.
    pub(crate) fn new(when: When) -> Styles {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()) && io::stderr().is_terminal();
        Styles { on: when == When::Always || (when == When::Auto && wanted) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_colours_reach_the_terminal() {
        let notice = Notice::new(Styles { on: true }).bad("\x1b[2Jno").text(" \x1b]52;c;aGk=\x07\nend");
        assert_eq!(notice.as_str(), "\x1b[31;1m\\u{1b}[2Jno\x1b[0m \\u{1b}]52;c;aGk=\\u{7}\nend");
    }

    #[test]
    fn a_long_message_is_cut() {
        let notice = Notice::new(Styles { on: false }).text("x".repeat(1 << 20));
        assert!(notice.as_str().len() < LONGEST + 100);
        assert!(notice.as_str().ends_with("bytes left out)"));
    }
}
