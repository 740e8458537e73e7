//! Extensions of the operator and of the problem: a file each, which adds methods to [`Operator`](crate::Operator)
//! or [`Problem`](crate::Problem).
//!
//! The host's threads, `gpbench.parallel_for/1`, are in [`workers`](crate::workers).

mod block;
mod columns;
mod features;
mod inputs;
mod mixed;
mod rows;
mod state;
mod targets;
mod trace;
mod volatile;

use std::ffi::c_void;

use crate::Error;

pub use inputs::Inputs;
pub(crate) use inputs::read_inputs;
pub use targets::Targets;

/// Reads the answer to a request for an extension: none if it is null or smaller than it should be.
///
/// # Safety
/// `pointer` is null or points to a `T`, or a shorter forerunner of it, that lives during `'a` and
/// begins with its size, as every extension does.
pub(crate) unsafe fn answer<'a, T>(pointer: *const c_void) -> Option<&'a T> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: promised by the caller.
    let size = unsafe { pointer.cast::<u32>().read() };
    // SAFETY: as above, and large enough to be one.
    (size as usize >= size_of::<T>()).then(|| unsafe { &*pointer.cast::<T>() })
}

/// The error of a call that needs an extension which the host lacks.
pub(crate) fn missing(id: &str) -> Error {
    Error::Unsupported(format!("the host does not offer `{id}` here"))
}
