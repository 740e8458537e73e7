//! The work of a case, and what a trial of it measured.

use gpbench_record::{Case, Row, Task, names};

/// The unit in which a task counts its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkUnit {
    /// Multiples of n^2 kernel entries.
    Epochs,
    /// Outer steps.
    Steps,
    /// Passes over the training rows.
    Passes,
}

impl WorkUnit {
    /// The unit as a word.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            WorkUnit::Epochs => "epochs",
            WorkUnit::Steps => "steps",
            WorkUnit::Passes => "passes",
        }
    }
}

/// The work of a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Work {
    /// The unit.
    pub(crate) unit: WorkUnit,
    /// Units that the case is allowed, where budget or task bound them.
    pub(crate) allowed: Option<f64>,
    /// Whether the case may end before that: at a tolerance or target, or because it gains no more.
    pub(crate) may_end: bool,
}

impl Work {
    /// The work of a case.
    pub(crate) fn of(case: &Case) -> Work {
        let stops = case.stop_at.is_some();
        let (unit, allowed, may_end) = match &case.task {
            Task::Train(training) => (WorkUnit::Steps, Some(training.steps as f64), stops),
            Task::Thompson(search) => (WorkUnit::Steps, Some(search.steps as f64), stops),
            Task::Learn(learning) => {
                (WorkUnit::Passes, Some(learning.passes as f64), stops || learning.patience > 0)
            }
            _ => (WorkUnit::Epochs, case.budget.max_epochs, stops || case.budget.tolerance.is_some()),
        };
        Work { unit, allowed, may_end }
    }
}

/// What a trial measured. Some of the work is done once, such as a preconditioner, the first step of training or its
/// prediction at the end; the rest is counted in units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Measured {
    /// Training rows.
    pub(crate) rows: usize,
    /// Wall-clock seconds of all processes of the trial, one after the other.
    pub(crate) wall: f64,
    /// Seconds of what is done once.
    pub(crate) once: f64,
    /// Seconds of the rest.
    pub(crate) seconds: f64,
    /// Units that were spent once.
    pub(crate) units_once: f64,
    /// Units of the rest.
    pub(crate) units: f64,
    /// Peak memory of the worker in bytes, without cached kernel entries, which take what is left, and without
    /// evaluations that small cases alone have; where known.
    pub(crate) memory: Option<f64>,
    /// Bytes of cached kernel entries.
    pub(crate) cached: f64,
    /// Whether the case ended by itself, not at its limit of time.
    pub(crate) is_whole: bool,
}

impl Measured {
    /// What the row of a trial tells, whose processes took `wall` seconds; none where it lacks the seconds.
    pub(crate) fn of(row: &Row, rows: usize, wall: f64) -> Option<Measured> {
        let get = |name| row.metrics.get(name);
        let [once, seconds, units_once, units] = match &row.case.task {
            Task::Train(_) => {
                // It starts from nothing, and the others perhaps from its solutions.
                let first = seconds_of_first_step(row)?;
                let once = get(names::SECONDS_PREDICT).unwrap_or_default() + first;
                let seconds = get(names::SECONDS_TRAIN).map(|all| (all - first).max(0.0));
                [Some(once), seconds, Some(1.0), get(names::STEPS)]
            }
            Task::Thompson(_) => [None, get(names::SECONDS_TOTAL), None, get(names::STEPS)],
            Task::Learn(_) => {
                [get(names::SECONDS_PREPARE), get(names::SECONDS_SOLVE), None, get(names::PASSES)]
            }
            _ => [names::SECONDS_PREPARE, names::SECONDS_SOLVE, names::EPOCHS_SETUP, names::EPOCHS].map(get),
        };
        let units_once = units_once.unwrap_or_default();
        let cached = get(names::KEPT_BYTES).unwrap_or_default();
        Some(Measured {
            rows,
            wall,
            once: once.unwrap_or_default(),
            seconds: seconds?,
            units_once,
            units: units.map_or(0.0, |units| (units - units_once).max(0.0)),
            memory: get(names::PEAK_MEMORY_BYTES)
                .map(|peak| (peak - cached - evaluation(row, rows)).max(0.0)),
            cached,
            is_whole: row.reproducible,
        })
    }

    /// All seconds.
    pub(crate) fn total(&self) -> f64 {
        self.once + self.seconds
    }

    /// All units.
    pub(crate) fn all_units(&self) -> f64 {
        self.units_once + self.units
    }

    /// The seconds that the case would take with so many units in all, at the speed that was measured; none where no
    /// unit was seen.
    pub(crate) fn with_units(&self, units: f64) -> Option<f64> {
        let left = (units - self.units_once).max(0.0);
        (self.units > 0.0).then(|| self.once + self.seconds / self.units * left)
    }
}

/// Seconds of the first step of training.
fn seconds_of_first_step(row: &Row) -> Option<f64> {
    let metrics = &row.output.steps().first()?.metrics;
    let parts = [names::SECONDS_PREPARE, names::SECONDS_SOLVE, names::SECONDS_OUTER];
    Some(parts.into_iter().filter_map(|name| metrics.get(name)).sum())
}

/// Largest number of rows for which training by solutions evaluates the exact likelihood of each step.
const EVALUATED_ROWS: usize = 3000;

/// Bytes of the matrix of the exact likelihood that a trial evaluates beside its work, and a larger case does not.
fn evaluation(row: &Row, rows: usize) -> f64 {
    let is_evaluated = row.case.task.training().is_some_and(|training| training.gradient.start().is_some());
    if is_evaluated && rows <= EVALUATED_ROWS { 8.0 * (rows as f64).powi(2) } else { 0.0 }
}
