//! The host table that one plugin receives, and the state of its callbacks.

use std::ffi::c_void;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::ThreadId;

use gpbench_abi::{Host, Script, Status};
use gpbench_terms::Part;

use crate::services::Services;

/// The id of an extension of the host, and how the table of a host is found; null where that host has no such
/// extension. The host is absent if the plugin passed a null pointer.
pub(crate) type HostExtension = (&'static str, fn(Option<&'static HostTable>) -> *const c_void);

/// The host table that one plugin receives. It lives until the process ends, as the interface promises.
pub struct HostTable {
    table: Host,
    error: Mutex<Option<(Status, String)>>,
    /// The script that the plugin serves, if it is a bridge.
    script: OnceLock<Script>,
    /// Parts that the plugin has reported while it ran.
    parts: Mutex<Vec<Part>>,
    /// The thread that the plugin is called on.
    pub(crate) thread: ThreadId,
    services: Box<dyn Services>,
}

// SAFETY: the table is never written after it is made; the pointer in it leads back to this struct, whose changing
// parts are behind mutexes and a lock, the script's texts are never freed, and services may be used by any thread.
unsafe impl Sync for HostTable {}

impl HostTable {
    /// The host of these callbacks, for plugins called on this thread.
    pub(crate) fn leak(callbacks: Host, services: Box<dyn Services>) -> &'static HostTable {
        let thread = std::thread::current().id();
        let host = Box::leak(Box::new(HostTable {
            table: callbacks,
            error: Mutex::new(None),
            script: OnceLock::new(),
            parts: Mutex::default(),
            thread,
            services,
        }));
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

    /// Logs an error and stores it, in place of an earlier one; returns its status.
    pub(crate) fn refuse(&self, status: Status, text: String) -> Status {
        self.services().log(format_args!("[error {}] {text}", status.0));
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some((status, text));
        status
    }

    /// Takes the text of the latest error.
    pub(crate) fn take_error(&self) -> Option<String> {
        self.take_error_and_status().map(|(_, text)| text)
    }

    /// Takes the latest error.
    pub(crate) fn take_error_and_status(&self) -> Option<(Status, String)> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Sets the script that the plugin serves, before its entry function is called. A host has one plugin, so only the
    /// first script counts.
    #[cfg(feature = "load")]
    pub(crate) fn open_script(&self, file: &str, runtime: &str, threads: usize, memory: Option<u64>) {
        // The texts live as long as the host, until the process ends.
        let text = |text: &str| gpbench_abi::Str::new(text.to_owned().leak());
        self.script.get_or_init(|| Script {
            size: size_of::<Script>() as u32,
            threads: threads as u32,
            file: text(file),
            runtime: text(runtime),
            memory: memory.map_or(0, |bytes| i64::try_from(bytes).unwrap_or(i64::MAX)),
        });
    }

    /// The script that the plugin serves, if it is a bridge.
    pub(crate) fn script(&self) -> Option<&Script> {
        self.script.get()
    }

    /// Keeps a part that the plugin has reported, unless it is known or there are `most` already.
    pub(crate) fn add_part(&self, part: Part, most: usize) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if parts.len() < most && !parts.contains(&part) {
            parts.push(part);
        }
    }

    /// The parts that the plugin has reported.
    pub(crate) fn found_parts(&self) -> Vec<Part> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
