//! The contestants of a pilot: each distinct combination of data set, kernel, estimator and solver of a plan.

use std::collections::HashMap;

use gpbench_engine::{Plan, installed_memory};
use gpbench_record::{Dataset, Fingerprint, Inducing, PlannedCase, Source, Subsample, Task};

use super::course::Entrant;
use super::measured::Work;

/// Fewest rows of a trial.
const FEWEST_ROWS: usize = 8;

/// A combination of names of a plan, and its cases.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Contestant {
    /// Places of its cases in the plan, which differ in seeds and repeats.
    pub(crate) cases: Vec<usize>,
    /// What the schedule knows of it.
    pub(crate) entrant: Entrant,
}

/// The contestants of a plan, in the order of its axes, without cases that are skipped or whose number of rows
/// is unknown.
pub(crate) fn contestants(plan: &Plan) -> Vec<Contestant> {
    let mut found: Vec<Contestant> = Vec::new();
    let mut places = HashMap::new();
    for (place, planned) in plan.file.cases.iter().enumerate() {
        let Some(rows) = planned.n.filter(|_| planned.skip.is_none()) else { continue };
        let labels = &planned.labels;
        let key = (&labels.dataset, &labels.kernel, &labels.estimator, &labels.solver);
        let at = *places.entry(key).or_insert_with(|| {
            found.push(Contestant { cases: Vec::new(), entrant: entrant(planned, rows) });
            found.len() - 1
        });
        let contestant = &mut found[at];
        contestant.cases.push(place);
        // Splits may differ in size.
        contestant.entrant.rows = contestant.entrant.rows.max(rows);
    }
    let axes = &plan.file.axes;
    let place = |axis: &[String], name: &str| axis.iter().position(|other| other == name);
    found.sort_by_key(|contestant| {
        let labels = &plan.file.cases[contestant.cases[0]].labels;
        (
            place(&axes.dataset, &labels.dataset),
            place(&axes.kernel, &labels.kernel),
            labels.estimator.as_ref().and_then(|name| place(&axes.estimator, name)),
            place(&axes.solver, &labels.solver),
        )
    });
    found
}

fn entrant(planned: &PlannedCase, rows: usize) -> Entrant {
    let inducing = match planned.case.task.inducing() {
        Some(Inducing::Subset { points } | Inducing::Kmeans { points }) => points,
        Some(Inducing::Neighbours { .. }) | None => 0,
    };
    // With fewer rows than that, the inducing points would be the rows.
    let fewest = FEWEST_ROWS.max(2 * inducing).min(rows);
    let memory = planned.case.budget.memory_bytes.or_else(installed_memory);
    let memory_limit = memory.map(|bytes| bytes as f64);
    Entrant { rows, fewest, work: Work::of(&planned.case), memory_limit }
}

/// A case on a part of its rows, which ends after some seconds or steps. It is compared with nothing; an exact
/// reference is only for a case that ends at a target.
pub(crate) fn on_part(planned: &PlannedCase, rows: usize, seconds: f64, steps: Option<u64>) -> PlannedCase {
    let mut case = planned.case.clone();
    let rows = planned.n.map_or(rows, |n| n.min(rows));
    if planned.n != Some(rows) {
        keep(&mut case.dataset, rows);
    }
    match &mut case.task {
        Task::Train(training) => {
            (training.landscape, training.optimum) = (None, false);
            training.steps = steps.unwrap_or(training.steps);
            // It has the hyperparameters after the last step too.
            training.replay.truncate(training.steps as usize + 1);
        }
        Task::Learn(learning) => learning.optimum = false,
        Task::Thompson(search) => search.steps = steps.unwrap_or(search.steps),
        _ => {}
    }
    case.dataset.predictions = Some(false);
    case.budget.seconds = Some(case.budget.seconds.map_or(seconds, |own| own.min(seconds)));
    let exact = planned.fingerprint.exact && case.stop_at.is_some();
    let fingerprint = Fingerprint { exact, ..planned.fingerprint.clone() };
    PlannedCase::new(case, fingerprint, Some(rows), None)
}

/// Reduces the training rows of a data set.
fn keep(dataset: &mut Dataset, rows: usize) {
    match &mut dataset.source {
        Source::Toy { n, .. } => *n = rows,
        Source::GpDraw(draw) => draw.n = rows,
        Source::Objective(objective) => objective.n = rows,
        Source::Registry { .. } | Source::File { .. } => dataset.subsample = Some(Subsample::Rows(rows)),
    }
}
