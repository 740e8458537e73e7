//! Medians of repeated runs.

use std::cell::Cell;
use std::time::{Duration, Instant};

use gpbench_statistics::median;

/// Minimum number of runs of each piece of work.
const ROUNDS: usize = 5;

thread_local! {
    /// Time of the current run that does not count.
    static UNTIMED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// A part of a timed run, on its thread, that does not count: what prepares it or frees its result.
pub(super) fn untimed<R>(part: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = part();
    UNTIMED.set(UNTIMED.get() + start.elapsed());
    result
}

/// Median seconds of each piece of work, from `seconds` spent on each, or five runs if those take longer.
///
/// All of them run once beforehand, for caches, page faults and threads. Then they alternate, so that a
/// change of the processor's clock frequency affects all of them.
pub(super) fn medians<const N: usize>(mut works: [&mut dyn FnMut(); N], seconds: f64) -> [f64; N] {
    let medians = medians_of(&mut works, seconds);
    medians.try_into().expect("one median for each piece of work")
}

/// Like [`medians`], for any number of pieces of work.
pub(super) fn medians_of(works: &mut [&mut dyn FnMut()], seconds: f64) -> Vec<f64> {
    works.iter_mut().for_each(|work| work());
    let mut times = vec![Vec::new(); works.len()];
    for _ in 0..ROUNDS {
        for (work, times) in works.iter_mut().zip(&mut times) {
            let turn = Instant::now();
            loop {
                UNTIMED.set(Duration::ZERO);
                let start = Instant::now();
                work();
                times.push(start.elapsed().saturating_sub(UNTIMED.get()).as_secs_f64());
                if turn.elapsed().as_secs_f64() >= seconds / ROUNDS as f64 {
                    break;
                }
            }
        }
    }
    times.iter().map(|times| median(times).expect("each ran at least once")).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn works_take_turns() {
        let order = RefCell::new(String::new());
        let mut a = || order.borrow_mut().push('a');
        let mut b = || order.borrow_mut().push('b');
        let times = medians([&mut a, &mut b], 0.0);
        assert!(times.iter().all(|&seconds| seconds >= 0.0));
        assert_eq!(order.into_inner(), "ab".repeat(1 + ROUNDS));
    }
}
