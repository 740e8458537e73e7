//! `gpbench.parallel_for/1`: loops on the host's threads.

use std::ffi::c_void;

use gpbench_abi::{self as abi, Host, ParallelFor, Status};

use crate::host_table::{HostExtension, HostTable, wall};
use crate::services::BlasThreads;

pub(super) const EXTENSION: HostExtension = (abi::id::PARALLEL_FOR, |_| std::ptr::from_ref(&TABLE).cast());

static TABLE: ParallelFor =
    ParallelFor { size: size_of::<ParallelFor>() as u32, reserved: 0, run: Some(run) };

/// The plugin's context of a loop. A plugin that requests a loop allows threads to share its context.
#[derive(Clone, Copy)]
struct Shared(*mut c_void);

// SAFETY: the plugin requests that the pointer is passed to several threads.
unsafe impl Sync for Shared {}

impl Shared {
    /// The pointer. A closure that calls this captures the struct, not the bare pointer.
    fn get(&self) -> *mut c_void {
        self.0
    }
}

unsafe extern "C" fn run(
    host: *const Host,
    n: i64,
    body: Option<unsafe extern "C" fn(ctx: *mut c_void, i: i64)>,
    ctx: *mut c_void,
) -> Status {
    wall(|| {
        // SAFETY: the plugin passes its host or null.
        let Some(host) = (unsafe { HostTable::of(host) }) else { return Status::INVALID_ARGUMENT };
        let Some(body) = body.filter(|_| n >= 0) else { return Status::INVALID_ARGUMENT };
        if std::thread::current().id() != host.thread {
            host.services().log(format_args!(
                "[warning] parallel_for was called from another thread than the solver was"
            ));
            return Status::INVALID_ARGUMENT;
        }
        let shared = Shared(ctx);
        // SAFETY: the plugin says that `body` takes `ctx` and any i in 0..n on any thread.
        let call = |i: usize| unsafe { body(shared.get(), i as i64) };
        let _one_blas_thread = BlasThreads::set(host.services(), 1);
        host.services().for_each(n as usize, &call);
        Status::DONE
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    unsafe extern "C" fn add(ctx: *mut c_void, i: i64) {
        // SAFETY: the test passes a counter.
        let sum = unsafe { &*ctx.cast::<AtomicU64>() };
        sum.fetch_add(i as u64, Ordering::Relaxed);
    }

    #[test]
    fn a_loop_visits_every_index_once() {
        let host = HostTable::new(Box::new(())).as_ptr();
        let sum = AtomicU64::new(0);
        // SAFETY: a live host, a text, and a counter that outlives the loop.
        unsafe {
            let ctx = std::ptr::from_ref(&sum).cast_mut().cast();
            assert_eq!(run(host, 1000, Some(add), ctx), Status::DONE);
            assert_eq!(sum.load(Ordering::Relaxed), 499_500);
            assert_eq!(run(host, -1, Some(add), ctx), Status::INVALID_ARGUMENT);
            assert_eq!(run(host, 3, None, ctx), Status::INVALID_ARGUMENT);
        }
    }
}
