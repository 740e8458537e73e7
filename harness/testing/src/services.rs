//! Services of the host in tests: no clock, a log on standard error, and loops on one thread.

use std::fmt;

use gpbench_host::{HostTable, Services};
use gpbench_terms::Clock;

/// Services of a test.
struct TestServices;

/// A host for plugins called on this thread. It lives until the process ends, as the interface promises.
pub(crate) fn host() -> &'static HostTable {
    HostTable::new(Box::new(TestServices))
}

impl Services for TestServices {
    fn now(&self) -> Clock {
        Clock::default()
    }

    fn log(&self, line: fmt::Arguments<'_>) {
        eprintln!("{line}");
    }

    /// Runs from the last item to the first, since results must not depend on the order.
    fn for_each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..count).rev().for_each(work);
    }
}
