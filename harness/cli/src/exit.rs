//! How the program ends: an exit code, and after a failure a message.

use std::fmt::Display;

/// Success, also with cases that did not converge or were skipped on request.
pub(crate) const OK: u8 = 0;
/// A case failed.
pub(crate) const CASE_FAILED: u8 = 1;
/// Wrong usage or spec.
pub(crate) const USAGE: u8 = 2;
/// Metrics regressed, seconds are undecided, or values differ where they must be identical.
pub(crate) const REGRESSION: u8 = 3;
/// There is nothing to compare.
pub(crate) const NOTHING: u8 = 4;
/// A fault of gpbench or of the machine.
pub(crate) const INTERNAL: u8 = 70;

/// The exit code of a process that a signal ended.
pub(crate) fn of_signal(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// An error that ends the program.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Exit code.
    pub(crate) code: u8,
    /// Message for standard error.
    pub(crate) text: String,
}

/// The result of a verb: the exit code, or an error.
pub(crate) type Outcome = Result<u8, Failure>;

impl Failure {
    /// The user can correct it: wrong usage, spec or input.
    pub(crate) fn usage(text: impl Display) -> Failure {
        Failure { code: USAGE, text: text.to_string() }
    }

    /// The user cannot correct it on the command line.
    pub(crate) fn internal(text: impl Display) -> Failure {
        Failure { code: INTERNAL, text: text.to_string() }
    }

    /// There is nothing to compare or to report on.
    pub(crate) fn nothing(text: impl Display) -> Failure {
        Failure { code: NOTHING, text: text.to_string() }
    }
}
