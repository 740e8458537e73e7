//! Memory of all running cases together: no more than the machine has free.
//!
//! A case begins when what it may use fits beside what the running cases may use. One that does not fit even alone
//! begins when no other runs. What a case may use is its limit, or else an estimate, or else an equal share. Cases reserve
//! memory one after the other, so that small ones never delay a large one.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use gpbench_record::PlannedCase;

use crate::{EngineError, Planned, RunOptions, text};

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
    /// Bytes that running cases may use.
    reserved: Mutex<u64>,
    freed: Condvar,
}

/// The memory of a running case, which is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Reservation<'a> {
    memory: &'a Memory,
    bytes: u64,
}

impl Memory {
    /// The memory of a machine with so many bytes free.
    pub(crate) fn new(free: Option<u64>, options: &RunOptions) -> Self {
        let capacity = free.map(|bytes| ((1.0 - MARGIN) * bytes as f64) as u64);
        let (jobs, limit) = (options.jobs.max(1), options.memory_bytes);
        Self { capacity, jobs, limit, reserved: Mutex::default(), freed: Condvar::new() }
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
    pub(crate) fn reserve(&self, planned: Planned<'_>, reference: u64) -> Reservation<'_> {
        let bytes = match self.capacity {
            _ if self.jobs == 1 || planned.skip.is_some() => 0,
            // A reference that does not fit is not made.
            Some(capacity) if reference <= capacity => self.needed(planned).max(reference),
            _ => self.needed(planned),
        };
        self.reserve_bytes(bytes)
    }

    fn reserve_bytes(&self, bytes: u64) -> Reservation<'_> {
        let lacks_room = |reserved: &mut u64| !self.has_room(*reserved, bytes);
        let mut reserved =
            self.freed.wait_while(self.reserved(), lacks_room).unwrap_or_else(PoisonError::into_inner);
        *reserved = reserved.saturating_add(bytes);
        Reservation { memory: self, bytes }
    }

    /// Whether a case can begin beside those that have reserved memory. The first always can.
    fn has_room(&self, reserved: u64, bytes: u64) -> bool {
        let after = reserved.saturating_add(bytes);
        bytes == 0 || reserved == 0 || self.capacity.is_none_or(|capacity| after <= capacity)
    }

    /// The bytes that a case may use.
    fn needed(&self, planned: Planned<'_>) -> u64 {
        let equal = self.capacity.unwrap_or_default() / self.jobs as u64;
        self.limit(&planned).or(planned.files.memory_estimate).unwrap_or(equal)
    }

    /// Refuses limits above the machine's `total` memory where several cases run at a time: such a limit is never
    /// reached.
    pub(crate) fn refuse_limits_above(&self, total: u64, cases: &[Planned<'_>]) -> Result<(), EngineError> {
        let above = |planned: &&Planned<'_>| self.limit(planned).is_some_and(|limit| limit > total);
        match cases.iter().find(above).filter(|_| self.jobs > 1) {
            Some(planned) => {
                let limit = text::bytes(self.limit(planned).unwrap_or_default());
                Err(EngineError::Memory { labels: planned.labels.clone(), limit, total: text::bytes(total) })
            }
            None => Ok(()),
        }
    }

    /// A warning about cases that run alone.
    pub(crate) fn warning(&self, cases: &[Planned<'_>]) -> Option<String> {
        let capacity = self.capacity.filter(|_| self.jobs > 1)?;
        let alone = cases.iter().filter(|planned| self.needed(**planned) > capacity).count();
        let (cases, each) = if alone == 1 { ("case", "it runs") } else { ("cases", "each of them runs") };
        (alone > 0).then(|| {
            let free = text::bytes(capacity);
            format!("{alone} {cases} may need more memory than is free ({free}): {each} alone")
        })
    }

    fn reserved(&self) -> MutexGuard<'_, u64> {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut reserved = self.memory.reserved();
        *reserved = reserved.saturating_sub(self.bytes);
        self.memory.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::mpsc::channel;
    use std::thread;

    use gpbench_record::{CaseFiles, Fingerprint, testing};

    use super::*;

    fn memory(capacity: u64, jobs: usize) -> Memory {
        let options = RunOptions { jobs, ..RunOptions::default() };
        Memory { capacity: Some(capacity), ..Memory::new(None, &options) }
    }

    /// A case with a limit of its own and an estimate of its memory.
    fn case(limit: Option<u64>, estimate: Option<u64>) -> (PlannedCase, CaseFiles) {
        let mut case = testing::case("cg");
        case.budget.memory_bytes = limit;
        let fingerprint = Fingerprint {
            plugin_sha256: "p".into(),
            dataset_sha256: None,
            worker_sha256: "w".into(),
            threads: 1,
            cpu_dispatch: "portable".into(),
            blas_core: "Generic".into(),
            exact: false,
        };
        let files = CaseFiles {
            plugin_file: PathBuf::from("plugin.so"),
            dataset_file: None,
            memory_estimate: estimate,
            seconds_estimate: None,
        };
        (PlannedCase::new(case, fingerprint, Some(10), None), files)
    }

    fn planned((entry, files): &(PlannedCase, CaseFiles)) -> Planned<'_> {
        Planned { entry, files }
    }

    #[test]
    fn a_case_waits_until_enough_is_free() {
        let memory = memory(100, 4);
        let (first, second) = (memory.reserve_bytes(60), memory.reserve_bytes(30));
        thread::scope(|scope| {
            let (to, from) = channel();
            let memory = &memory;
            scope.spawn(move || {
                let _third = memory.reserve_bytes(50);
                to.send(*memory.reserved()).unwrap();
            });
            drop(second);
            drop(first);
            // Whichever was freed first, the other one was in the way.
            assert_eq!(from.recv().unwrap(), 50);
        });
        assert_eq!(*memory.reserved(), 0);
    }

    #[test]
    fn a_case_that_never_fits_runs_alone() {
        let memory = memory(100, 4);
        let large = memory.reserve_bytes(u64::MAX);
        assert!(!memory.has_room(*memory.reserved(), 1));
        assert!(memory.has_room(*memory.reserved(), 0), "a case that is skipped waits for nothing");
        drop(large);
        let small = memory.reserve_bytes(1);
        assert!(!memory.has_room(*memory.reserved(), 101) && memory.has_room(*memory.reserved(), 99));
        drop(small);
        assert!(memory.has_room(*memory.reserved(), 101));
    }

    #[test]
    fn every_waiting_case_begins_in_the_end() {
        let memory = memory(100, 8);
        let begun = Mutex::new(0);
        thread::scope(|scope| {
            for thread in 0..8 {
                let (memory, begun) = (&memory, &begun);
                scope.spawn(move || {
                    for case in 0..200 {
                        // One of no bytes would begin beside one that never fits.
                        let reservation = memory.reserve_bytes(1 + (thread * 31 + case * 17) % 120);
                        let reserved = *memory.reserved();
                        assert!(reserved <= 100 || reserved == reservation.bytes);
                        *begun.lock().unwrap() += 1;
                    }
                });
            }
        });
        assert_eq!((*begun.lock().unwrap(), *memory.reserved()), (1600, 0));
    }

    #[test]
    fn a_case_may_use_its_limit_or_an_estimate_or_a_share() {
        let memory = memory(100, 4);
        let reserved =
            |limit, estimate, reference| memory.reserve(planned(&case(limit, estimate)), reference).bytes;
        assert_eq!(reserved(Some(30), Some(50), 0), 30);
        assert_eq!(reserved(None, Some(50), 0), 50);
        assert_eq!(reserved(None, None, 0), 25);
        assert_eq!(reserved(Some(30), None, 70), 70, "the reference comes before the case");
        assert_eq!(reserved(Some(30), None, 170), 30, "a reference that does not fit is not made");
        let mut limited = case(Some(30), None);
        limited.0.skip = Some("no data".into());
        assert_eq!(memory.reserve(planned(&limited), 70).bytes, 0);
        limited.0.skip = None;
        let alone = Memory { jobs: 1, ..memory };
        assert_eq!(alone.reserve(planned(&limited), 70).bytes, 0);
        assert_eq!(
            [Some(30), Some(300), None].map(|limit| alone.share(&case(limit, Some(5)).0)),
            [Some(30), Some(100), Some(100)]
        );
        let unknown = Memory { capacity: None, jobs: 4, ..alone };
        assert_eq!(unknown.share(&limited.0), None);
        let (_first, _second) = (unknown.reserve_bytes(u64::MAX), unknown.reserve_bytes(u64::MAX));
    }

    #[test]
    fn limits_above_the_machine_are_refused_and_estimates_are_not() {
        let memory = memory(100, 2);
        let cases = [case(Some(90), None), case(Some(300), None), case(None, Some(300))];
        let [small, large, estimated] = cases.each_ref().map(planned);
        memory.refuse_limits_above(200, &[small, estimated]).unwrap();
        let error = memory.refuse_limits_above(200, &[small, large]).unwrap_err().to_string();
        assert!(error.contains("--memory-limit") && error.contains("--jobs 1"), "{error}");
        assert_eq!(memory.warning(&[small]), None);
        let warning = memory.warning(&[small, estimated]).unwrap();
        assert!(warning.starts_with("1 case may need more memory than is free"), "{warning}");
        let alone = Memory { jobs: 1, ..memory };
        alone.refuse_limits_above(200, &[large]).unwrap();
        assert_eq!(alone.warning(&[large]), None);
    }
}
