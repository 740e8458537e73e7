//! Rules about repeated fits.

use gpbench_terms::Capability;

use super::fit_run::FitRun;
use super::request::FitRequest;
use super::trial::{BATCH, batch, bits, bits_of, demand_repeatable, finish};
use crate::rules::{Finding, Subject};

/// A request with enough rows for several threads.
fn request(subject: &Subject<'_>) -> FitRequest {
    FitRequest::new(subject, 120, 51)
}

pub(super) fn same_seed(subject: &Subject<'_>) -> Result<(), Finding> {
    let first = bits_of(subject, &request(subject))?;
    if first == bits_of(subject, &request(subject))? {
        subject.keep_digest(first.words());
        return Ok(());
    }
    Err(Finding::Failed("two fits with one seed differ".into()))
}

pub(super) fn other_seed(subject: &Subject<'_>) -> Result<(), Finding> {
    let stated = subject.expect.randomized == Some(true);
    if subject.is_randomized() && !stated {
        return Err(Finding::Skipped("claims to draw random numbers".into()));
    }
    let first = demand_repeatable(subject, &request(subject))?;
    let same = bits_of(subject, &FitRequest { seed: 2, ..request(subject) })? == first;
    if same != stated {
        return Ok(());
    }
    if stated {
        return Err(Finding::Failed("another seed gives the same fit, but it is to be random".into()));
    }
    let what = "another seed gives another fit, but it does not claim to draw random numbers";
    Err(Finding::Failed(what.into()))
}

pub(super) fn threads(subject: &Subject<'_>) -> Result<(), Finding> {
    let one = demand_repeatable(subject, &request(subject))?;
    for threads in [2, 3, 7] {
        let several = bits_of(subject, &FitRequest { threads, ..request(subject) })?;
        if several != one && !subject.can(Capability::BlasThreads) {
            let what = format!("on {threads} threads it gives another fit than on one");
            return Err(Finding::Failed(what));
        }
    }
    Ok(())
}

pub(super) fn two_objects(subject: &Subject<'_>) -> Result<(), Finding> {
    let pausing = |n: usize, seed: u64| FitRequest { pause: true, ..FitRequest::new(subject, n, seed) };
    let (large, small) = (pausing(60, 52), pausing(44, 53));
    let alone = [demand_repeatable(subject, &large)?, demand_repeatable(subject, &small)?];
    let settings = batch(subject, BATCH);
    let mut first = FitRun::begin(subject, &large, &settings)?;
    let mut second = FitRun::begin(subject, &small, &settings)?;
    // The fits take steps in turn.
    for _ in 0..3 {
        first.fit()?;
        second.fit()?;
    }
    finish(&mut first)?;
    finish(&mut second)?;
    let together = [bits(&mut first, None)?, bits(&mut second, None)?];
    first.end()?;
    second.end()?;
    if together == alone {
        Ok(())
    } else {
        Err(Finding::Failed("two fits at a time disturb each other".into()))
    }
}

pub(super) fn unused(subject: &Subject<'_>) -> Result<(), Finding> {
    subject.try_settings(&[])?;
    Ok(FitRun::begin(subject, &request(subject), &batch(subject, BATCH))?.end()?)
}
