//! Memory in sum: the cases that run at a time may use no more than the machine has free.
//!
//! A case begins when what it may use fits beside what the running cases may use. Cases that wait begin in the order
//! in which they asked, so that small ones never keep a large one waiting. A case that does not fit even alone begins
//! when no other runs. What a case may use is its limit, or else an estimate, or else an equal share.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::{EngineError, Options, PlannedCase, text};

/// Part of the free memory that stays free: estimates are rough, and gpbench itself grows.
const MARGIN: f64 = 0.05;

/// Memory for the cases of an attempt.
#[derive(Debug)]
pub(crate) struct Memory {
    /// Bytes for all running cases together; none where the machine does not tell.
    capacity: Option<u64>,
    /// Cases that run at a time.
    jobs: usize,
    /// The limit of a case without one of its own.
    limit: Option<u64>,
    queue: Mutex<Queue>,
    changed: Condvar,
}

/// Who has memory, and who waits for it.
#[derive(Debug, Default)]
struct Queue {
    /// Bytes that running cases may use.
    reserved: u64,
    /// Cases that have asked.
    asked: u64,
    /// Cases that have begun.
    begun: u64,
}

/// The memory of a running case, which is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Reservation<'a> {
    memory: &'a Memory,
    bytes: u64,
}

impl Memory {
    /// The memory of a machine with so many bytes free.
    pub(crate) fn new(free: Option<u64>, options: &Options) -> Self {
        let capacity = free.map(|bytes| ((1.0 - MARGIN) * bytes as f64) as u64);
        let (jobs, limit) = (options.jobs.max(1), options.memory_bytes);
        Self { capacity, jobs, limit, queue: Mutex::default(), changed: Condvar::new() }
    }

    /// The bytes at which a case is killed.
    pub(crate) fn limit(&self, planned: &PlannedCase) -> Option<u64> {
        planned.case.budget.memory_bytes.or(self.limit)
    }

    /// The bytes that a case may plan with.
    pub(crate) fn share(&self, planned: &PlannedCase) -> Option<u64> {
        let capacity = self.capacity?;
        Some(self.limit(planned).map_or(capacity, |limit| limit.min(capacity)))
    }

    /// Waits until there is memory for a case that may take `reference` bytes to make an exact reference.
    pub(crate) fn reserve(&self, planned: &PlannedCase, reference: u64) -> Reservation<'_> {
        let bytes = match self.capacity {
            _ if self.jobs == 1 || planned.skip.is_some() => 0,
            // A reference that does not fit is not made.
            Some(capacity) if reference <= capacity => self.needed(planned).max(reference),
            _ => self.needed(planned),
        };
        self.reserve_bytes(bytes)
    }

    fn reserve_bytes(&self, bytes: u64) -> Reservation<'_> {
        let mut queue = self.queue();
        let turn = queue.asked;
        queue.asked += 1;
        let waits = |queue: &mut Queue| queue.begun != turn || !self.has_room(queue, bytes);
        let mut queue = self.changed.wait_while(queue, waits).unwrap_or_else(PoisonError::into_inner);
        queue.begun += 1;
        queue.reserved = queue.reserved.saturating_add(bytes);
        self.changed.notify_all();
        Reservation { memory: self, bytes }
    }

    /// Whether a case can begin. The first always can.
    fn has_room(&self, queue: &Queue, bytes: u64) -> bool {
        let after = queue.reserved.saturating_add(bytes);
        bytes == 0 || queue.reserved == 0 || self.capacity.is_none_or(|capacity| after <= capacity)
    }

    /// The bytes that a case may use.
    fn needed(&self, planned: &PlannedCase) -> u64 {
        let equal = self.capacity.unwrap_or_default() / self.jobs as u64;
        self.limit(planned).or(planned.memory_estimate).unwrap_or(equal)
    }

    /// Refuses limits above the machine's `total` memory where several cases run at a time: they bound nothing.
    pub(crate) fn refuse_limits_above(&self, total: u64, cases: &[&PlannedCase]) -> Result<(), EngineError> {
        let above = |planned: &&&PlannedCase| self.limit(planned).is_some_and(|limit| limit > total);
        match cases.iter().find(above).filter(|_| self.jobs > 1) {
            Some(planned) => {
                let limit = text::bytes(self.limit(planned).unwrap_or_default());
                Err(EngineError::Memory { labels: planned.case.labels(), limit, total: text::bytes(total) })
            }
            None => Ok(()),
        }
    }

    /// What the user should know of cases that run alone.
    pub(crate) fn warning(&self, cases: &[&PlannedCase]) -> Option<String> {
        let capacity = self.capacity.filter(|_| self.jobs > 1)?;
        let alone = cases.iter().filter(|planned| self.needed(planned) > capacity).count();
        let (cases, each) = if alone == 1 { ("case", "it runs") } else { ("cases", "each of them runs") };
        (alone > 0).then(|| {
            let free = text::bytes(capacity);
            format!("{alone} {cases} may need more memory than is free ({free}): {each} alone")
        })
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.memory.queue().reserved -= self.bytes;
        self.memory.changed.notify_all();
    }
}
