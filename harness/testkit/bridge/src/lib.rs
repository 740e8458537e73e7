//! A bridge for tests of the harness: serves scripts `x.stub`, whose language is a list of facts; see `script.rs`.
//!
//! It describes one solver, which solves by conjugate gradients, refuses to prepare a problem of other sizes than those
//! it got ready for, and uses processor time and memory in a child process.

#![warn(missing_docs)]

mod child;
#[path = "../../hostile/src/honest.rs"]
mod honest;
mod parts;
mod script;
mod solver;

use std::ffi::c_void;
use std::sync::OnceLock;

use gpbench_sdk::abi::{self, Status};
use gpbench_sdk::{Error, Result, export};

use script::Script;

/// The host, and the script that it asked for.
pub(crate) struct Served {
    host: &'static abi::Host,
    pub(crate) script: Script,
}

// SAFETY: the host's functions may be called from any thread, and its table is never written.
unsafe impl Sync for Served {}
// SAFETY: as above.
unsafe impl Send for Served {}

static SERVED: OnceLock<Served> = OnceLock::new();

/// The script that this process serves.
pub(crate) fn served() -> &'static Served {
    SERVED.get().expect("set by the entry function")
}

impl Served {
    /// An extension of the host.
    pub(crate) fn extension<T>(&self, id: &'static str) -> Result<&'static T> {
        extension(self.host, id)
    }

    /// The host, for calls of its extensions.
    pub(crate) fn host(&self) -> &'static abi::Host {
        self.host
    }
}

fn extension<T>(host: &'static abi::Host, id: &'static str) -> Result<&'static T> {
    let missing = || Error::Unsupported(format!("the host does not offer `{id}`"));
    let ask = host.extension.ok_or_else(missing)?;
    // SAFETY: a live host and a static id; the answer is such a table that lives as long as the host, or null.
    let answer: *const c_void = unsafe { ask(host, &abi::Str::new(id)) };
    // SAFETY: as above.
    unsafe { answer.cast::<T>().as_ref() }.ok_or_else(missing)
}

/// The text of the interface.
///
/// # Safety
/// The text lives as long as the process.
unsafe fn text(text: abi::Str) -> Result<&'static str> {
    // SAFETY: by this function's contract.
    let bytes = unsafe { std::slice::from_raw_parts(text.ptr.cast::<u8>(), text.len as usize) };
    std::str::from_utf8(bytes).map_err(|_| Error::new("a text is not UTF-8"))
}

/// Reads the script and describes it.
fn describe(host: &'static abi::Host) -> Result<&'static abi::Plugin> {
    let asked: &abi::Script = extension(host, abi::id::SCRIPT)?;
    // SAFETY: the texts of the host's script live as long as the host.
    let (file, runtime) =
        unsafe { (text(asked.file)?, if asked.runtime.len == 0 { "" } else { text(asked.runtime)? }) };
    let script = Script::read(file, runtime)?;
    let mut solver = export::solver::<solver::Stub>();
    solver.id = abi::Str::new(script.id.clone().leak());
    let parts = parts::describe(&script)?.leak();
    SERVED.get_or_init(|| Served { host, script });
    let plugin = export::plugin("stub", env!("CARGO_PKG_VERSION"), vec![solver], Vec::new());
    Ok(Box::leak(Box::new(abi::Plugin {
        parts: parts.as_ptr(),
        n_parts: parts.len() as i64,
        // SAFETY: a table of integers and pointers to static data.
        ..unsafe { std::ptr::read(plugin) }
    })))
}

/// The bridge's entry.
///
/// # Safety
/// `host` is null or points to the host's table, which lives until the process ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpbench_plugin_v1(host: *const abi::Host) -> *const abi::Plugin {
    // SAFETY: promised by the caller.
    let Some(host) = (unsafe { host.as_ref() }) else { return std::ptr::null() };
    match describe(host) {
        Ok(plugin) => plugin,
        Err(error) => {
            let status =
                if matches!(error, Error::Unsupported(_)) { Status::UNSUPPORTED } else { Status::ERROR };
            let text = error.to_string();
            if let Some(set_error) = host.set_error {
                let text = abi::Str { ptr: text.as_ptr().cast(), len: text.len() as i64 };
                // SAFETY: a live host; the text is copied before the call returns.
                unsafe { set_error(host, status, &text) };
            }
            std::ptr::null()
        }
    }
}
