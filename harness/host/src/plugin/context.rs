//! What the callbacks of [`gpbench_abi::Host`] share.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;

use gpbench_abi::{Host, Status};
use rayon::ThreadPool;

/// The id of an extension of the host, and how its table is found.
pub(super) type HostExtension = (&'static str, fn() -> *const c_void);

/// The latest error of a plugin, and the threads that may serve it.
#[derive(Debug)]
pub(super) struct Context {
    error: Mutex<Option<String>>,
    /// The thread that the plugin is called on.
    pub(super) thread: ThreadId,
    /// Threads for the plugin's loops; without them, loops run on its own.
    pub(super) pool: Option<Arc<ThreadPool>>,
}

impl Context {
    /// A context for plugins called on this thread.
    pub(super) fn new(pool: Option<Arc<ThreadPool>>) -> Context {
        Context { error: Mutex::new(None), thread: std::thread::current().id(), pool }
    }

    /// The context of a host.
    ///
    /// # Safety
    /// `host` is null, or its context is null or a [`Context`] that lives as long as the process.
    pub(super) unsafe fn of(host: *const Host) -> Option<&'static Context> {
        // SAFETY: by this function's contract.
        unsafe { host.as_ref().and_then(|host| host.ctx.cast_const().cast::<Context>().as_ref()) }
    }

    /// Keeps the text of an error, in place of an earlier one.
    pub(super) fn set_error(&self, text: String) {
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }

    /// Takes the text of the latest error.
    pub(super) fn take_error(&self) -> Option<String> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Runs the body of a callback behind the panic wall.
pub(super) fn wall(body: impl FnOnce() -> Status) -> Status {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(Status::PANIC)
}
