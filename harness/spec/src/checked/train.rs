//! How hyperparameters are trained.
//!
//! | key of `[train]` | default | meaning |
//! |---|---|---|
//! | `steps` | 100 | outer steps |
//! | `learning_rate` | 0.1 | of Adam's first step |
//! | `schedule` | `"constant"` | or `{ milestones = [50, 80], factor = 0.5 }` |
//! | `initial` | `"ones"` | where kernels without `hyperparameters` of their own begin; `{ fit = "subset", centroids = 10, size = 10000, steps = 100 }`: at the average of exact fits to the rows nearest to some random ones |
//! | `fixed` | none | `["noise_scale", "signal_scale"]`: scales that stay where they begin |
//! | `mean` | `"zero"` | of the prior; `"constant"`: trained beside the scales, from 0 |
//! | `replay` | none | folder of a run, or `{ run = "...", solver = "...", estimator = "..." }`: its steps' hyperparameters are taken, so that all solvers meet the same systems |
//! | `landscape` | none | `{ length_scale = [0.1, 10], noise_scale = [0.01, 1], points = 24 }`: the exact likelihood there, once the exact estimator has trained one length scale for all inputs |

use gpbench_record::{Estimator, EstimatorMethod, Grid, Scale, Schedule, Subset, Task, Training};

use super::positive;
use crate::error::Mistakes;
use crate::nearest;
use crate::source::{At, Location};
use crate::typed::{FitTable, LandscapeTable, Root, ScheduleTable, Typed};

const STEPS: u32 = 100;
const LEARNING_RATE: f64 = 0.1;
/// Parts of the data that are fitted, and their rows, as in the paper.
const CENTROIDS: u32 = 10;
const SIZE: u32 = 10_000;
/// Points along each axis of a landscape.
const POINTS: u32 = 24;
const MOST_POINTS: u32 = 200;

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
        fixed: fixed(table.and_then(|t| t.value.fixed.as_ref()), mistakes),
        subset: None,
        landscape: table.and_then(|t| t.value.landscape.as_ref()).and_then(|grid| landscape(grid, mistakes)),
    })
}

/// The prior mean that kernels begin with, where it is trained.
pub(crate) fn mean(root: &Root, mistakes: &mut Mistakes) -> Option<f64> {
    let given = root.train.as_ref()?.value.mean.as_ref()?;
    match given.value.as_str() {
        "zero" => None,
        "constant" => Some(0.0),
        other => {
            let hint = nearest::hint(other, ["zero", "constant"]);
            mistakes.add(&given.at, format!("unknown mean \"{other}\""), hint);
            None
        }
    }
}

/// Scales that are not trained.
fn fixed(names: Option<&At<Vec<At<String>>>>, mistakes: &mut Mistakes) -> Vec<Scale> {
    let Some(names) = names else { return Vec::new() };
    let mut fixed = Vec::new();
    for name in &names.value {
        match Scale::ALL.into_iter().find(|scale| scale.name() == name.value) {
            Some(scale) if !fixed.contains(&scale) => fixed.push(scale),
            Some(_) => {}
            None => {
                let hint = nearest::hint(&name.value, Scale::ALL.map(Scale::name));
                mistakes.add(&name.at, format!("no hyperparameter is called `{}`", name.value), hint);
            }
        }
    }
    if fixed.len() == Scale::ALL.len() {
        mistakes.add(&names.at, "with all scales `fixed` there is nothing to train", None);
    }
    fixed
}

/// A grid for the exact likelihood.
fn landscape(table: &At<LandscapeTable>, mistakes: &mut Mistakes) -> Option<Grid> {
    let LandscapeTable { length_scale, noise_scale, points } = &table.value;
    let mut range = |given: Option<&At<Vec<At<f64>>>>, key: &str| -> Option<[f64; 2]> {
        let numbers = given.map(|given| given.value.iter().map(|number| number.value).collect::<Vec<f64>>());
        match numbers.as_deref() {
            Some(&[low, high]) if 0.0 < low && low < high && high.is_finite() => Some([low, high]),
            _ => {
                let at = given.map_or(&table.at, |given| &given.at);
                let what = format!("`{key}` of `landscape` must be two positive numbers, the smaller first");
                mistakes.add(at, what, format!("for instance {key} = [0.1, 10]"));
                None
            }
        }
    };
    let (length_scale, noise_scale) =
        (range(length_scale.as_ref(), "length_scale"), range(noise_scale.as_ref(), "noise_scale"));
    let count = positive(points.as_ref(), "points", POINTS, mistakes);
    if let Some(points) = points.as_ref().filter(|_| !(2..=MOST_POINTS).contains(&count)) {
        mistakes.add(&points.at, format!("`points` must lie between 2 and {MOST_POINTS}"), None);
    }
    Some(Grid { length_scale: length_scale?, noise_scale: noise_scale?, points: count as usize })
}

/// Refuses a landscape that nothing would be laid out on: it takes the exact estimator, and a kernel with one
/// length scale.
pub(crate) fn check_landscape(
    typed: &Typed,
    estimators: &[Estimator],
    shares_length_scale: impl IntoIterator<Item = bool>,
    mistakes: &mut Mistakes,
) {
    let table = typed.root.train.as_ref();
    let Some(landscape) = table.and_then(|table| table.value.landscape.as_ref()) else { return };
    if !typed.axes_overridden && estimators.iter().all(|estimator| estimator.method != EstimatorMethod::Exact)
    {
        let hint = "add the estimator \"exact\"".to_owned();
        mistakes.add(&landscape.at, "`landscape` needs exact training, which the spec has not", hint);
    }
    if shares_length_scale.into_iter().any(|shares| !shares) {
        let hint =
            "give the kernel `hyperparameters = { from = \"ones\", length_scale = \"shared\" }`".to_owned();
        mistakes.add(&landscape.at, "`landscape` needs one length scale for all inputs", hint);
    }
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

fn multi_step(milestones: &[i64], factor: f64, at: &Location, mistakes: &mut Mistakes) -> Schedule {
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
