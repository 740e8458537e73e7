//! Classification of errors: a failure of the case, or a fault of the machine or of a file.

use std::fs::File;
use std::io;

use gpbench_data::copy::CopyError;
use gpbench_gp::NotPositiveDefinite;
use gpbench_gp::ThreadsRefused;
use gpbench_gp::exact::ExactError;
use gpbench_gp::pathwise::PriorError;
use gpbench_host::{CallError, LibraryError};
use gpbench_record::{CaseStatus, Failure, Fault, FaultCause, Message, ProgramError};

use crate::array_file::FileError;
use crate::kernel::KernelError;
use crate::rows::RowsError;
use crate::system::SystemError;

/// Reason why a case has no result.
#[derive(Debug)]
pub(crate) enum CaseError {
    /// The spec or the solver is at fault: the case has this status.
    Failed(Failure),
    /// Double precision does not suffice, as for a singular matrix. A task that has a result without what failed goes on;
    /// else the case has this status.
    Numerical(Failure),
    /// The machine or a file is at fault, which says nothing about the solver.
    Fault {
        /// What is at fault.
        cause: FaultCause,
        /// What failed and why.
        reason: String,
    },
}

impl CaseError {
    /// The last message of a worker; `plugin_ran` says whether the worker has opened the plugin's library.
    pub(crate) fn message(self, plugin_ran: bool) -> Message {
        match self {
            CaseError::Failed(failure) | CaseError::Numerical(failure) => Message::Failed(failure),
            CaseError::Fault { cause, reason } => Message::Fault(Fault { cause, reason, plugin_ran }),
        }
    }
}

/// The failure of a case that is invalid.
pub(crate) fn invalid(reason: impl ToString) -> CaseError {
    CaseError::Failed(Failure { status: CaseStatus::Invalid, reason: reason.to_string() })
}

/// The failure of a case for which double precision does not suffice: a matrix is singular, or a number is not finite.
pub(crate) fn diverged(reason: impl ToString) -> CaseError {
    CaseError::Numerical(Failure { status: CaseStatus::Diverged, reason: reason.to_string() })
}

/// A fault.
pub(crate) fn fault(cause: FaultCause, reason: impl ToString) -> CaseError {
    CaseError::Fault { cause, reason: reason.to_string() }
}

/// The fault of a file that cannot be read or written: `cause`, unless the system had no descriptor or no memory.
pub(crate) fn file_fault(cause: FaultCause) -> impl FnOnce(FileError) -> CaseError {
    move |error| match &error {
        FileError::Io { source, .. } => fault(cause_of(source, cause), &error),
        _ => fault(cause, &error),
    }
}

/// The cause of an error of the system: resources if the error names them, or else `otherwise`.
fn cause_of(error: &io::Error, otherwise: FaultCause) -> FaultCause {
    match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::EAGAIN) => FaultCause::Resources,
        Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG | libc::EROFS) => FaultCause::Storage,
        _ => otherwise,
    }
}

impl From<Failure> for CaseError {
    fn from(failure: Failure) -> Self {
        CaseError::Failed(failure)
    }
}

impl From<CallError> for CaseError {
    /// Classifies an error of the plugin.
    fn from(error: CallError) -> Self {
        if error.is_singular() {
            return diverged(error);
        }
        let status = match &error {
            CallError::Panicked { .. } => CaseStatus::Crashed,
            CallError::OutOfMemory { .. } => CaseStatus::OutOfMemory,
            CallError::Parameter { .. } | CallError::Refused { .. } | CallError::Misbehaved { .. } => {
                CaseStatus::Invalid
            }
        };
        CaseError::Failed(Failure { status, reason: error.to_string() })
    }
}

impl From<ThreadsRefused> for CaseError {
    fn from(error: ThreadsRefused) -> Self {
        fault(FaultCause::Resources, error)
    }
}

impl From<NotPositiveDefinite> for CaseError {
    fn from(error: NotPositiveDefinite) -> Self {
        diverged(error)
    }
}

impl From<KernelError> for CaseError {
    fn from(error: KernelError) -> Self {
        invalid(error)
    }
}

impl From<ExactError> for CaseError {
    fn from(error: ExactError) -> Self {
        match error {
            ExactError::Threads(refused) => refused.into(),
            ExactError::Singular(_) => diverged(error),
        }
    }
}

impl From<SystemError> for CaseError {
    fn from(error: SystemError) -> Self {
        match error {
            SystemError::Prior(PriorError::Threads(refused)) => refused.into(),
            SystemError::Prior(PriorError::Singular(_)) => diverged(error),
            _ => invalid(error),
        }
    }
}

impl From<RowsError> for CaseError {
    fn from(error: RowsError) -> Self {
        match &error {
            RowsError::Copy { source: CopyError::Io { source, .. }, .. } => {
                fault(cause_of(source, FaultCause::Dataset), &error)
            }
            RowsError::Copy { .. } | RowsError::OtherCopy { .. } | RowsError::NoFile { .. } => {
                fault(FaultCause::Dataset, &error)
            }
            _ => invalid(error),
        }
    }
}

/// Texts of the loader when the system had no memory, no descriptor or no thread for it.
const REFUSED: [&str; 4] = [
    "annot allocate memory",
    "failed to map segment",
    "Too many open files",
    "Resource temporarily unavailable",
];

impl From<ProgramError> for CaseError {
    /// Classifies a plugin that is not the planned one.
    fn from(error: ProgramError) -> Self {
        match &error {
            ProgramError::Unreadable { source, .. } | ProgramError::NotCopied { source, .. } => {
                fault(cause_of(source, FaultCause::Plugin), &error)
            }
            _ => fault(FaultCause::Plugin, &error),
        }
    }
}

impl From<LibraryError> for CaseError {
    /// A missing file is a fault; the loader's refusal of an existing file is a failure of the solver.
    fn from(error: LibraryError) -> Self {
        match &error {
            LibraryError::Open { reason, .. } if REFUSED.iter().any(|text| reason.contains(text)) => {
                fault(FaultCause::Resources, &error)
            }
            LibraryError::Open { file, reason } => match File::open(file) {
                Err(away) => fault(cause_of(&away, FaultCause::Plugin), &error),
                // The file was missing when the loader opened it. For a missing dependency, the loader names the
                // dependency instead.
                Ok(_) if reason.contains(&format!("{}: cannot open shared object file", file.display())) => {
                    fault(FaultCause::Plugin, &error)
                }
                Ok(_) => invalid(error),
            },
            _ => invalid(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn cause(error: impl Into<CaseError>) -> Option<FaultCause> {
        match error.into() {
            CaseError::Fault { cause, .. } => Some(cause),
            CaseError::Failed(_) | CaseError::Numerical(_) => None,
        }
    }

    #[test]
    fn files_that_are_away_and_resources_that_are_refused_are_faults() {
        let io = |code| io::Error::from_raw_os_error(code);
        let (path, name) = (PathBuf::from("/nowhere/x"), "wine".to_owned());
        let copy = |code| RowsError::Copy {
            name: name.clone(),
            source: CopyError::Io { path: path.clone(), source: io(code) },
        };
        let file =
            |code| file_fault(FaultCause::Solution)(FileError::Io { path: path.clone(), source: io(code) });
        let library =
            |file: &str, reason: &str| LibraryError::Open { file: file.into(), reason: reason.into() };
        assert_eq!(cause(copy(libc::ENOENT)), Some(FaultCause::Dataset));
        assert_eq!(cause(copy(libc::EMFILE)), Some(FaultCause::Resources));
        assert_eq!(cause(file(libc::ENOENT)), Some(FaultCause::Solution));
        assert_eq!(cause(file(libc::ENOSPC)), Some(FaultCause::Storage));
        assert_eq!(cause(library("/nowhere/x.so", "no such file")), Some(FaultCause::Plugin));
        assert_eq!(
            cause(library("/bin/sh", "x: failed to map segment from shared object")),
            Some(FaultCause::Resources)
        );
        assert_eq!(
            cause(library("/bin/sh", "/bin/sh: cannot open shared object file: No such file or directory")),
            Some(FaultCause::Plugin)
        );
        assert_eq!(cause(library("/bin/sh", "undefined symbol: x")), None);
        assert_eq!(cause(ThreadsRefused { threads: 4, reason: "no".into() }), Some(FaultCause::Resources));
        assert_eq!(cause(ExactError::Singular(NotPositiveDefinite { order: 1 })), None);
    }
}
