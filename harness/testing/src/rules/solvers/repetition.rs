//! Rules about repeated solves.

use gpbench_terms::Capability;

use super::request::SolveRequest;
use super::solver_run::SolverRun;
use super::trial::{demand_agreement, demand_claim, demand_repeatable, demand_solution, same_bits, solve};
use crate::rules::{Finding, KernelSystem, Subject};

/// A request with enough rows and columns for several threads.
fn request() -> SolveRequest {
    SolveRequest { max_epochs: 60.0, ..SolveRequest::new(KernelSystem::new(100, 17), 19) }
}

pub(super) fn same_seed(subject: &Subject<'_>) -> Result<(), Finding> {
    let (first, second) = (solve(subject, &request())?, solve(subject, &request())?);
    if same_bits(&first.x, &second.x) && first.epochs == second.epochs {
        subject.keep_digest(first.x.iter().map(|x| x.to_bits()));
        return Ok(());
    }
    Err(Finding::Failed("two solves with one seed give different solutions".into()))
}

pub(super) fn other_seed(subject: &Subject<'_>) -> Result<(), Finding> {
    let stated = subject.expect.randomized == Some(true);
    if subject.is_randomized() && !stated {
        return Err(Finding::Skipped("claims to draw random numbers".into()));
    }
    let first = demand_repeatable(subject, &request())?;
    let other = solve(subject, &SolveRequest { seed: 2, ..request() })?;
    if same_bits(&first.x, &other.x) != stated {
        return Ok(());
    }
    if stated {
        return Err(Finding::Failed("another seed gives the same solution, but it is to be random".into()));
    }
    Err(Finding::Failed(
        "another seed gives another solution, but it does not claim to draw random numbers".into(),
    ))
}

pub(super) fn threads(subject: &Subject<'_>) -> Result<(), Finding> {
    let one = demand_repeatable(subject, &request())?;
    for threads in [2, 3, 7] {
        let request = SolveRequest { threads, ..request() };
        let several = solve(subject, &request)?;
        if subject.can(Capability::BlasThreads) {
            demand_claim(subject, &several)?;
            demand_agreement(&request, &one.x, &several.x)?;
        } else if !same_bits(&one.x, &several.x) {
            return Err(Finding::Failed(format!(
                "on {threads} threads it gives another solution than on one"
            )));
        }
    }
    Ok(())
}

/// The solution may differ in its last digits, since an object may re-use results of an earlier solve.
pub(super) fn reuse(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = SolveRequest { max_epochs: 2000.0, ..request() };
    let mut object = SolverRun::create(subject, &[])?;
    let kept = (1..=3).try_for_each(|round| {
        let outcome = object.run(&request, &mut || ())?;
        demand_solution(subject, &request, &outcome)
            .map_err(|finding| finding.context(|why| format!("in solve {round} of one object it {why}")))
    });
    object.end()?;
    kept
}

/// Two requests that differ in all respects, and strongly in scale.
fn two_requests() -> (SolveRequest, SolveRequest) {
    let (mut large, small) =
        (SolveRequest::new(KernelSystem::new(60, 18), 5), SolveRequest::new(KernelSystem::new(44, 19), 3));
    large.rhs *= 1e4;
    (large, small)
}

pub(super) fn prepare_again(subject: &Subject<'_>) -> Result<(), Finding> {
    let (large, small) = two_requests();
    let mut object = SolverRun::create(subject, &[])?;
    let outcome = object.prepare(&large).and_then(|()| object.run(&small, &mut || ()));
    object.end()?;
    demand_solution(subject, &small, &outcome?)
}

/// Gets ready for two problems of different sizes, and solves one of the sizes asked for last.
pub(super) fn warm_up(subject: &Subject<'_>) -> Result<(), Finding> {
    let (large, small) = two_requests();
    let mut object = SolverRun::create(subject, &[])?;
    let ready = [&small, &large].into_iter().try_for_each(|request| object.warm_up(request));
    let outcome = ready.and_then(|()| object.run(&large, &mut || ()));
    object.end()?;
    demand_solution(subject, &large, &outcome?)
}

pub(super) fn two_objects(subject: &Subject<'_>) -> Result<(), Finding> {
    let (large, small) = two_requests();
    for (outer, inner) in [(&large, &small), (&small, &large)] {
        let (mut first, mut second) = (SolverRun::create(subject, &[])?, SolverRun::create(subject, &[])?);
        let mut between = None;
        let outcome = first.run(outer, &mut || between = Some(second.run(inner, &mut || ())));
        second.end()?;
        first.end()?;
        demand_solution(subject, outer, &outcome?)?;
        if let Some(between) = between {
            demand_solution(subject, inner, &between?)?;
        }
    }
    Ok(())
}

pub(super) fn unused(subject: &Subject<'_>) -> Result<(), Finding> {
    SolverRun::create(subject, &[])?.end()?;
    let mut object = SolverRun::create(subject, &[])?;
    let prepared = object.prepare(&request());
    object.end()?;
    Ok(prepared?)
}
