//! The services that a plugin finds in [`abi::Host`]: error texts, a log, threads.

use std::ffi::c_void;
use std::sync::Arc;

use gpbench_abi::{self as abi, Host, Status, Str};
use gpbench_terms::LogLevel;
use rayon::ThreadPool;

use super::host_table::{HostTable, wall};
use super::{extension, views};

impl HostTable {
    /// A host for plugins called on this thread; `pool` runs their loops, and
    /// without one they run here.
    pub fn new(pool: Option<Arc<ThreadPool>>) -> &'static HostTable {
        let callbacks = Host {
            size: size_of::<Host>() as u32,
            minor: abi::MINOR,
            ctx: std::ptr::null_mut(),
            set_error: Some(set_error),
            log: Some(log),
            extension: Some(extension),
        };
        HostTable::leak(callbacks, pool)
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
        let (host, text) = unsafe { (HostTable::of(host), text_of(text)) };
        crate::log::line(format_args!("[error {}] {text}", status.0));
        if let Some(host) = host {
            host.set_error(text);
        }
        Status::DONE
    });
}

unsafe extern "C" fn log(_host: *const Host, level: i32, text: *const Str) {
    wall(|| {
        // SAFETY: the plugin passes a text or null.
        let text = unsafe { text_of(text) };
        match LogLevel::from_number(level) {
            Some(level) => crate::log::line(format_args!("[{level}] {text}")),
            None => crate::log::line(format_args!("[level {level}] {text}")),
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
