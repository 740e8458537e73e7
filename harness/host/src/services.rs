//! Services of the process for the host: a clock, a log, threads, and the number of BLAS threads.

use std::fmt;

use gpbench_terms::Clock;

/// Services of the process that calls plugins. Any thread may use them.
pub trait Services: Sync + 'static {
    /// Wall-clock and processor seconds since some moment.
    fn now(&self) -> Clock;

    /// Writes a line to the log. Does not panic: a panic in a callback would count against the plugin.
    fn log(&self, line: fmt::Arguments<'_>);

    /// Calls `work` with every number below `count`, on the threads of `gpbench.parallel_for/1`, and returns when all
    /// calls have ended.
    fn for_each(&self, count: usize, work: &(dyn Fn(usize) + Sync));

    /// Counts the time and the memory of a child process as those of this process from now on. By default nothing is
    /// counted.
    ///
    /// # Errors
    /// Why the process cannot be adopted, as a clause.
    fn adopt(&self, _pid: u32) -> Result<(), String> {
        Ok(())
    }

    /// Threads of BLAS calls. The default is one, of a process without BLAS.
    fn blas_threads(&self) -> usize {
        1
    }

    /// Sets the threads of later BLAS calls.
    fn set_blas_threads(&self, _threads: usize) {}
}

/// No clock, no log, and loops on the calling thread.
impl Services for () {
    fn now(&self) -> Clock {
        Clock::default()
    }

    fn log(&self, _: fmt::Arguments<'_>) {}

    fn for_each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(work);
    }
}

/// Sets the number of BLAS threads until it is dropped.
pub(crate) struct BlasThreads<'s> {
    services: &'s dyn Services,
    before: usize,
}

impl<'s> BlasThreads<'s> {
    /// Lets BLAS use `threads` threads.
    pub(crate) fn set(services: &'s dyn Services, threads: usize) -> BlasThreads<'s> {
        let before = services.blas_threads();
        services.set_blas_threads(threads);
        BlasThreads { services, before }
    }
}

impl Drop for BlasThreads<'_> {
    fn drop(&mut self) {
        self.services.set_blas_threads(self.before);
    }
}

/// A clock for unit tests.
#[cfg(test)]
pub(crate) mod testing {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// The wall clock of this thread's test.
        pub(crate) static TIME: Cell<f64> = const { Cell::new(0.0) };
    }

    /// A clock that the test sets, with this many processor seconds per wall-clock second.
    pub(crate) struct TestClock(pub(crate) f64);

    impl Services for TestClock {
        fn now(&self) -> Clock {
            let wall = TIME.get();
            Clock { wall, cpu: self.0 * wall }
        }

        fn log(&self, _: fmt::Arguments<'_>) {}

        fn for_each(&self, _: usize, _: &(dyn Fn(usize) + Sync)) {}
    }
}
