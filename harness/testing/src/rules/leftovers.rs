//! Tests that a solver or learner does not change the state of its process. `run` solves once, or fits once.

use std::thread::sleep;
use std::time::Duration;

use super::{Finding, Subject};

/// Permitted growth of resident memory, in bytes, over a hundred solves. A leak of the iterate alone would be 5
/// million.
const GROWTH: u64 = 3 << 20;

/// An observation of the process; skips if it is not available.
fn shown<T>(what: Option<T>) -> Result<T, Finding> {
    what.ok_or_else(|| Finding::Skipped("this system does not show it".into()))
}

pub(super) fn leaks(
    subject: &Subject<'_>,
    what: &str,
    mut run: impl FnMut() -> Result<(), Finding>,
) -> Result<(), Finding> {
    // Memory that the first runs allocate once is not a leak.
    (0..10).try_for_each(|_| run())?;
    let before = shown(subject.process.resident())?;
    (0..100).try_for_each(|_| run())?;
    let growth = shown(subject.process.resident())?.saturating_sub(before);
    if growth > GROWTH {
        let mebibytes = growth as f64 / f64::from(1 << 20);
        return Err(Finding::Failed(format!("a hundred {what} left {mebibytes:.1} MiB behind")));
    }
    Ok(())
}

pub(super) fn left_threads(
    subject: &Subject<'_>,
    what: &str,
    threads: usize,
    mut run: impl FnMut() -> Result<(), Finding>,
) -> Result<(), Finding> {
    let running = || shown(subject.process.threads());
    let allowed = running()? + threads;
    run()?;
    // A child process that the first run has started has threads of its own, which are to stay as many.
    let of_children = subject.process.threads_of_children();
    for _ in 0..7 {
        run()?;
    }
    let more = subject.process.threads_of_children().saturating_sub(of_children);
    if more > threads {
        return Err(Finding::Failed(format!(
            "seven {what} on {threads} threads left {more} running in a child process"
        )));
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

pub(super) fn float_mode(
    subject: &Subject<'_>,
    what: &str,
    run: impl FnOnce() -> Result<(), Finding>,
) -> Result<(), Finding> {
    run()?;
    match shown(subject.process.float_mode())?.difference() {
        None => Ok(()),
        Some(how) => Err(Finding::Failed(format!("after a {what}, {how}"))),
    }
}

pub(super) fn blas_threads(
    subject: &Subject<'_>,
    what: &str,
    mut run: impl FnMut(usize) -> Result<(), Finding>,
) -> Result<(), Finding> {
    for threads in [1, 2] {
        let before = shown(subject.process.blas_threads())?;
        run(threads)?;
        let after = shown(subject.process.blas_threads())?;
        if after != before {
            return Err(Finding::Failed(format!(
                "BLAS had {before} threads before a {what} and has {after} after"
            )));
        }
    }
    Ok(())
}

pub(super) fn silence(
    subject: &Subject<'_>,
    run: impl FnOnce() -> Result<(), Finding>,
) -> Result<(), Finding> {
    let before = shown(subject.process.printed())?;
    run()?;
    let bytes = shown(subject.process.printed())?.saturating_sub(before);
    if bytes > 0 {
        let what = "were written to standard output, which is reserved for records; use `log` for messages";
        return Err(Finding::Failed(format!("{bytes} bytes {what}")));
    }
    Ok(())
}
