//! Threads that share out work.

/// Threads that share out work: those of a plugin's host, or a pool of the harness.
///
/// Results must not depend on their number: the work on an item depends on that item alone.
pub trait Pool {
    /// Calls `work` once for each item, on any thread, and returns when all are done. A panic in `work` is resumed here.
    fn for_each<T: Send>(&self, items: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync);
}

/// The calling thread alone.
#[derive(Debug, Clone, Copy)]
pub struct Alone;

impl Pool for Alone {
    fn for_each<T: Send>(&self, items: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
        items.into_iter().for_each(work);
    }
}

/// So many threads, to test with: item i goes to thread i modulo their number.
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
