//! Pools of threads.
//!
//! Work is generic in its items, and a pool is not: its code is compiled once.

use std::sync::Mutex;

/// A pool of threads: those of a plugin's host, or those of the harness.
///
/// Results must not depend on the number of threads, so the work on an item must depend on that item only.
pub trait Pool {
    /// Calls `work` once with each number below `count`, on any thread, and returns when all are done. Free threads take
    /// the next number. A panic in `work` is resumed here.
    fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync));

    /// Calls `work` once for each item, as [`run`](Self::run) does.
    fn for_each<T: Send>(&self, items: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
        let slots: Vec<_> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
        self.run(slots.len(), &|index| {
            if let Some(item) = slots.get(index).and_then(|slot| slot.lock().ok()?.take()) {
                work(item);
            }
        });
    }

    /// What `work` returns for each item, in the order of the items.
    fn map<T: Send, R: Send>(
        &self,
        items: impl IntoIterator<Item = T>,
        work: impl Fn(T) -> R + Sync,
    ) -> Vec<R> {
        let items: Vec<T> = items.into_iter().collect();
        let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
        self.for_each(items.into_iter().zip(&mut results), |(item, result)| *result = Some(work(item)));
        results.into_iter().flatten().collect()
    }
}

/// The pool that consists of the calling thread.
#[derive(Debug, Clone, Copy)]
pub struct Alone;

impl Pool for Alone {
    fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(work);
    }
}

/// A pool of this many threads for tests. Item i goes to thread i modulo their number.
#[cfg(test)]
pub(crate) struct Threads(pub(crate) usize);

#[cfg(test)]
impl Pool for Threads {
    fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for first in 0..self.0 {
                scope.spawn(move || (first..count).step_by(self.0).for_each(work));
            }
        });
    }
}
