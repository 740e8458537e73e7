//! The services that a plugin finds in [`abi::Host`]: error texts, a log, threads.

use std::ffi::c_void;
use std::sync::Arc;

use gpbench_abi::{self as abi, Host, Status, Str, log_level};
use rayon::ThreadPool;

use super::context::{Context, wall};
use super::{extension, views};

/// The host as one plugin sees it. Lives until the process ends, as the
/// interface promises.
#[derive(Debug)]
pub struct HostTable {
    table: Host,
    context: Context,
}

// SAFETY: the table is never written after it is made; the pointer in it leads to the context beside it, whose only
// changing part is behind a mutex.
unsafe impl Sync for HostTable {}
// SAFETY: as above; nothing here belongs to a thread.
unsafe impl Send for HostTable {}

impl HostTable {
    /// A host for plugins called on this thread; `pool` runs their loops, and
    /// without one they run here.
    pub fn new(pool: Option<Arc<ThreadPool>>) -> &'static HostTable {
        let host = Box::leak(Box::new(HostTable {
            table: Host {
                size: size_of::<Host>() as u32,
                minor: abi::MINOR,
                ctx: std::ptr::null_mut(),
                set_error: Some(set_error),
                log: Some(log),
                extension: Some(extension),
            },
            context: Context::new(pool),
        }));
        host.table.ctx = std::ptr::from_ref(&host.context).cast_mut().cast();
        host
    }

    /// What to hand to the plugin.
    pub(super) fn as_ptr(&self) -> *const Host {
        &self.table
    }

    /// Takes the text that went with the latest error.
    pub(super) fn take_error(&self) -> Option<String> {
        self.context.take_error()
    }
}

/// The text, or what is wrong with it.
///
/// # Safety
/// `text` is null or points to a text.
unsafe fn text_of(text: *const Str) -> String {
    // SAFETY: by this function's contract.
    unsafe { views::text_at(text, "(the text)") }.unwrap_or_else(|wrong| wrong)
}

unsafe extern "C" fn set_error(host: *const Host, status: Status, text: *const Str) {
    wall(|| {
        // SAFETY: the plugin passes its host and a text, or null.
        let (context, text) = unsafe { (Context::of(host), text_of(text)) };
        eprintln!("[error {}] {text}", status.0);
        if let Some(context) = context {
            context.set_error(text);
        }
        Status::DONE
    });
}

unsafe extern "C" fn log(_host: *const Host, level: i32, text: *const Str) {
    wall(|| {
        // SAFETY: the plugin passes a text or null.
        let text = unsafe { text_of(text) };
        match level {
            log_level::WARNING => eprintln!("[warning] {text}"),
            log_level::INFO => eprintln!("[info] {text}"),
            log_level::DEBUG => eprintln!("[debug] {text}"),
            other => eprintln!("[level {other}] {text}"),
        }
        Status::DONE
    });
}

unsafe extern "C" fn extension(_host: *const Host, id: *const Str) -> *const c_void {
    let mut answer = std::ptr::null();
    wall(|| {
        // SAFETY: the plugin passes a text or null.
        answer = extension::of_host(&unsafe { text_of(id) });
        Status::DONE
    });
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_error_is_kept() {
        let host = HostTable::new(None);
        // SAFETY: a live host and texts.
        unsafe {
            set_error(host.as_ptr(), Status::ERROR, &Str::new("first"));
            set_error(host.as_ptr(), Status::ERROR, &Str::new("second"));
            set_error(std::ptr::null(), Status::ERROR, std::ptr::null());
        }
        assert_eq!(host.take_error().as_deref(), Some("second"));
        assert_eq!(host.take_error(), None);
    }

    #[test]
    fn only_known_extensions_are_found() {
        // SAFETY: texts.
        unsafe {
            assert!(!extension(std::ptr::null(), &Str::new(abi::id::PARALLEL_FOR)).is_null());
            assert!(extension(std::ptr::null(), &Str::new("gpbench.unknown/1")).is_null());
        }
    }
}
