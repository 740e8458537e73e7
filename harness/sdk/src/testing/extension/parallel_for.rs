//! The host's threads: here one, which takes the items in reverse, since nothing may depend on their order.

use std::ffi::c_void;

use gpbench_abi as abi;
use gpbench_abi::Status;

use super::answer;
use crate::text::text;

static TABLE: abi::ParallelFor =
    abi::ParallelFor { size: size_of::<abi::ParallelFor>() as u32, reserved: 0, run: Some(run) };

/// The host's lookup, of which this is the only extension.
pub(in crate::testing) unsafe extern "C" fn of_host(
    _host: *const abi::Host,
    id: *const abi::Str,
) -> *const c_void {
    // SAFETY: a live text.
    let id = unsafe { text(&*id) };
    answer((id == Ok(abi::id::PARALLEL_FOR)).then_some(&TABLE))
}

unsafe extern "C" fn run(
    _host: *const abi::Host,
    n: i64,
    body: Option<unsafe extern "C" fn(ctx: *mut c_void, i: i64)>,
    ctx: *mut c_void,
) -> Status {
    let Some(body) = body else { return Status::INVALID_ARGUMENT };
    for i in (0..n).rev() {
        // SAFETY: the caller's own function and context.
        unsafe { body(ctx, i) };
    }
    Status::DONE
}
