//! The wrapper that every callback of a session runs in.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::ThreadId;

use gpbench_abi::Status;

use crate::services::{BlasThreads, Services};

/// Reason why a call of the plugin was refused.
pub(crate) enum Refusal {
    /// The budget is spent.
    Stopped,
    /// An argument is wrong.
    Invalid(String),
    /// The problem does not support the request.
    Unsupported(String),
}

impl From<String> for Refusal {
    fn from(what: String) -> Self {
        Refusal::Invalid(what)
    }
}

/// State shared by all callbacks of one session.
pub(crate) struct Callbacks {
    /// Whether BLAS has more than one thread while the plugin runs.
    pub(crate) blas_raised: Cell<bool>,
    complaint: RefCell<Option<String>>,
    thread: ThreadId,
    services: &'static dyn Services,
}

impl Callbacks {
    /// Callbacks that are called from this thread.
    pub(crate) fn new(services: &'static dyn Services) -> Callbacks {
        let thread = std::thread::current().id();
        Callbacks { blas_raised: Cell::new(false), complaint: RefCell::new(None), thread, services }
    }

    /// Runs the body of a callback: behind the panic wall, on the right thread,
    /// with one BLAS thread.
    pub(crate) fn serve(&self, call: &str, body: impl FnOnce() -> Result<(), Refusal>) -> Status {
        let on_thread = || -> Result<(), Refusal> {
            if std::thread::current().id() != self.thread {
                return Err(Refusal::Invalid("was called from another thread than the plugin was".into()));
            }
            let _one_blas_thread = self.blas_raised.get().then(|| BlasThreads::set(self.services, 1));
            body()
        };
        let (status, complaint) = match catch_unwind(AssertUnwindSafe(on_thread)) {
            Ok(Ok(())) => return Status::DONE,
            Ok(Err(Refusal::Stopped)) => return Status::STOPPED,
            Ok(Err(Refusal::Invalid(what))) => (Status::INVALID_ARGUMENT, what),
            Ok(Err(Refusal::Unsupported(what))) => (Status::UNSUPPORTED, what),
            Err(_) => (Status::PANIC, "panicked inside the harness".to_owned()),
        };
        let complaint = format!("{call}: {complaint}");
        self.services.log(format_args!("[host] {complaint}"));
        if std::thread::current().id() == self.thread {
            self.complaint.replace(Some(complaint));
        }
        status
    }

    /// Message about the latest call with invalid arguments.
    pub(crate) fn take_complaint(&self) -> Option<String> {
        self.complaint.take()
    }
}
