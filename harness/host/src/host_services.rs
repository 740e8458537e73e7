//! The services that a plugin finds in [`abi::Host`]: error texts, a log, threads.

use std::ffi::c_void;

use gpbench_abi::{self as abi, Host, Status, Str};
use gpbench_terms::LogLevel;

use crate::host_table::{HostTable, wall};
use crate::services::Services;
use crate::{extension, views};

impl HostTable {
    /// A host for plugins called on this thread, which lives until the process ends.
    pub fn new(services: Box<dyn Services>) -> &'static HostTable {
        let callbacks = Host {
            size: size_of::<Host>() as u32,
            minor: abi::MINOR,
            ctx: std::ptr::null_mut(),
            set_error: Some(set_error),
            log: Some(log),
            extension: Some(extension),
        };
        HostTable::leak(callbacks, services)
    }
}

/// The text, or the reason why it is invalid.
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
        if let Some(host) = host {
            host.refuse(status, text);
        }
        Status::DONE
    });
}

unsafe extern "C" fn log(host: *const Host, level: i32, text: *const Str) {
    wall(|| {
        // SAFETY: the plugin passes its host and a text, or null.
        let (host, text) = unsafe { (HostTable::of(host), text_of(text)) };
        if let Some(host) = host {
            match LogLevel::from_number(level) {
                Some(level) => host.services().log(format_args!("[{level}] {text}")),
                None => host.services().log(format_args!("[level {level}] {text}")),
            }
        }
        Status::DONE
    });
}

unsafe extern "C" fn extension(host: *const Host, id: *const Str) -> *const c_void {
    let mut answer = std::ptr::null();
    wall(|| {
        // SAFETY: the plugin passes its host and a text, or null.
        let (host, id) = unsafe { (HostTable::of(host), text_of(id)) };
        answer = extension::of_host(host, &id);
        Status::DONE
    });
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_error_is_kept() {
        let host = HostTable::new(Box::new(()));
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
            assert!(extension(std::ptr::null(), &Str::new(abi::id::SCRIPT)).is_null());
        }
    }
}
