//! Task `train`.

use gpbench_record::{
    FinalPrediction, GradientEstimator, Grid, Hyperparameters, Row, Scale, Task, TaskKind, Training,
};

use super::optimum;
use super::replay::Replay;
use super::rules::{CellEntries, Rules};
use crate::axes::{Axes, Basis, Estimators, Method};
use crate::catalog::Catalog;
use crate::error::Mistakes;
use crate::source::At;
use crate::tables::train as table;
use crate::task_keys::{TaskKey, TaskKeys};
use crate::typed::Typed;

/// Features of the prior draws of the final prediction where the estimator's own number of features is the subject of the
/// studied.
const PREDICTION_FEATURES: usize = 2000;

pub(crate) struct Train<'a> {
    table: &'a table::Train,
    /// Whether `--set` changed an axis.
    axes_overridden: bool,
    fixed: Vec<Scale>,
    replay: Option<Replay<'a>>,
}

impl<'a> Rules<'a> for Train<'a> {
    const KEYS: TaskKeys = TaskKeys {
        task: TaskKind::Train,
        keys: &[
            TaskKey::Train,
            TaskKey::TestPredictions,
            TaskKey::SharedLengthScale,
            TaskKey::Fit,
            TaskKey::DataStart,
            TaskKey::Prediction,
            TaskKey::WarmStart,
            TaskKey::SecondSolve,
        ],
    };
    const ESTIMATORS: Option<Estimators> = Some(Estimators {
        methods: &[
            Method::Pathwise,
            Method::Standard,
            Method::Exact,
            Method::Cglb,
            Method::Rff,
            Method::SsRff,
        ],
        default: "pathwise",
    });

    fn new(typed: &'a Typed, catalog: &'a Catalog, mistakes: &mut Mistakes) -> Self {
        let table = &typed.root.train.value;
        Train {
            table,
            axes_overridden: typed.axes_overridden,
            fixed: fixed(table, mistakes),
            replay: Replay::find(table.replay.as_ref(), catalog, has_trained, mistakes),
        }
    }

    fn check_axes(&self, axes: &Axes<'_>, mistakes: &mut Mistakes) {
        let estimators = || axes.estimators.iter().flatten();
        estimators().for_each(|estimator| estimator.check_traces(mistakes));
        let why =
            "`collapse_duplicates` does not go with training, whose steps start from weights of all rows";
        axes.refuse_collapse(why, mistakes);
        if !self.axes_overridden {
            optimum::check(&self.table.optimum, axes, None, mistakes);
        }
        let Some(landscape) = &self.table.landscape else { return };
        let is_exact = estimators().any(|estimator| estimator.method == Method::Exact);
        if !self.axes_overridden && !is_exact {
            let hint = "add the estimator \"exact\"".to_owned();
            mistakes.add(
                &landscape.at,
                "`landscape` needs exact training, which the spec does not have",
                hint,
            );
        }
        if !axes.kernels.iter().all(|kernel| kernel.shares_length_scale()) {
            let hint = "give the kernel `hyperparameters = { from = \"ones\", length_scale = \"shared\" }`";
            let what = "`landscape` needs one length scale for all inputs";
            mistakes.add(&landscape.at, what, hint.to_owned());
        }
    }

    fn prior_mean(&self) -> Option<f64> {
        self.table.mean.value
    }

    fn task(&self, cell: &CellEntries<'_>, mistakes: &mut Mistakes) -> Option<Task> {
        let CellEntries { kernel, estimator: Some(estimator), solver, .. } = cell else { return None };
        let (gradient, targets) = match estimator.basis() {
            Basis::Solutions(probes) => {
                let (second_solve, start) = (estimator.second_solve(), estimator.start());
                (GradientEstimator::Solutions { probes, second_solve, start }, estimator.targets())
            }
            Basis::Features(features) => {
                (GradientEstimator::Features(features), estimator.targets_with(PREDICTION_FEATURES))
            }
            Basis::Exact => (GradientEstimator::Exact, estimator.targets()),
            Basis::Bound(bound) => {
                (GradientEstimator::Cglb { bound, start: estimator.start() }, estimator.targets())
            }
        };
        let mut training = Training {
            estimator: estimator.name.clone(),
            gradient,
            steps: self.table.steps.value,
            learning_rate: self.table.learning_rate.value,
            schedule: self.table.schedule.value.clone(),
            shared_length_scale: kernel.shares_length_scale(),
            fixed: self.fixed.clone(),
            replay: Vec::new(),
            subset: kernel.subset(),
            landscape: self.landscape().filter(|_| estimator.method == Method::Exact),
            optimum: optimum::is_sought(&self.table.optimum, cell, None),
            prediction: FinalPrediction { targets, params: solver.prediction.clone() },
        };
        if let Some(replay) = &self.replay {
            let path = path(replay.row(cell, mistakes)?)?;
            training.steps = training.steps.min(path.len() as u64 - 1);
            training.replay = path.into_iter().take(training.steps as usize + 1).collect();
        }
        Some(Task::Train(Box::new(training)))
    }
}

impl Train<'_> {
    fn landscape(&self) -> Option<Grid> {
        self.table.landscape.as_ref().and_then(|given| given.value)
    }
}

/// Whether a row has hyperparameters of every step and after the last one.
fn has_trained(row: &Row) -> bool {
    row.output.training().is_some_and(|t| !t.steps.is_empty() && !t.hyperparameters.is_empty())
}

/// The hyperparameters of every step of a row and after the last one.
fn path(row: &Row) -> Option<Vec<Hyperparameters>> {
    let training = row.output.training()?;
    let steps = training.steps.iter().map(|step| step.hyperparameters.clone());
    Some(steps.chain([training.hyperparameters.clone()]).collect())
}

/// Scales that are not trained.
fn fixed(table: &table::Train, mistakes: &mut Mistakes) -> Vec<Scale> {
    let Some(At { value: names, at }) = &table.fixed else { return Vec::new() };
    let mut fixed = Vec::new();
    for name in names {
        if !fixed.contains(&name.value) {
            fixed.push(name.value);
        }
    }
    if fixed.len() == Scale::ALL.len() {
        mistakes.add(at, "with all scales `fixed` there is nothing to train", None);
    }
    fixed
}
