//! Errors that tell of a full disk.

use std::io::{Error, ErrorKind};

/// Whether an error tells of a full disk, a full quota, or a limit on the size of files.
pub fn is_full(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}
