//! How errors become the failure of a case.

use gpbench_record::{Failure, Status};

/// A case that cannot be run as it is.
pub(crate) fn invalid(reason: impl ToString) -> Failure {
    Failure { status: Status::Invalid, reason: reason.to_string() }
}
