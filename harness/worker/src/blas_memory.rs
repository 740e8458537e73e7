//! Memory for OpenBLAS, which repeats a refused allocation endlessly.

use gpbench_gp::blas::{BuffersRefused, reserve_buffers};
use gpbench_record::FaultCause;

use crate::failure::{CaseError, fault};
use crate::process;

/// The system refuses the buffers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct Refused {
    /// Why, and what to do.
    reason: String,
}

impl From<Refused> for CaseError {
    fn from(refused: Refused) -> Self {
        fault(FaultCause::Resources, refused)
    }
}

/// Makes sure that OpenBLAS has its buffers where `threads` threads call it, each by itself or one of them with as many
/// threads of OpenBLAS, before the data take the memory. Where the address space is not limited, only one buffer is
/// reserved, and the others are allocated as they are needed.
///
/// Every verb that computes calls this before it does anything else.
///
/// # Errors
/// Where the system refuses the buffers.
pub(crate) fn reserve(threads: usize) -> Result<(), Refused> {
    // Threads of a plugin's own, for which OpenBLAS keeps buffers too, are reserved when they are started.
    let limit = process::address_space_limit();
    let count = if limit.is_some() { threads.max(1) } else { 1 };
    reserve_buffers(count).map_err(|refused| Refused { reason: reason(refused, limit) })
}

/// Whether OpenBLAS may start this number of threads, which keep a buffer each.
pub(crate) fn allows_threads(threads: usize) -> bool {
    threads <= 1 || process::address_space_limit().is_none() || reserve_buffers(2 * threads - 1).is_ok()
}

/// Why the buffers are refused, and what to do.
fn reason(refused: BuffersRefused, limit: Option<u64>) -> String {
    match limit {
        None => refused.to_string(),
        Some(u64::MAX) => {
            format!("{refused}, and promises no more memory than it has (overcommit_memory is 2)")
        }
        Some(limit) => format!(
            "{refused}; the address space of a process is limited to {} MiB: raise the limit, as by `ulimit -v \
             unlimited` or h_vmem of a cluster, or use fewer threads",
            limit >> 20
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_there_is_is_no_fault() {
        assert!(reserve(2).is_ok() && allows_threads(2));
    }

    #[test]
    fn a_refusal_names_the_limit_and_the_remedy() {
        let refused = BuffersRefused { count: 2 };
        let told = reason(refused, Some(3 << 30));
        assert!(told.contains("2 x 130 MiB of address space"), "{told}");
        assert!(told.contains("limited to 3072 MiB: raise the limit, as by `ulimit -v unlimited`"), "{told}");
        assert_eq!(reason(refused, None), refused.to_string());
    }
}
