//! A check of memory for OpenBLAS, which repeats a refused allocation endlessly.

use std::hint::black_box;

use gpbench_record::FaultCause;

use crate::failure::{CaseError, fault};

/// Bytes that OpenBLAS allocates at its first call, independently of the size of the matrices, and a few more.
const BUFFER: usize = 130 << 20;

/// Checks that OpenBLAS can allocate its buffer. No page of the buffer is touched, and it is freed.
///
/// # Errors
/// A fault where the system refuses the buffer.
pub(crate) fn check() -> Result<(), CaseError> {
    let mut buffer = Vec::<u8>::new();
    let reserved = buffer.try_reserve_exact(BUFFER);
    black_box(&buffer);
    reserved.map_err(|_| {
        let reason = format!("the system refuses {} MiB of memory, which OpenBLAS needs", BUFFER >> 20);
        fault(FaultCause::Resources, reason)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_there_is_is_no_fault() {
        assert!(check().is_ok());
    }
}
