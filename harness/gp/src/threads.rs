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

/// A rayon pool in the form that the shared numerics use. BLAS is set to one thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnPool<'a>(pub(crate) &'a ThreadPool);

impl Pool for OnPool<'_> {
    fn for_each<T: Send>(&self, items: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
        blas::start_single_threaded();
        let items: Vec<T> = items.into_iter().collect();
        self.0.install(|| items.into_par_iter().with_max_len(1).for_each(&work));
    }
}

/// The rayon pool that the calling thread belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Here;

impl Pool for Here {
    fn for_each<T: Send>(&self, items: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
        let items: Vec<T> = items.into_iter().collect();
        items.into_par_iter().for_each(&work);
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
