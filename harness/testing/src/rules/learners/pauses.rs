//! Rules about budgets, pauses, saved states, and read-only memory.

use gpbench_abi::Status;
use gpbench_terms::Reason;

use super::fit_run::{End, FitRun};
use super::request::FitRequest;
use super::trial::{BATCH, batch, bits, demand_repeatable, demand_sound, finish, fit};
use crate::rules::{Finding, Subject};

/// Number of steps before a state is saved.
const STEPS: usize = 4;

fn request(subject: &Subject<'_>) -> FitRequest {
    FitRequest::new(subject, 56, 41)
}

pub(super) fn budget(subject: &Subject<'_>) -> Result<(), Finding> {
    let rows = request(subject).x.nrows() as f64;
    for passes in [0.5, 1.0, 3.0] {
        let mut fitted = fit(subject, &FitRequest { passes, ..request(subject) })?;
        let used = fitted.object.used();
        let failed = |what: String| Err(Finding::Failed(format!("with {passes} passes, it {what}")));
        // The last batch may reach beyond a part of a pass, or beyond a pass that is drawn with replacement.
        if used.passes > passes.ceil().max(passes + BATCH as f64 / rows) {
            return failed(format!("used {}", used.passes));
        }
        if used.late_draws > 0 {
            return failed(format!("drew {} times after it was told to stop", used.late_draws));
        }
        if fitted.reason == Reason::Converged && used.passes >= passes {
            return failed("claims convergence at the end of its budget".into());
        }
        if subject.is_stated() && fitted.reason == Reason::Stopped {
            let again = finish(&mut fitted.object)?;
            if (again, &fitted.object.used()) != (Reason::Stopped, &used) {
                return failed("takes a step when it is called again".into());
            }
        }
        fitted.end()?;
    }
    Ok(())
}

pub(super) fn observe(subject: &Subject<'_>) -> Result<(), Finding> {
    let fitted = fit(subject, &request(subject))?;
    let used = fitted.object.used();
    if used.objectives.is_empty() && fitted.reason != Reason::Diverged {
        return Err(Finding::Failed("observes no step".into()));
    }
    if used.reported != used.objectives.len() as u64 {
        let what = format!("reports {} steps, and observed {}", used.reported, used.objectives.len());
        return Err(Finding::Failed(what));
    }
    if !used.steps.iter().copied().eq(1..=used.reported) {
        return Err(Finding::Failed(format!("numbers its steps {:?}", used.steps)));
    }
    fitted.end()
}

pub(super) fn pause(subject: &Subject<'_>) -> Result<(), Finding> {
    let whole = demand_repeatable(subject, &request(subject))?;
    let request = FitRequest { pause: true, ..request(subject) };
    let mut object = FitRun::begin(subject, &request, &batch(subject, BATCH))?;
    while object.fit()? == End::Paused {
        object.evaluate()?;
    }
    let same = bits(&mut object, None)? == whole;
    object.end()?;
    if same {
        return Ok(());
    }
    Err(Finding::Failed("with a pause and an evaluation after every step, it gives another fit".into()))
}

/// The number of rows is a multiple of the batch. Objectives may differ by a schedule over the passes.
pub(super) fn grant(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = FitRequest { passes: 3.0, ..FitRequest::new(subject, 3 * BATCH, 44) };
    let whole = fit(subject, &request)?;
    let (batches, steps) = (whole.object.batches(), whole.object.used().objectives.len());
    let reason = whole.reason;
    whole.end()?;
    if reason != Reason::Stopped {
        let what = format!("ends {reason:?} before its passes are spent");
        return Err(subject.unexpected_end(Reason::Stopped, what));
    }
    let mut turns = FitRun::begin(subject, &request, &batch(subject, BATCH))?;
    for passes in [1.0, 2.0, 3.0] {
        turns.grant(passes);
        finish(&mut turns)?;
        // A refused step draws nothing.
        finish(&mut turns)?;
    }
    let same = (turns.batches(), turns.used().objectives.len()) == (batches, steps);
    turns.end()?;
    if same {
        return Ok(());
    }
    Err(Finding::Failed("with passes that are granted one by one, it draws other batches".into()))
}

pub(super) fn resume(subject: &Subject<'_>) -> Result<(), Finding> {
    let settings = batch(subject, BATCH);
    let pausing = FitRequest { pause: true, ..request(subject) };
    demand_repeatable(subject, &pausing)?;
    let mut whole = fit(subject, &pausing)?;
    let steps = whole.object.used().objectives.len();
    if steps <= STEPS {
        return Err(Finding::Skipped(format!("takes {steps} steps alone")));
    }
    let mut first = FitRun::begin(subject, &pausing, &settings)?;
    for _ in 0..STEPS {
        first.fit()?;
    }
    let saved = first.save()?;
    first.end()?;
    let Some(saved) = saved else { return Err(Finding::Skipped("saves no state".into())) };
    let mut second = FitRun::load(subject, &pausing, &settings, &saved)?;
    if !second.save()?.is_some_and(|again| again.is_same_state(&saved)) {
        return Err(Finding::Failed("saves another state than it was resumed from".into()));
    }
    finish(&mut second)?;
    let left = Some(steps - STEPS);
    let same = bits(&mut second, left)? == bits(&mut whole.object, left)?;
    second.end()?;
    whole.end()?;
    if same { Ok(()) } else { Err(Finding::Failed("after it was resumed, it gives another fit".into())) }
}

pub(super) fn load_elsewhere(subject: &Subject<'_>) -> Result<(), Finding> {
    let settings = batch(subject, BATCH);
    let mut first = FitRun::begin(subject, &FitRequest { pause: true, ..request(subject) }, &settings)?;
    first.fit()?;
    let saved = first.save()?;
    first.end()?;
    let Some(saved) = saved else { return Err(Finding::Skipped("saves no state".into())) };
    let mut other = request(subject);
    other.y *= 1.5;
    match FitRun::load(subject, &other, &settings, &saved) {
        Err(error) if error.status() == Some(Status::INVALID_ARGUMENT) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(object) => {
            object.end()?;
            Err(Finding::Failed("goes on from a state of other targets".into()))
        }
    }
}

pub(super) fn reuse(subject: &Subject<'_>) -> Result<(), Finding> {
    let whole = demand_repeatable(subject, &request(subject))?;
    let earlier = FitRequest::new(subject, 40, 42);
    let mut fitted = fit(subject, &earlier)?;
    fitted.object.begin_again(&request(subject))?;
    let reason = finish(&mut fitted.object)?;
    let again = bits(&mut fitted.object, None)?;
    demand_sound(&mut fitted)?;
    fitted.end()?;
    if again == whole {
        return Ok(());
    }
    Err(Finding::Failed(format!("an object that begins again gives another fit, which ended {reason:?}")))
}

/// The host refuses a fit whose data were written to.
pub(super) fn inputs(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = FitRequest { pause: true, ..FitRequest::new(subject, 77, 43) };
    let mut object = FitRun::begin(subject, &request, &batch(subject, BATCH))?;
    while object.fit()? == End::Paused {}
    Ok(object.end()?)
}
