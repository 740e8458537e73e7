//! Task `thompson`.

use gpbench_record::{
    self as record, Objective, ObjectiveDraw, PriorSource, Source, Task, TaskKind, WarmStart,
};

use super::replay::Replay;
use super::rules::{CellEntries, Rules};
use crate::axes::{Axes, DatasetEntry, Estimators, Method};
use crate::catalog::Catalog;
use crate::error::Mistakes;
use crate::tables::thompson as table;
use crate::task_keys::{TaskKey, TaskKeys};
use crate::typed::Typed;

pub(crate) struct Thompson<'a> {
    table: &'a table::Thompson,
    replay: Option<Replay<'a>>,
}

impl<'a> Rules<'a> for Thompson<'a> {
    const KEYS: TaskKeys = TaskKeys {
        task: TaskKind::Thompson,
        keys: &[TaskKey::Thompson, TaskKey::Objective, TaskKey::Inducing],
    };
    // Standard probes give no posterior samples.
    const ESTIMATORS: Option<Estimators> =
        Some(Estimators { methods: &[Method::Pathwise], default: "pathwise" });

    fn new(typed: &'a Typed, catalog: &'a Catalog, mistakes: &mut Mistakes) -> Self {
        let table = &typed.root.thompson.value;
        let has_path =
            |row: &record::Row| row.output.thompson().is_some_and(|output| !output.points.is_empty());
        Thompson { table, replay: Replay::find(table.replay.as_ref(), catalog, has_path, mistakes) }
    }

    fn check_axes(&self, axes: &Axes<'_>, mistakes: &mut Mistakes) {
        for dataset in &axes.datasets {
            if !matches!(dataset.source, Source::Objective(_)) {
                let what = format!("data set `{}` cannot be evaluated again during the run", dataset.name);
                let hint = format!("give [dataset.{}] a draw: from = \"objective\"", dataset.name);
                mistakes.add(&dataset.at, what, hint);
            }
        }
        self.check_shared(axes, mistakes);
        for estimator in axes.estimators.iter().flatten() {
            let targets = estimator.targets();
            if targets.probes == 0 {
                let hint = "each step acquires one point for each probe".to_owned();
                mistakes.add(&estimator.at, format!("estimator `{}` has no probes", estimator.name), hint);
            }
            if targets.prior == PriorSource::Exact {
                let what = format!("estimator `{}` draws prior functions exactly", estimator.name);
                let hint = "samples are evaluated at new points: draw them from features".to_owned();
                mistakes.add(&estimator.at, what, hint);
            }
            axes.datasets.iter().for_each(|dataset| self.check_points(dataset, targets.probes, mistakes));
        }
    }

    fn task(&self, cell: &CellEntries<'_>, mistakes: &mut Mistakes) -> Option<Task> {
        let estimator = cell.estimator?;
        self.check_warm_start(cell, mistakes);
        self.check_family(cell, mistakes);
        let mut thompson = record::Thompson {
            estimator: estimator.name.clone(),
            targets: estimator.targets(),
            share_features: self.table.share_features.value,
            steps: self.table.steps.value,
            candidates: self.table.candidates.value,
            ascent: self.table.ascent.value,
            warm_start: self.table.warm_start.value,
            inducing: cell.solver.inducing,
            replay: Vec::new(),
        };
        if let Some(replay) = &self.replay {
            let row = replay.row(cell, mistakes)?;
            self.check_replayed(row, cell, &mut thompson, mistakes)?;
        }
        Some(Task::Thompson(Box::new(thompson)))
    }
}

impl Thompson<'_> {
    /// Reports features that are shared with a kernel of another family, whose frequencies have another law.
    fn check_family(&self, cell: &CellEntries<'_>, mistakes: &mut Mistakes) {
        let (share, Source::Objective(of)) = (&self.table.share_features, &cell.dataset.source) else {
            return;
        };
        let Some(at) = share.at.as_ref().filter(|at| share.value && !mistakes.is_reported(at)) else {
            return;
        };
        if cell.kernel.family != of.kernel {
            let what = format!(
                "kernel `{}` is not of the family of data set `{}`, whose features it would share",
                cell.kernel.name, cell.dataset.name
            );
            mistakes.add(at, what, format!("use family = \"{}\"", of.kernel));
        }
    }

    /// Reports an objective without features to share.
    fn check_shared(&self, axes: &Axes<'_>, mistakes: &mut Mistakes) {
        let is_exact = |dataset: &&DatasetEntry| matches!(&dataset.source, Source::Objective(of) if of.draw == ObjectiveDraw::Exact);
        let share = &self.table.share_features;
        let exact = axes.datasets.iter().find(is_exact).filter(|_| share.value);
        if let (Some(at), Some(dataset)) = (&share.at, exact) {
            let what = format!("data set `{}` is drawn exactly: it has no features to share", dataset.name);
            mistakes.add(at, what, "draw it with draw = \"features\"".to_owned());
        }
    }

    /// Reports solutions that cannot be carried over.
    fn check_warm_start(&self, cell: &CellEntries<'_>, mistakes: &mut Mistakes) {
        let start = &self.table.warm_start;
        let Some(at) = start.at.as_ref().filter(|_| start.value != WarmStart::None) else { return };
        if cell.solver.inducing.is_some() && !mistakes.is_reported(at) {
            let what =
                format!("solver `{}` has inducing points, which every step chooses anew", cell.solver.name);
            mistakes.add(at, what, "write warm_start = \"none\"".to_owned());
        }
    }

    /// Reports an exact draw of too many points.
    fn check_points(&self, dataset: &DatasetEntry, batch: usize, mistakes: &mut Mistakes) {
        let Source::Objective(objective) = &dataset.source else { return };
        let points = objective.n as f64 + self.table.steps.value as f64 * batch as f64;
        let most = Objective::MOST_EXACT_POINTS;
        if objective.draw == ObjectiveDraw::Exact && points > most as f64 {
            let what = format!(
                "data set `{}` is drawn exactly, and the run would evaluate it at {points} points, more than {most}",
                dataset.name
            );
            mistakes.add(&dataset.at, what, "write draw = \"features\" in its table".to_owned());
        }
    }

    /// Takes the points of a row; reports one with another objective or batch.
    fn check_replayed(
        &self,
        row: &record::Row,
        cell: &CellEntries<'_>,
        thompson: &mut record::Thompson,
        mistakes: &mut Mistakes,
    ) -> Option<()> {
        let (other, output) = row.case.task.thompson().zip(row.output.thompson())?;
        let Source::Objective(objective) = &cell.dataset.source else { return None };
        let batch = thompson.targets.probes * objective.d;
        if row.case.dataset.source != cell.dataset.source || other.targets.probes != thompson.targets.probes {
            let at = &self.table.replay.as_ref()?.at;
            let what = format!(
                "the case to replay has another objective than data set `{}`, or another number of probes",
                cell.dataset.name
            );
            mistakes.add(at, what, "replay a run of the same objective and batch".to_owned());
            return None;
        }
        thompson.steps = thompson.steps.min((output.points.len() / batch) as u64);
        thompson.replay = output.points[..thompson.steps as usize * batch].to_vec();
        Some(())
    }
}
