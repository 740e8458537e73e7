//! State of the process that a solver or learner has to leave as it was. `run` solves once, or fits once.

use std::hint::black_box;
use std::thread::sleep;
use std::time::Duration;

use crate::conformance::{Finding, Offer};

/// Growth of resident memory, in bytes, that is allowed over a hundred solves. Leaking the iterate alone would
/// make 5 million.
const GROWTH: u64 = 3 << 20;

pub(in crate::conformance) fn leaks(
    what: &str,
    mut run: impl FnMut() -> Result<(), Finding>,
) -> Result<(), Finding> {
    // Memory that the first ones allocate once is no leak.
    (0..10).try_for_each(|_| run())?;
    let before = resident()?;
    (0..100).try_for_each(|_| run())?;
    let growth = resident()?.saturating_sub(before);
    if growth > GROWTH {
        let mebibytes = growth as f64 / f64::from(1 << 20);
        return Err(Finding::Failed(format!("a hundred {what} left {mebibytes:.1} MiB behind")));
    }
    Ok(())
}

/// Resident memory of this process in bytes.
fn resident() -> Result<u64, Finding> {
    let read = || {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    read().map(|kib| kib * 1024).ok_or_else(|| Finding::Skipped("this system does not show it".into()))
}

pub(in crate::conformance) fn left_threads(
    what: &str,
    threads: usize,
    mut run: impl FnMut() -> Result<(), Finding>,
) -> Result<(), Finding> {
    let allowed = running()? + threads;
    for _ in 0..8 {
        run()?;
    }
    // The system lists a joined thread for a moment longer.
    for _ in 0..100 {
        if running()? <= allowed {
            return Ok(());
        }
        sleep(Duration::from_millis(10));
    }
    let more = running()? - allowed + threads;
    Err(Finding::Failed(format!("eight {what} on {threads} threads left {more} running")))
}

/// Threads of this process.
fn running() -> Result<usize, Finding> {
    let threads = std::fs::read_dir("/proc/self/task");
    threads.map(Iterator::count).map_err(|_| Finding::Skipped("this system does not show it".into()))
}

pub(in crate::conformance) fn float_mode(
    what: &str,
    run: impl FnOnce() -> Result<(), Finding>,
) -> Result<(), Finding> {
    run()?;
    match changed_arithmetic() {
        None => Ok(()),
        Some(how) => Err(Finding::Failed(format!("after a {what}, {how}"))),
    }
}

/// How this thread's arithmetic differs from the default of IEEE 754; none if it does not.
fn changed_arithmetic() -> Option<&'static str> {
    let ulp = f64::EPSILON;
    let (one, less, more) = (black_box(1.0), black_box(ulp / 4.0), black_box(3.0 * ulp / 4.0));
    if one + less != one || -one - less != -one || one + more == one || -one - more == -one {
        return Some("sums are not rounded to nearest");
    }
    let least = black_box(f64::MIN_POSITIVE);
    if black_box(least / 2.0) == 0.0 {
        return Some("small numbers are flushed to zero");
    }
    if black_box(f64::from_bits(1 << 51)) * black_box(4.0) == 0.0 {
        return Some("subnormal numbers are taken for zero");
    }
    None
}

pub(in crate::conformance) fn blas_threads(
    offer: &dyn Offer,
    what: &str,
    mut run: impl FnMut(usize) -> Result<(), Finding>,
) -> Result<(), Finding> {
    for threads in [1, 2] {
        let before = offer.blas_threads();
        run(threads)?;
        let after = offer.blas_threads();
        if after != before {
            return Err(Finding::Failed(format!(
                "BLAS had {before} threads before a {what} and has {after} after"
            )));
        }
    }
    Ok(())
}

pub(in crate::conformance) fn silence(
    offer: &dyn Offer,
    run: impl FnOnce() -> Result<(), Finding>,
) -> Result<(), Finding> {
    let before = offer.printed();
    run()?;
    let bytes = offer.printed() - before;
    if bytes > 0 {
        let what = "were written to standard output, which is reserved for records; use `log` for messages";
        return Err(Finding::Failed(format!("{bytes} bytes {what}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_thread_has_default_arithmetic() {
        assert_eq!(changed_arithmetic(), None);
    }
}
