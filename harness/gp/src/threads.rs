//! Threads for products.

use std::sync::Arc;

use gpbench_numerics::Pool;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::blas;

/// Error of a system that does not start the threads, for example under a limit on processes or on memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{threads} threads cannot be started: {reason}")]
pub struct ThreadsRefused {
    /// Number of threads requested.
    pub threads: usize,
    /// The system's message.
    pub reason: String,
}

/// A rayon pool of `threads` threads, which several operators may share.
///
/// # Errors
/// If the system refuses to start the threads.
pub fn thread_pool(threads: usize) -> Result<Arc<ThreadPool>, ThreadsRefused> {
    let threads = threads.max(1);
    let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("gp-{i}")).build();
    pool.map(Arc::new).map_err(|error| ThreadsRefused { threads, reason: error.to_string() })
}

/// Runs `work` on a thread of the pool, so that [`Here`] is this pool. Rayon's own code is compiled once for all types of
/// work.
pub(crate) fn inside<R: Send>(pool: &ThreadPool, work: impl FnOnce() -> R + Send) -> R {
    let (mut work, mut result) = (Some(work), None);
    let mut once = || result = work.take().map(|work| work());
    let once: &mut (dyn FnMut() + Send) = &mut once;
    pool.install(once);
    result.expect("the pool has run it")
}

/// A rayon pool in the form that the shared numerics use. BLAS is set to one thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnPool<'a>(pub(crate) &'a ThreadPool);

impl Pool for OnPool<'_> {
    fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        blas::start_single_threaded();
        self.0.install(|| Here.run(count, work));
    }
}

/// The rayon pool that the calling thread belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Here;

impl Pool for Here {
    fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..count).into_par_iter().with_max_len(1).for_each(work);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_cannot_have_a_stack_are_an_error_and_no_panic() {
        assert_eq!(thread_pool(3).unwrap().current_num_threads(), 3);
        let refused = ThreadPoolBuilder::new().num_threads(1).stack_size(1 << 60).build().unwrap_err();
        assert!(!refused.to_string().is_empty());
    }
}
