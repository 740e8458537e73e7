//! The services of the host: errors and log.

use std::sync::Mutex;

use gpbench_abi as abi;
use gpbench_abi::Status;

use super::Failure;
use super::extension::parallel_for;
use crate::text::text;

/// The host's services. Its table is leaked, since a host lives until the process ends.
pub(super) struct TestHost {
    table: &'static abi::Host,
    error: &'static Mutex<Option<Failure>>,
}

impl TestHost {
    pub(super) fn new() -> TestHost {
        let error: &'static Mutex<Option<Failure>> = Box::leak(Box::new(Mutex::new(None)));
        let table = Box::leak(Box::new(abi::Host {
            size: size_of::<abi::Host>() as u32,
            minor: abi::MINOR,
            ctx: (&raw const *error).cast_mut().cast(),
            set_error: Some(set_error),
            log: Some(log),
            extension: Some(parallel_for::of_host),
        }));
        TestHost { table, error }
    }

    pub(super) fn table(&self) -> *const abi::Host {
        self.table
    }

    /// Ok for `DONE`, or else the failure.
    pub(super) fn outcome(&self, status: Status) -> Result<(), Failure> {
        if status == Status::DONE {
            return Ok(());
        }
        let reported = self.error.lock().ok().and_then(|mut error| error.take());
        Err(reported.unwrap_or(Failure { status, text: String::new() }))
    }
}

unsafe extern "C" fn set_error(host: *const abi::Host, status: Status, why: *const abi::Str) {
    // SAFETY: called with the table of `TestHost`, whose context is this, and a live text.
    let (error, why) = unsafe { (&*(*host).ctx.cast_const().cast::<Mutex<Option<Failure>>>(), text(&*why)) };
    if let Ok(mut error) = error.lock() {
        *error = Some(Failure { status, text: why.unwrap_or("(not UTF-8)").to_owned() });
    }
}

unsafe extern "C" fn log(_host: *const abi::Host, level: i32, line: *const abi::Str) {
    // SAFETY: a live text.
    eprintln!("[{level}] {}", unsafe { text(&*line) }.unwrap_or("(not UTF-8)"));
}
