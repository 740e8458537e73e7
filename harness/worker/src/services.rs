//! Services of this process for plugins: its clocks, its log, its threads, and the number of BLAS threads.

use std::fmt::Arguments;
use std::sync::Arc;

use gpbench_gp::blas;
use gpbench_host::{HostTable, Services};
use gpbench_record::Clock;
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::{blas_memory, log, process};

/// Number of pieces of a long loop, which threads take one by one; each call of a shorter loop is a piece.
const PIECES: usize = 1024;

/// A host for plugins called on this thread; `pool` runs their loops, and without one they run on the calling thread.
pub fn host(pool: Option<Arc<ThreadPool>>) -> &'static HostTable {
    // OpenBLAS starts with a thread for each core.
    blas::set_threads(1);
    HostTable::new(Box::new(ProcessServices { pool }))
}

struct ProcessServices {
    pool: Option<Arc<ThreadPool>>,
}

impl Services for ProcessServices {
    fn now(&self) -> Clock {
        process::now()
    }

    fn log(&self, line: Arguments<'_>) {
        log::line(line);
    }

    fn for_each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        match &self.pool {
            None => (0..count).for_each(work),
            Some(pool) => {
                // Rayon would give a thread several calls at once, which wait for the first while other threads idle.
                let together = (count / PIECES).max(1);
                pool.install(|| (0..count).into_par_iter().with_max_len(together).for_each(work));
            }
        }
    }

    fn adopt(&self, pid: u32) -> Result<(), String> {
        process::adopt(pid)
    }

    fn blas_threads(&self) -> usize {
        blas::threads()
    }

    fn set_blas_threads(&self, threads: usize) {
        if blas_memory::allows_threads(threads) {
            blas::set_threads(threads);
        } else {
            let what = "the address space is limited and has no room for the buffers of";
            log::line(format_args!(
                "gpbench-worker: {what} {threads} threads of OpenBLAS, which keeps its own number"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn loops_visit_every_index_once() {
        for pool in [None, Some(gpbench_gp::thread_pool(2).unwrap())] {
            let sum = AtomicU64::new(0);
            let add = |index: usize| {
                sum.fetch_add(index as u64, Ordering::Relaxed);
            };
            ProcessServices { pool }.for_each(1000, &add);
            assert_eq!(sum.into_inner(), 499_500);
        }
    }
}
