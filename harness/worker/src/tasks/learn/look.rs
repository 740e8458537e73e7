//! An evaluation of the learner's model between two steps, and its comparison with the best model so far.

use gpbench_host::{Arrays, FitEnd, FitSession, LearnerObject};
use gpbench_record::{Learning, Metrics, ModelSelection, Step, StopReason, names};

use crate::evaluate::model::{Depth, Evaluation, Judge, ParsedModel, Unusable};
use crate::failure::{CaseError, invalid};

use super::state::{Best, State};

/// Result of an evaluation.
#[derive(Debug)]
pub(super) enum Seen {
    /// The model is the best so far, or there is no model.
    Best,
    /// An earlier model is better than this one.
    Worse(Arrays),
    /// The learner has diverged: it reports this, its model is unusable, or a matrix of the model is singular.
    Diverged,
}

/// The arrays of a learner's model after a call of `fit` with this end; `None` for a learner that supplies none.
pub(super) enum Supplied {
    /// The answer of the learner.
    Arrays(Option<Arrays>),
    /// The learner has diverged, and why unless it reports this itself: its arrays have no meaning.
    Diverged(Option<String>),
}

/// Asks a learner for its model.
///
/// # Errors
/// Where the learner cannot supply its model.
pub(super) fn supplied(
    learner: &mut LearnerObject,
    session: &FitSession,
    end: FitEnd,
) -> Result<Supplied, CaseError> {
    if end == FitEnd::Ended(StopReason::Diverged) {
        return Ok(Supplied::Diverged(None));
    }
    match session.aside(|| learner.model()) {
        Err(error) if error.is_singular() => Ok(Supplied::Diverged(Some(error.to_string()))),
        arrays => Ok(Supplied::Arrays(arrays?)),
    }
}

/// Evaluates the model that a learner has supplied after a call of `fit` with this end. Adds the evaluation to the state, and replaces the
/// best model if this one is better.
///
/// # Errors
/// Where the model is malformed, or there is none although selection needs it.
pub(super) fn look(
    judge: &Judge,
    task: &Learning,
    supplied: Supplied,
    end: FitEnd,
    n: usize,
    state: &mut State,
) -> Result<Seen, CaseError> {
    let mut step = Step {
        step: state.looks.len() as u64,
        hyperparameters: Default::default(),
        reason: match end {
            FitEnd::Paused => StopReason::Epochs,
            FitEnd::Ended(reason) => reason,
        },
        metrics: costs(state, n),
    };
    let (arrays, found) = match supplied {
        Supplied::Diverged(why) => (None, Found::Diverged(why)),
        Supplied::Arrays(None) => (None, Found::Nothing),
        Supplied::Arrays(Some(arrays)) => {
            let found = evaluate(judge, task, &arrays, &mut step)?;
            (Some(arrays), found)
        }
    };
    if let Found::Diverged(why) = found {
        step.reason = StopReason::Diverged;
        state.looks.push(step);
        state.divergence = why;
        return Ok(Seen::Diverged);
    }
    let value = value(task.select, &found, &step.metrics, state)?;
    let kind = match &found {
        Found::Model { kind, .. } => Some(*kind),
        Found::Nothing | Found::Diverged(_) => None,
    };
    let (look, hyperparameters) = (step.step, step.hyperparameters.clone());
    let best = state.best.as_ref().and_then(|best| best.value);
    // The earliest of equal values is kept; an unknown value is not better than a known one.
    let is_better = match (task.select, value, best) {
        (ModelSelection::Last, ..) | (_, _, None) => true,
        (_, Some(value), Some(best)) => value < best,
        (_, None, Some(_)) => false,
    };
    state.looks.push(step);
    match arrays {
        Some(model) if !is_better => Ok(Seen::Worse(model)),
        model => {
            state.best = Some(Best { look, value, kind, hyperparameters, model });
            Ok(Seen::Best)
        }
    }
}

/// Kinds of arrays that a learner supplies.
enum Found {
    /// A model that can be evaluated, and its objective where that is requested.
    Model { kind: gpbench_record::ModelKind, objective: Option<f64> },
    /// The learner supplies none.
    Nothing,
    /// The arrays are unusable or a matrix is singular, with the reason unless the learner itself reports divergence.
    Diverged(Option<String>),
}

fn evaluate(judge: &Judge, task: &Learning, arrays: &Arrays, step: &mut Step) -> Result<Found, CaseError> {
    let parsed = match judge.parse(arrays) {
        Ok(parsed) => parsed,
        Err(error @ Unusable::Diverged(_)) => return Ok(Found::Diverged(Some(error.to_string()))),
        Err(error) => return Err(invalid(error)),
    };
    step.hyperparameters = judge.hyperparameters(&parsed);
    let judged = judge.evaluate(&parsed, Depth::Look).and_then(|Evaluation { metrics, .. }| {
        let by_likelihood = task.select == ModelSelection::Nlml;
        let objective = if by_likelihood { judge.objective(&parsed, &metrics)? } else { None };
        Ok((metrics, objective))
    });
    let ParsedModel { kind, .. } = parsed;
    match judged {
        Ok((metrics, objective)) => {
            step.metrics.extend(&metrics);
            Ok(Found::Model { kind, objective })
        }
        // A matrix of the learner's own is singular.
        Err(error) => Ok(Found::Diverged(Some(format!("the model: {error}")))),
    }
}

/// The value by which models are selected.
fn value(
    select: ModelSelection,
    found: &Found,
    metrics: &Metrics,
    state: &State,
) -> Result<Option<f64>, CaseError> {
    let objective = match found {
        Found::Model { objective, .. } => *objective,
        Found::Nothing | Found::Diverged(_) if select == ModelSelection::Last => return Ok(None),
        Found::Nothing | Found::Diverged(_) => {
            let what = "puts no model, so that only the last one can be the result";
            return Err(invalid(format!("the learner {what}; the task selects by `{}`", select.as_str())));
        }
    };
    Ok(match select {
        ModelSelection::Last => None,
        ModelSelection::Objective => state.record.objective,
        ModelSelection::Nlml => objective.filter(|value| value.is_finite()),
        ModelSelection::ValidationNll => metrics.get(names::VALIDATION_NLL),
        ModelSelection::ValidationRmse => metrics.get(names::VALIDATION_RMSE),
    })
}

/// The cost of the fit up to an evaluation.
fn costs(state: &State, n: usize) -> Metrics {
    let cost = state.progress.cost;
    let mut found = Metrics::default();
    for (name, value) in [
        (names::PASSES, cost.passes(n)),
        (names::ROWS, cost.rows),
        (names::EPOCHS, cost.entries.used / (n as f64).powi(2)),
        (names::FEATURE_ROWS, cost.features),
        (names::ITERATIONS, cost.steps as f64),
        (names::SECONDS_PREPARE, cost.begin.wall),
        (names::SECONDS_SOLVE, cost.fit.wall),
        (names::CLAIMED_OBJECTIVE, state.record.objective.unwrap_or(f64::NAN)),
    ] {
        found.insert(name, value);
    }
    found
}
