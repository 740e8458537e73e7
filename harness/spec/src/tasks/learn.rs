//! Task `learn`: the solver axis lists learners, and there is no estimator axis.

use gpbench_record::{
    Capability, Covariance, Family, Fractions, Learning, ModelSelection, SolverInfo, SolverKind, Task,
    TaskKind,
};

use super::optimum;
use super::rules::{CellEntries, Rules};
use crate::axes::{Axes, DatasetEntry, Estimators, KernelEntry, SolverEntry};
use crate::catalog::Catalog;
use crate::error::Mistakes;
use crate::source::At;
use crate::tables::budget::Bounds;
use crate::tables::learn as table;
use crate::task_keys::{TaskKey, TaskKeys};
use crate::typed::Typed;

/// Default number of evaluations of a case.
const LOOKS: u32 = 60;

/// Inducing points in examples of hints, where the data sets have enough rows.
const POINTS: usize = 1000;

/// Most evaluations of a case.
const MOST_LOOKS: u64 = 1000;

pub(crate) struct Learn<'a> {
    table: &'a table::Learn,
    /// Whether `--set` changed an axis.
    axes_overridden: bool,
    looks: Vec<u64>,
    /// Installed learners that train a mean.
    with_mean: Vec<String>,
}

impl<'a> Rules<'a> for Learn<'a> {
    const KEYS: TaskKeys = TaskKeys {
        task: TaskKind::Learn,
        keys: &[
            TaskKey::Learn,
            TaskKey::TestPredictions,
            TaskKey::Network,
            TaskKey::SharedLengthScale,
            TaskKey::DataStart,
            TaskKey::Inducing,
        ],
    };
    const ESTIMATORS: Option<Estimators> = None;

    fn new(typed: &'a Typed, catalog: &Catalog, mistakes: &mut Mistakes) -> Self {
        let table = &typed.root.learn.value;
        refuse_estimators(typed, mistakes);
        refuse_bounds(&typed.root.budget, mistakes);
        for own in typed.root.solvers.iter().filter_map(|solver| solver.budget.as_ref()) {
            refuse_bounds(&own.value, mistakes);
        }
        check_selection(table, mistakes);
        let with_mean = catalog.solvers().map(|(_, found)| found);
        let with_mean =
            with_mean.filter(|found| found.kind == SolverKind::Learner && found.can(Capability::Mean));
        Learn {
            table,
            axes_overridden: typed.axes_overridden,
            looks: looks(table, mistakes),
            with_mean: with_mean.map(|found| found.id.clone()).collect(),
        }
    }

    fn check_axes(&self, axes: &Axes<'_>, mistakes: &mut Mistakes) {
        let is_found = |name: &String| axes.solvers.iter().any(|solver| solver.entry() == name);
        // A narrowed axis, or one that could not be resolved, may have lost the learner that has a parameter.
        if !self.axes_overridden && axes.solver_entries.iter().all(is_found) {
            self.check_params(&axes.solvers, mistakes);
        }
        axes.refuse_collapse(
            "`collapse_duplicates` has no effect: learners solve no linear system",
            mistakes,
        );
        if let Some(validation) = &self.table.validation {
            axes.datasets.iter().for_each(|dataset| check_validation(validation, dataset, mistakes));
        }
        self.check_mean(&axes.solvers, mistakes);
        let validation = self.validation().map(|share| share.value);
        if !self.axes_overridden {
            optimum::check(&self.table.optimum, axes, validation, mistakes);
        }
        let least = axes.datasets.iter().filter_map(|dataset| dataset.n(0, validation)).min();
        for solver in &axes.solvers {
            if solver.info.needs_inducing() && solver.inducing.is_none() {
                let what = format!("learner `{}` needs inducing points", solver.info.id);
                let points = least.map_or(POINTS, |rows| rows.div_ceil(2).min(POINTS));
                let example = format!("inducing = {{ select = \"kmeans\", points = {points} }}");
                mistakes.add(&solver.at, what, format!("add {example} to [solver.{}]", solver.entry()));
            }
        }
    }

    fn prior_mean(&self) -> Option<f64> {
        self.table.mean.value
    }

    fn validation(&self) -> Option<&At<f64>> {
        self.table.validation.as_ref()
    }

    fn task(&self, cell: &CellEntries<'_>, mistakes: &mut Mistakes) -> Option<Task> {
        let CellEntries { kernel, solver, .. } = cell;
        if let Err((what, hint)) = takes(solver.info, kernel) {
            let what = format!("learner `{}` does not take kernel `{}`: {what}", solver.entry(), kernel.name);
            mistakes.add(&solver.at, what, format!("{hint}, or exclude the pair"));
            return None;
        }
        Some(Task::Learn(Box::new(Learning {
            passes: self.table.epochs.value,
            looks: self.looks.clone(),
            select: self.table.select.value,
            patience: self.table.patience.value,
            inducing: solver.inducing,
            shared_length_scale: kernel.shares_length_scale(),
            nlml_rows: self.table.nlml_rows.value,
            exact_rows: self.table.exact_rows.value,
            variance_rank: self.table.variance_rank.as_ref().map(|rank| rank.value),
            optimum: optimum::is_sought(
                &self.table.optimum,
                cell,
                self.validation().map(|share| share.value),
            ),
            grid: None,
        })))
    }
}

impl Learn<'_> {
    /// Reports learners that do not train a mean, where one is asked for.
    fn check_mean(&self, learners: &[SolverEntry<'_>], mistakes: &mut Mistakes) {
        let (Some(_), Some(at)) = (self.table.mean.value, &self.table.mean.at) else { return };
        let mut unable: Vec<String> = Vec::new();
        for learner in learners.iter().filter(|learner| !learner.info.can(Capability::Mean)) {
            let id = format!("`{}`", learner.info.id);
            if !unable.contains(&id) {
                unable.push(id);
            }
        }
        let (learners, verb) = if unable.len() == 1 { ("learner", "does") } else { ("learners", "do") };
        if !unable.is_empty() {
            let what = format!("{learners} {} {verb} not train a constant mean", unable.join(", "));
            let hint = match self.with_mean.is_empty() {
                true => "remove `mean`".to_owned(),
                false => format!("remove `mean`; these do: {}", self.with_mean.join(", ")),
            };
            mistakes.add(at, what, hint);
        }
    }

    /// Reports parameters of [learn] that no learner has.
    fn check_params(&self, learners: &[SolverEntry<'_>], mistakes: &mut Mistakes) {
        let params = self.table.params.as_ref().map_or(&[][..], |given| &given.value.0);
        for (key, _) in params {
            let has_it = |learner: &SolverEntry<'_>| learner.info.params.iter().any(|p| p.name == key.value);
            if !learners.iter().any(has_it) {
                let known = learners.iter().flat_map(|learner| &learner.info.params);
                let hint = crate::nearest::hint(&key.value, known.map(|param| param.name.as_str()));
                let what = format!("no learner of the matrix has a parameter `{}`", key.value);
                mistakes.add(&key.at, what, hint);
            }
        }
    }
}

/// Reports estimators: a learner has no right-hand sides.
fn refuse_estimators(typed: &Typed, mistakes: &mut Mistakes) {
    let root = &typed.root;
    let of_excludes = root.excludes.iter().filter_map(|exclude| exclude.value.estimator.as_ref());
    let tables = root.estimators.names().map(|name| &name.at);
    let places = root.matrix.estimator.iter().chain(of_excludes).map(|names| &names.at).chain(tables);
    for at in places {
        let what = "task \"learn\" has no estimators: learners have no right-hand sides";
        mistakes.add(at, what, "remove it".to_owned());
    }
}

/// Reports bounds of linear systems.
fn refuse_bounds(bounds: &Bounds, mistakes: &mut Mistakes) {
    if let Some(At { at, .. }) = &bounds.tolerance {
        let what = "`tolerance` has no effect: learners have no residuals";
        mistakes.add(at, what, "`epochs` of [learn] bounds a learner, and `time` of [budget]".to_owned());
    }
    if let Some(At { at, .. }) = &bounds.max_epochs {
        let what =
            "`max_epochs` has no effect: it counts kernel entries, and learners make passes over the rows";
        mistakes.add(at, what, "write `epochs` in [learn]".to_owned());
    }
}

/// Reports a selection whose criterion the spec or the learner does not provide.
fn check_selection(table: &table::Learn, mistakes: &mut Mistakes) {
    let select = table.select.value;
    if let (true, None, Some(at)) = (select.validates(), &table.validation, &table.select.at) {
        let what = format!("select = \"{}\" needs validation rows", select.as_str());
        mistakes.add(at, what, "add `validation`, their share of all rows, such as 0.16".to_owned());
    }
    if let (ModelSelection::Last, 1.., Some(at)) = (select, table.patience.value, &table.patience.at) {
        let what = "`patience` has no effect with select = \"last\", which has no best evaluation";
        mistakes.add(at, what, "select by \"nlml\", \"validation_nll\" or another number".to_owned());
    }
}

/// Numbers of passes after which the harness evaluates the model: at equal distances, or else even on a logarithmic axis; and
/// after the last one.
fn looks(table: &table::Learn, mistakes: &mut Mistakes) -> Vec<u64> {
    let passes = table.epochs.value;
    let mut looks: Vec<u64> = match &table.every {
        Some(every) => {
            let count = passes.div_ceil(every.value);
            if count > MOST_LOOKS {
                let what = format!(
                    "an evaluation after every {} of {passes} passes: {count} evaluations",
                    every.value
                );
                let hint = format!("at most {MOST_LOOKS} are possible: give a larger `every`");
                mistakes.add(&every.at, what, hint);
                return vec![passes];
            }
            (1..).map(|k| k * every.value).take_while(|look| *look < passes).collect()
        }
        None if passes <= u64::from(LOOKS) => (1..passes).collect(),
        None => {
            let even = |k: u32| (passes as f64).powf(f64::from(k) / f64::from(LOOKS - 1)).round() as u64;
            (0..LOOKS).map(even).filter(|look| *look < passes).collect()
        }
    };
    looks.push(passes);
    looks.dedup();
    looks
}

/// Reports a share for validation that the shares of a data set leave no rows for.
fn check_validation(validation: &At<f64>, dataset: &DatasetEntry, mistakes: &mut Mistakes) {
    let (share, name) = (validation.value, &dataset.name);
    if let Some(Fractions { train, test }) = dataset.counts.fractions()
        && train + test + share > 1.0 + f64::EPSILON
    {
        let what = format!("fractions of {train:?} and {test:?} of data set `{name}` leave too few rows");
        let hint = format!("together with validation = {share:?} they are at most 1");
        mistakes.add(&validation.at, what, hint);
    }
}

/// Whether a learner takes a kernel; else why not, and what to write.
fn takes(learner: &SolverInfo, kernel: &KernelEntry) -> Result<(), (&'static str, String)> {
    if kernel.network.is_some() && !learner.can(Capability::Network) {
        return Err(("it takes no networks", "use a kernel without `network`".to_owned()));
    }
    let Covariance::Stationary(family) = kernel.family else { return Ok(()) };
    if learner.can(Capability::Kernel) {
        return Ok(());
    }
    if !learner.can(Capability::Finite) {
        let hint = "use family = \"linear\" on a network".to_owned();
        return Err(("it takes no stationary families", hint));
    }
    if family != Family::Rbf {
        let what = "it needs finitely many features, and has random ones of the family rbf alone";
        return Err((what, "use family = \"rbf\", or family = \"linear\" on a network".to_owned()));
    }
    // Without a network the learner's own parameters say how many random features there are.
    match &kernel.network {
        Some(network) if network.random.is_none() => {
            let hint = format!("add, for instance, random = 1000 to [kernel.{}]", kernel.name);
            Err(("it needs finitely many features", hint))
        }
        _ => Ok(()),
    }
}
