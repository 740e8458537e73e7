//! Pools of threads.

/// A pool of threads: those of a plugin's host, or those of the harness.
///
/// Results must not depend on the number of threads, so the work on an item must depend on that item only.
pub trait Pool {
    /// Calls `work` once for each item, on any thread, and returns when all are done. A panic in `work` is resumed
    /// here.
    fn for_each<T: Send>(&self, items: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync);
}

/// The pool that consists of the calling thread.
#[derive(Debug, Clone, Copy)]
pub struct Alone;

impl Pool for Alone {
    fn for_each<T: Send>(&self, items: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
        items.into_iter().for_each(work);
    }
}

/// A pool of this many threads for tests. Item i goes to thread i modulo their number.
#[cfg(test)]
pub(crate) struct Threads(pub(crate) usize);

#[cfg(test)]
impl Pool for Threads {
    fn for_each<T: Send>(&self, items: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
        let mut shares: Vec<Vec<T>> = (0..self.0).map(|_| Vec::new()).collect();
        items.into_iter().enumerate().for_each(|(i, item)| shares[i % self.0].push(item));
        let work = &work;
        std::thread::scope(|scope| {
            for share in shares {
                scope.spawn(move || share.into_iter().for_each(work));
            }
        });
    }
}
