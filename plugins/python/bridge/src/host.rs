//! The host's table, and the panic wall around the calls that it makes.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use gpbench_abi::{self as abi, Status, Str};

use crate::failure::{Failure, Result};

/// The host, which lives until the process ends.
#[derive(Debug, Clone, Copy)]
pub struct Host(&'static abi::Host);

impl Host {
    /// Checks the host's table. None if it cannot be used.
    ///
    /// # Safety
    /// `host` is null or points to the host's table, which lives until the process ends.
    pub unsafe fn new(host: *const abi::Host) -> Option<Host> {
        // SAFETY: promised by the caller; only the first field is read before the size is known.
        if host.is_null() || unsafe { (*host).size } < size_of::<abi::Host>() as u32 {
            return None;
        }
        // SAFETY: as above.
        let host = unsafe { &*host };
        host.set_error.is_some().then_some(Host(host))
    }

    /// Writes a line to the case's log.
    pub fn log(self, level: i32, text: &str) {
        if let Some(log) = self.0.log {
            // SAFETY: live host; the text is copied before the call returns.
            unsafe { log(self.0, level, &borrow(text)) };
        }
    }

    /// Counts a child process as part of this one, where the host can.
    pub fn adopt(self, pid: u32) {
        let Some(adopt) = self.extension::<abi::Process>(abi::id::PROCESS).and_then(|table| table.adopt)
        else {
            return;
        };
        // SAFETY: live host.
        let status = unsafe { adopt(self.0, i64::from(pid)) };
        if status != Status::DONE {
            let text = format!("the host does not count the Python process: status {}", status.0);
            self.log(abi::log_level::WARNING, &text);
        }
    }

    /// Reports a part of the library that was found while it runs, where the host takes such reports.
    pub fn add_part(self, part: &abi::Part) {
        let Some(add) = self.extension::<abi::Parts>(abi::id::PARTS).and_then(|table| table.add) else {
            return;
        };
        // SAFETY: live host; the part is copied before the call returns.
        unsafe { add(self.0, part) };
    }

    /// Asks for an extension.
    pub fn extension<T>(self, id: &'static str) -> Option<&'static T> {
        let ask = self.0.extension?;
        // SAFETY: live host, static id; by its contract the answer is a `T` that lives as long as the host.
        unsafe { answer(ask(self.0, &Str::new(id))) }
    }

    /// Runs the body of a call: an error or a panic becomes a status, and its text goes to the host.
    pub fn wall(self, body: impl FnOnce() -> Result<()>) -> Status {
        let (status, text) = match catch_unwind(AssertUnwindSafe(body)) {
            Ok(Ok(())) => return Status::DONE,
            Ok(Err(Failure::Stopped)) => return Status::STOPPED,
            Ok(Err(failure)) => (failure.status(), failure.to_string()),
            Err(payload) => {
                let text = format!("the bridge to Python panicked: {}", panic_text(&*payload));
                // Dropping a payload could panic again.
                std::mem::forget(payload);
                (Status::PANIC, text)
            }
        };
        if let Some(set_error) = self.0.set_error {
            // SAFETY: live host; the text is copied before the call returns.
            unsafe { set_error(self.0, status, &borrow(&text)) };
        }
        status
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("(no text)")
}

/// Reads the answer to a request for an extension: none if it is null or smaller than it should be.
///
/// # Safety
/// `pointer` is null or points to a `T`, or a shorter forerunner of it, that lives during `'a` and
/// begins with its size, as every extension does.
pub unsafe fn answer<'a, T>(pointer: *const c_void) -> Option<&'a T> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: promised by the caller.
    let size = unsafe { pointer.cast::<u32>().read() };
    // SAFETY: as above, and large enough to be one.
    (size as usize >= size_of::<T>()).then(|| unsafe { &*pointer.cast::<T>() })
}

/// A text as the interface has it, valid as long as `text` is.
pub fn borrow(text: &str) -> Str {
    Str { ptr: text.as_ptr().cast(), len: text.len() as i64 }
}

/// Copies a text of the interface.
///
/// # Safety
/// If `text.ptr` is not null it points to `text.len` bytes.
pub unsafe fn read(text: &Str) -> Result<String> {
    let bytes = match usize::try_from(text.len) {
        Ok(0) => &[],
        // SAFETY: promised by the caller.
        Ok(length) if !text.ptr.is_null() => unsafe {
            std::slice::from_raw_parts(text.ptr.cast::<u8>(), length)
        },
        _ => return Err(Failure::invalid("the host passed a text without bytes")),
    };
    let text = std::str::from_utf8(bytes);
    text.map(str::to_owned).map_err(|_| Failure::invalid("the host passed a text that is not UTF-8"))
}
