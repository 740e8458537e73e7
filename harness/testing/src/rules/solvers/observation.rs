//! Rules about observations and read-only memory.

use super::request::{Ask, SolveRequest};
use super::solver_run::Touched;
use super::trial::{demand_repeatable, same_bits, solve};
use crate::rules::{Finding, KernelSystem, Subject};

fn request() -> SolveRequest {
    SolveRequest {
        tolerance: Some(1e-6),
        max_epochs: 60.0,
        ..SolveRequest::new(KernelSystem::new(60, 16), 4)
    }
}

pub(super) fn iterate(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = request();
    demand_repeatable(subject, &request)?;
    let mut asked = 0;
    for at in [0, 1, 3] {
        let outcome = solve(subject, &SolveRequest { ask: Ask::At(at), ..request.clone() })?;
        asked += outcome.asked;
        let failed = |what: &str| Err(Finding::Failed(format!("at observation {at}, the iterate {what}")));
        let Some(handed) = outcome.handed.first() else {
            if outcome.asked > 0 {
                return failed("was asked for and not handed over");
            }
            continue;
        };
        let stopped = solve(subject, &SolveRequest { stop_at: Some(at), ..request.clone() })?;
        if stopped.observed.len() > at + 1 {
            return Err(Finding::Skipped(
                "does not stop when told to, so iterates cannot be compared".into(),
            ));
        }
        if !same_bits(handed, &stopped.x) {
            return failed("is another than stopping there leaves");
        }
    }
    if asked == 0 {
        return Err(Finding::Skipped("makes no observations".into()));
    }
    Ok(())
}

pub(super) fn changes_nothing(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = request();
    let alone = demand_repeatable(subject, &request)?;
    let watched = solve(subject, &SolveRequest { ask: Ask::Always, ..request })?;
    if watched.asked == 0 {
        return Err(Finding::Skipped("makes no observations".into()));
    }
    if !same_bits(&alone.x, &watched.x) || alone.epochs != watched.epochs {
        return Err(Finding::Failed("asked for its iterates, it gives another solution".into()));
    }
    Ok(())
}

pub(super) fn inputs(subject: &Subject<'_>) -> Result<(), Finding> {
    let mut request = request();
    // The start is neither zero nor the solution, so that an overwritten start is detected.
    request.start.fill(0.25);
    let outcome = solve(subject, &request)?;
    for (what, name) in [
        (Touched::RightHandSides, "the right-hand sides were written to"),
        (Touched::Inputs, "the inputs were written to"),
        (Touched::IterateInPrepare, "the iterate was written to during prepare"),
    ] {
        if outcome.touched.contains(&what) {
            return Err(Finding::Failed(name.into()));
        }
    }
    Ok(())
}
