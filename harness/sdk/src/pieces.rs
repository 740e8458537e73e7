//! Sums over pieces of fixed size, which do not depend on the number of threads.

use crate::Workers;

/// Pieces whose results are in memory at a time.
const AT_ONCE: usize = 16;

/// Calls `make` for each piece, on any thread, and `add` with the results, in the order of the pieces.
pub(crate) fn in_order<T: Send>(
    count: usize,
    workers: Workers<'_>,
    make: impl Fn(usize) -> T + Sync,
    mut add: impl FnMut(usize, T),
) {
    for first in (0..count).step_by(AT_ONCE) {
        let mut parts: Vec<Option<T>> = (first..count.min(first + AT_ONCE)).map(|_| None).collect();
        workers.for_each(parts.iter_mut().enumerate(), |(i, part)| *part = Some(make(first + i)));
        parts.into_iter().flatten().enumerate().for_each(|(i, part)| add(first + i, part));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        for threads in [1, 3] {
            let mut seen = Vec::new();
            in_order(35, Workers::new(threads), |piece| 2 * piece, |piece, twice| seen.push((piece, twice)));
            assert_eq!(seen, (0..35).map(|piece| (piece, 2 * piece)).collect::<Vec<_>>());
        }
    }
}
