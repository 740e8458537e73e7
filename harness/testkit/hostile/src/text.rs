//! Foreign text that must be escaped on terminals and pages.

use gpbench_sdk::{Error, LogLevel, Problem};

/// Escape sequences, a copy to the clipboard (OSC 52), a title, C1 controls, bidirectional overrides, HTML, Markdown
/// and a fence of four backticks.
pub(crate) const FOREIGN: &str = concat!(
    "\u{1b}[31mred\u{1b}[0m \u{1b}[2J\u{1b}]52;c;Z3BiZW5jaA==\u{7} \u{1b}]0;title\u{7} \u{9b}31m \u{202e}txet\u{202c} ",
    "<script>alert(1)</script> <img src=x onerror=alert(1)> [link](javascript:alert(1)) | cell | **bold** ",
    "````\n# Heading\n````\r\u{8}\u{0}end of foreign text"
);

/// Prints and logs the text; the same as an error.
pub(crate) fn speak(problem: &Problem<'_>) -> Error {
    problem.log(LogLevel::Warning, FOREIGN);
    print()
}

/// Prints the text; the same as an error.
pub(crate) fn print() -> Error {
    println!("{FOREIGN}");
    eprintln!("{FOREIGN}");
    Error::new(FOREIGN)
}
