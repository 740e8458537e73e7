//! The services that a plugin finds in [`abi::Host`]: error texts, a log, threads.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use gpbench_abi::{self as abi, Host, ParallelFor, Status, Str, log_level};
use gpbench_gp::blas::ThreadGuard;
use rayon::ThreadPool;
use rayon::prelude::*;

use super::views;

/// The host as one plugin sees it. Lives until the process ends, as the
/// interface promises.
#[derive(Debug)]
pub struct HostTable {
    table: Host,
    parallel_for: ParallelFor,
    error: Mutex<Option<String>>,
    thread: std::thread::ThreadId,
    pool: Option<Arc<ThreadPool>>,
}

// SAFETY: the tables are never written after they are made; the context pointer in them leads back
// to this struct, whose only changing part is behind a mutex.
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
            parallel_for: ParallelFor {
                size: size_of::<ParallelFor>() as u32,
                reserved: 0,
                run: Some(parallel_for),
            },
            error: Mutex::new(None),
            thread: std::thread::current().id(),
            pool,
        }));
        host.table.ctx = std::ptr::from_ref::<HostTable>(host).cast_mut().cast();
        host
    }

    /// What to hand to the plugin.
    pub(super) fn as_ptr(&self) -> *const Host {
        &self.table
    }

    /// Takes the text that went with the latest error.
    pub(super) fn take_error(&self) -> Option<String> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Runs a callback body behind the panic wall.
fn wall(body: impl FnOnce() -> Status) -> Status {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(Status::PANIC)
}

/// # Safety
/// `host` is null or was made by [`HostTable::new`].
unsafe fn table<'a>(host: *const Host) -> Option<&'a HostTable> {
    // SAFETY: a host made by `HostTable::new` lives for ever, and so does what its context leads to.
    unsafe { host.as_ref().and_then(|host| host.ctx.cast::<HostTable>().as_ref()) }
}

/// # Safety
/// `line` is null or points to a text.
unsafe fn line_of(line: *const Str) -> String {
    // SAFETY: by this function's contract.
    let line =
        unsafe { line.as_ref().ok_or("(null)".to_owned()).and_then(|line| views::text(*line, "(the text)")) };
    line.unwrap_or_else(|wrong| wrong)
}

unsafe extern "C" fn set_error(host: *const Host, status: Status, text: *const Str) {
    wall(|| {
        // SAFETY: the plugin passes its host and a text, or null.
        let (host, text) = unsafe { (table(host), line_of(text)) };
        eprintln!("[error {}] {text}", status.0);
        if let Some(host) = host {
            *host.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
        }
        Status::DONE
    });
}

unsafe extern "C" fn log(_host: *const Host, level: i32, text: *const Str) {
    wall(|| {
        // SAFETY: the plugin passes a text or null.
        let text = unsafe { line_of(text) };
        match level {
            log_level::WARNING => eprintln!("[warning] {text}"),
            log_level::INFO => eprintln!("[info] {text}"),
            log_level::DEBUG => eprintln!("[debug] {text}"),
            other => eprintln!("[level {other}] {text}"),
        }
        Status::DONE
    });
}

unsafe extern "C" fn extension(host: *const Host, id: *const Str) -> *const c_void {
    let mut answer = std::ptr::null();
    wall(|| {
        // SAFETY: the plugin passes its host and a text, or null.
        let (host, id) = unsafe { (table(host), line_of(id)) };
        if let Some(host) = host.filter(|_| id == abi::id::PARALLEL_FOR) {
            answer = std::ptr::from_ref(&host.parallel_for).cast();
        }
        Status::DONE
    });
    answer
}

/// The plugin's context of a loop, which it shares between threads by asking for one.
#[derive(Clone, Copy)]
struct Shared(*mut c_void);

// SAFETY: handing the pointer to several threads is what the plugin asks for.
unsafe impl Sync for Shared {}

impl Shared {
    /// The pointer. A closure that calls this captures the struct, not the bare pointer.
    fn get(&self) -> *mut c_void {
        self.0
    }
}

unsafe extern "C" fn parallel_for(
    host: *const Host,
    n: i64,
    body: Option<unsafe extern "C" fn(ctx: *mut c_void, i: i64)>,
    ctx: *mut c_void,
) -> Status {
    wall(|| {
        // SAFETY: the plugin passes its host or null.
        let Some(host) = (unsafe { table(host) }) else { return Status::INVALID_ARGUMENT };
        let Some(body) = body.filter(|_| n >= 0) else { return Status::INVALID_ARGUMENT };
        if std::thread::current().id() != host.thread {
            eprintln!("[warning] parallel_for was called from another thread than the solver was");
            return Status::INVALID_ARGUMENT;
        }
        let shared = Shared(ctx);
        // SAFETY: the plugin says that `body` takes `ctx` and any i in 0..n on any thread.
        let call = |i: i64| unsafe { body(shared.get(), i) };
        match &host.pool {
            None => (0..n).for_each(call),
            Some(pool) => {
                let _one_blas_thread = ThreadGuard::raise(1);
                pool.install(|| (0..n).into_par_iter().for_each(call));
            }
        }
        Status::DONE
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    unsafe extern "C" fn add(ctx: *mut c_void, i: i64) {
        // SAFETY: the test passes a counter.
        let sum = unsafe { &*ctx.cast::<AtomicU64>() };
        sum.fetch_add(i as u64, Ordering::Relaxed);
    }

    #[test]
    fn a_loop_visits_every_index_once() {
        let host = HostTable::new(Some(gpbench_gp::thread_pool(2)));
        let sum = AtomicU64::new(0);
        // SAFETY: a live host, a text, and a counter that outlives the loop.
        unsafe {
            let answer = extension(host.as_ptr(), &Str::new(abi::id::PARALLEL_FOR));
            let run = (*answer.cast::<ParallelFor>()).run.unwrap();
            let ctx = std::ptr::from_ref(&sum).cast_mut().cast();
            assert_eq!(run(host.as_ptr(), 1000, Some(add), ctx), Status::DONE);
            assert_eq!(sum.load(Ordering::Relaxed), 499_500);
            assert_eq!(run(host.as_ptr(), -1, Some(add), ctx), Status::INVALID_ARGUMENT);
            assert_eq!(run(host.as_ptr(), 3, None, ctx), Status::INVALID_ARGUMENT);
            assert!(extension(host.as_ptr(), &Str::new("gpbench.unheard_of/1")).is_null());
        }
    }

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
}
