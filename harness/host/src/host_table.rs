//! The host table that one plugin receives, and the state of its callbacks.

use std::ffi::c_void;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;

use gpbench_abi::{Host, Status};

use crate::services::Services;

/// The id of an extension of the host, and how its table is found.
pub(crate) type HostExtension = (&'static str, fn() -> *const c_void);

/// The host table that one plugin receives. It lives until the process ends, as the interface promises.
pub struct HostTable {
    table: Host,
    error: Mutex<Option<String>>,
    /// The thread that the plugin is called on.
    pub(crate) thread: ThreadId,
    services: Box<dyn Services>,
}

// SAFETY: the table is never written after it is made; the pointer in it leads back to this struct, whose only
// changing part is behind a mutex, and services may be used by any thread.
unsafe impl Sync for HostTable {}

impl HostTable {
    /// The host of these callbacks, for plugins called on this thread.
    pub(crate) fn leak(callbacks: Host, services: Box<dyn Services>) -> &'static HostTable {
        let (error, thread) = (Mutex::new(None), std::thread::current().id());
        let host = Box::leak(Box::new(HostTable { table: callbacks, error, thread, services }));
        host.table.ctx = std::ptr::from_ref::<HostTable>(host).cast_mut().cast();
        host
    }

    /// The pointer that a plugin receives.
    pub(crate) fn as_ptr(&self) -> *const Host {
        &self.table
    }

    /// The host behind a plugin's pointer.
    ///
    /// # Safety
    /// `host` is null or from [`HostTable::as_ptr`].
    pub(crate) unsafe fn of(host: *const Host) -> Option<&'static HostTable> {
        // SAFETY: neither a host nor what its context points to is ever freed.
        unsafe { host.as_ref().and_then(|host| host.ctx.cast_const().cast::<HostTable>().as_ref()) }
    }

    /// Services of the process for this host.
    pub(crate) fn services(&self) -> &dyn Services {
        &*self.services
    }

    /// Stores the text of an error, in place of an earlier one.
    pub(crate) fn set_error(&self, text: String) {
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }

    /// Takes the text of the latest error.
    pub(crate) fn take_error(&self) -> Option<String> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Debug for HostTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostTable").field("table", &self.table).finish_non_exhaustive()
    }
}

/// Runs the body of a callback behind the panic wall.
pub(crate) fn wall(body: impl FnOnce() -> Status) -> Status {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(Status::PANIC)
}
