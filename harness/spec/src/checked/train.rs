//! How hyperparameters are trained.
//!
//! | key of `[train]` | default | meaning |
//! |---|---|---|
//! | `steps` | 100 | outer steps |
//! | `learning_rate` | 0.1 | of Adam's first step |
//! | `schedule` | `"constant"` | or `{ milestones = [50, 80], factor = 0.5 }` |
//! | `initial` | `"ones"` | where kernels without `hyperparameters` of their own begin; `{ fit = "subset", centroids = 10, size = 10000, steps = 100 }`: at the average of exact fits to the rows nearest to some random ones |
//! | `replay` | none | folder of a run, or `{ run = "...", solver = "...", estimator = "..." }`: its steps' hyperparameters are taken, so that all solvers meet the same systems |

use gpbench_record::{Schedule, Subset, Task, Training};

use super::positive;
use crate::error::Mistakes;
use crate::nearest;
use crate::typed::{FitTable, Root, ScheduleTable};

const STEPS: u32 = 100;
const LEARNING_RATE: f64 = 0.1;
/// Parts of the data that are fitted, and their rows, as in the paper.
const CENTROIDS: u32 = 10;
const SIZE: u32 = 10_000;

/// What `[train]` says, where the task trains. The length scales are the kernel's to tell.
pub(crate) fn resolve(root: &Root, task: Task, mistakes: &mut Mistakes) -> Option<Training> {
    let table = root.train.as_ref();
    if task != Task::Train {
        if let Some(table) = table {
            let hint = "write task = \"train\"".to_owned();
            mistakes.add(&table.at, "[train] is for task \"train\": here it has no effect", hint);
        }
        return None;
    }
    let steps = positive(table.and_then(|t| t.value.steps.as_ref()), "steps", STEPS, mistakes);
    let learning_rate = match table.and_then(|t| t.value.learning_rate.as_ref()) {
        None => LEARNING_RATE,
        Some(given) => {
            if !(given.value > 0.0 && given.value.is_finite()) {
                let what = format!("`learning_rate` must be positive and finite, not {}", given.value);
                mistakes.add(&given.at, what, None);
            }
            given.value
        }
    };
    let schedule = table.and_then(|t| t.value.schedule.as_ref());
    let schedule = schedule.map_or(Schedule::Constant, |schedule| match &schedule.value {
        ScheduleTable::Named(name) => {
            if name != "constant" {
                let hint = nearest::hint(name, ["constant"]);
                mistakes.add(&schedule.at, format!("unknown schedule \"{name}\""), hint);
            }
            Schedule::Constant
        }
        ScheduleTable::MultiStep { milestones, factor } => {
            multi_step(milestones, *factor, &schedule.at, mistakes)
        }
    });
    Some(Training {
        steps: steps.into(),
        learning_rate,
        schedule,
        shared_length_scale: false,
        replay: Vec::new(),
        subset: None,
    })
}

/// Exact fits of parts of the data, where a kernel's hyperparameters ask for them.
pub(crate) fn subset(fit: &FitTable, task: Task, mistakes: &mut Mistakes) -> Option<Subset> {
    let FitTable { method, centroids, size, steps } = fit;
    if method.value != "subset" {
        let hint = nearest::hint(&method.value, ["subset"]);
        mistakes.add(&method.at, format!("unknown way \"{}\" to fit hyperparameters", method.value), hint);
        return None;
    }
    if task != Task::Train {
        let hint = "train, and give the scales that it ends with".to_owned();
        mistakes.add(&method.at, "hyperparameters are fitted by task \"train\" only", hint);
        return None;
    }
    Some(Subset {
        centroids: positive(centroids.as_ref(), "centroids", CENTROIDS, mistakes) as usize,
        size: positive(size.as_ref(), "size", SIZE, mistakes) as usize,
        steps: positive(steps.as_ref(), "steps", STEPS, mistakes).into(),
    })
}

fn multi_step(
    milestones: &[i64],
    factor: f64,
    at: &crate::source::Location,
    mistakes: &mut Mistakes,
) -> Schedule {
    if !(factor > 0.0 && factor.is_finite()) {
        mistakes.add(at, format!("`factor` must be positive and finite, not {factor}"), None);
    }
    let counts: Vec<u64> = milestones.iter().filter_map(|&step| u64::try_from(step).ok()).collect();
    if counts.len() < milestones.len() || counts.is_empty() {
        let hint = "they are steps, counted from 0".to_owned();
        mistakes.add(at, "`milestones` must be one or more whole numbers, none below 0", hint);
    }
    Schedule::MultiStep { milestones: counts, factor }
}
