//! Work on several threads, `gpbench.parallel_for/1`.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

use gpbench_abi::{Host, ParallelFor, Str, id};
use gpbench_numerics::Pool;

use crate::extension::answer;
use crate::{Error, Problem, panic_location};

/// The threads that a problem may use: the host's pool, or short-lived threads if the host offers none.
///
/// A pool of the plugin's own would compete with the host's for cores. Results do not depend on the number of threads
/// as long as each item's work depends on that item alone.
#[derive(Debug, Clone, Copy)]
pub struct Workers<'a> {
    pub(crate) threads: usize,
    pub(crate) pool: Option<(&'a Host, &'a ParallelFor)>,
}

impl Workers<'static> {
    /// Short-lived threads, for tests of a plugin's parts; a solver asks its problem instead.
    pub fn new(threads: usize) -> Workers<'static> {
        Workers { threads, pool: None }
    }
}

impl<'a> Workers<'a> {
    /// This number of the host's threads.
    pub(crate) fn of(host: &'a Host, threads: usize) -> Workers<'a> {
        let pool = host.extension.and_then(|ask| {
            // SAFETY: live host, static id; by its contract the answer is such a table that lives as long.
            unsafe { answer::<ParallelFor>(ask(host, &Str::new(id::PARALLEL_FOR))) }
        });
        let pool = pool.filter(|pool| pool.run.is_some()).map(|pool| (host, pool));
        Workers { threads, pool }
    }
}

impl<'a> Problem<'a> {
    /// The [`threads`](Self::threads) that the solver may use, ready for work.
    pub fn workers(&self) -> Workers<'a> {
        Workers::of(self.host(), self.threads())
    }
}

impl Workers<'_> {
    /// Number of threads, the calling one included.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Calls `work` once for each item, and returns when all are done. Free threads take
    /// the next item. A panic in `work` is resumed here. `work` makes no calls to the host.
    pub fn for_each<T: Send>(&self, items: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
        Pool::for_each(self, items, work);
    }

    /// What `work` returns for each item, in the order of the items, as [`for_each`](Self::for_each) calls it.
    pub fn map<T: Send, R: Send>(
        &self,
        items: impl IntoIterator<Item = T>,
        work: impl Fn(T) -> R + Sync,
    ) -> Vec<R> {
        Pool::map(self, items, work)
    }
}

impl Pool for Workers<'_> {
    fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        match self.pool {
            _ if self.threads <= 1 || count <= 1 => (0..count).for_each(work),
            Some(pool) => on_pool(pool, count, work),
            None => on_threads(self.threads.min(count), count, work),
        }
    }
}

/// Runs on threads that live as long as the call. Where the system starts fewer, these do all the work.
fn on_threads(threads: usize, count: usize, body: &(dyn Fn(usize) + Sync)) {
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                break;
            }
            body(index);
        }
    };
    std::thread::scope(|scope| {
        // Nothing waits for a thread that did not start: each takes the items that are left.
        let refused = |_: &usize| Builder::new().spawn_scoped(scope, work).is_err();
        let _ = (1..threads).find(refused);
        work();
    });
}

/// A job, which the host's pool gets as an opaque pointer.
struct Job<'j> {
    body: &'j (dyn Fn(usize) + Sync),
    panic: Mutex<Option<Panic>>,
}

/// The first panic of a job.
struct Panic {
    payload: Box<dyn Any + Send>,
    location: Option<String>,
}

/// One step of a job, called by the host from any of its threads.
unsafe extern "C" fn step(ctx: *mut c_void, index: i64) {
    // SAFETY: `on_pool` passes a job that outlives the call, shared between threads by `Sync` means only.
    let job = unsafe { &*ctx.cast_const().cast::<Job<'_>>() };
    // No panic may cross the host: the first one is stored, and resumed in the calling thread.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| (job.body)(index as usize)))
        && let Ok(mut first) = job.panic.lock()
    {
        first.get_or_insert_with(|| Panic { payload, location: panic_location::take() });
    }
}

/// Runs on the host's pool.
fn on_pool((host, pool): (&Host, &ParallelFor), count: usize, body: &(dyn Fn(usize) + Sync)) {
    let job = Job { body, panic: Mutex::new(None) };
    let run = pool.run.expect("checked when the pool was found");
    // SAFETY: the host calls `step` with this pointer until `run` returns, and no longer.
    let status = unsafe { run(host, count as i64, Some(step), (&raw const job).cast_mut().cast()) };
    if let Some(Panic { payload, location }) = job.panic.into_inner().unwrap_or(None) {
        panic_location::put(location);
        resume_unwind(payload);
    }
    if let Err(error) = Error::check("parallel_for", status) {
        // The work is incomplete.
        panic!("{error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once_whatever_the_threads() {
        for threads in [1, 2, 5] {
            let mut squares = vec![0; 23];
            let workers = Workers { threads, pool: None };
            workers.for_each(squares.iter_mut().enumerate(), |(i, square)| *square += i * i);
            assert_eq!(squares, (0..23).map(|i| i * i).collect::<Vec<_>>());
        }
    }

    #[test]
    #[should_panic]
    fn a_panic_reaches_the_caller() {
        Workers { threads: 2, pool: None }.for_each(0..4, |i| assert!(i < 3, "four is too many"));
    }
}
