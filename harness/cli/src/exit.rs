//! How the program ends: an exit code, and for failures what to say.
//!
//! Code 3, a regression, comes from the comparison with a baseline itself.

use std::fmt::Display;

/// All well; also with cases that did not converge or were skipped as wanted.
pub(crate) const OK: u8 = 0;
/// Some case failed.
pub(crate) const CASE_FAILED: u8 = 1;
/// Wrong usage or spec.
pub(crate) const USAGE: u8 = 2;
/// There is nothing to compare.
pub(crate) const NOTHING: u8 = 4;
/// A fault of gpbench or of the machine.
pub(crate) const INTERNAL: u8 = 70;

/// An error that ends the program.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Exit code.
    pub(crate) code: u8,
    /// What to print on standard error.
    pub(crate) text: String,
}

/// Outcome of a verb: the exit code, or an error.
pub(crate) type Outcome = Result<u8, Failure>;

impl Failure {
    /// The user can mend it: wrong usage, spec or input.
    pub(crate) fn usage(text: impl Display) -> Failure {
        Failure { code: USAGE, text: text.to_string() }
    }

    /// The user cannot mend it by typing something else.
    pub(crate) fn internal(text: impl Display) -> Failure {
        Failure { code: INTERNAL, text: text.to_string() }
    }

    /// There is nothing to compare or to report on.
    pub(crate) fn nothing(text: impl Display) -> Failure {
        Failure { code: NOTHING, text: text.to_string() }
    }
}
