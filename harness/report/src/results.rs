//! The results of one task: its rows, their means over seeds, and how tables and charts divide them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use gpbench_record::{Case, Row};

use crate::aggregate::{Group, Problem, groups};
use crate::doubt::MARK;
use crate::error::Result;
use crate::layout::{Added, column};
use crate::run::Run;
use crate::untimed::is_time;

/// What a table says of predictions that no model verifies.
pub(crate) const OWN_PREDICTIONS: &str = "learner's own";

/// The results of one task.
pub(crate) struct Results<'a> {
    pub(crate) run: &'a Run,
    /// The run with all values of its grids; `run` has the chosen ones.
    pub(crate) whole: &'a Run,
    pub(crate) groups: Vec<Group>,
    /// The run with those times alone that may be compared.
    pub(crate) comparable: Cow<'a, Run>,
    /// The groups of that run, where it has other times.
    comparable_groups: Vec<Group>,
    /// Ids of the cases whose times are in doubt.
    in_doubt: HashSet<&'a str>,
}

/// A data set with a kernel: what estimators and solvers are compared on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Model<'a> {
    pub(crate) dataset: &'a str,
    pub(crate) kernel: &'a str,
}

impl<'a> Results<'a> {
    /// The results of a run, all of whose rows belong to one task; `whole` is the run before the choice among the values
    /// of grids.
    pub(crate) fn new(run: &'a Run, whole: &'a Run) -> Result<Results<'a>> {
        let comparable = run.with_comparable_times();
        let comparable_groups = match &comparable {
            Cow::Borrowed(_) => Vec::new(),
            Cow::Owned(comparable) => groups(comparable)?,
        };
        let in_doubt = run.doubts().into_keys().collect();
        Ok(Results { run, whole, groups: groups(run)?, comparable, comparable_groups, in_doubt })
    }

    /// A group with those times alone that may be compared.
    pub(crate) fn comparable<'b>(&'b self, group: &'b Group) -> &'b Group {
        let is_same = |other: &&Group| (&other.problem, &other.solver) == (&group.problem, &group.solver);
        self.comparable_groups.iter().find(is_same).unwrap_or(group)
    }

    /// What follows a metric of a group: a mark where it is a time in doubt.
    pub(crate) fn mark(&self, group: &Group, metric: &str) -> &'static str {
        let is_in_doubt =
            |row: &Row| self.in_doubt.contains(row.id.as_str()) && row.metrics.get(metric).is_some();
        if is_time(metric) && self.rows(group).any(is_in_doubt) { MARK } else { "" }
    }

    /// The cases of a group.
    pub(crate) fn rows<'b>(&self, group: &'b Group) -> impl Iterator<Item = &'a Row> + use<'a, 'b> {
        self.run.rows.iter().filter(|row| group.holds(row))
    }

    /// The first case of a group: all its cases have the same task and solver.
    pub(crate) fn case(&self, group: &Group) -> &'a Case {
        &self.rows(group).next().expect("a group is made of rows").case
    }

    /// Whether some predictions of a group are the learner's own, with no model to compute them from.
    pub(crate) fn has_own_predictions(&self, group: &Group) -> bool {
        self.rows(group).any(Row::has_own_predictions)
    }

    /// The column that says which predictions are the learners' own.
    pub(crate) fn predictions_column(&'a self) -> Added<'a> {
        column("predictions", |group| self.has_own_predictions(group).then(|| OWN_PREDICTIONS.to_owned()))
    }

    /// A metric of each seed of a group, its timing repeats averaged.
    pub(crate) fn of_seeds(&self, group: &Group, metric: &str) -> Vec<f64> {
        self.by_seed(group, metric).into_values().collect()
    }

    /// A metric of a group by seed, timing repeats averaged.
    pub(crate) fn by_seed(&self, group: &Group, metric: &str) -> BTreeMap<u64, f64> {
        let mut of_seed: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for row in self.rows(group) {
            let value = row.metrics.get(metric).filter(|_| row.status.is_answer());
            of_seed.entry(row.labels.seed).or_default().extend(value);
        }
        let measured = of_seed.into_iter().filter(|(_, values)| !values.is_empty());
        measured.map(|(seed, values)| (seed, values.iter().sum::<f64>() / values.len() as f64)).collect()
    }

    /// What solvers are compared on, in the order of the spec.
    pub(crate) fn problems(&self) -> Vec<&Problem> {
        once_each(self.groups.iter().map(|group| &group.problem))
    }

    /// The groups of a problem, in the order of the spec's solvers.
    pub(crate) fn of_problem<'b>(&'b self, problem: &'b Problem) -> impl Iterator<Item = &'b Group> {
        self.groups.iter().filter(move |group| group.problem == *problem)
    }

    /// What tells a problem from the others: the data set, and kernel or estimator only where they vary.
    pub(crate) fn problem_title(&self, problem: &Problem) -> String {
        let all = || self.groups.iter().map(|group| &group.problem);
        let mut parts = vec![problem.dataset.as_str()];
        if all().any(|other| other.kernel != problem.kernel) {
            parts.push(&problem.kernel);
        }
        if all().any(|other| other.estimator != problem.estimator) {
            parts.extend(problem.estimator.as_deref());
        }
        parts.join(" · ")
    }

    /// Data sets with their kernels, in the order of the spec.
    pub(crate) fn models(&self) -> Vec<Model<'_>> {
        once_each(self.groups.iter().map(Model::of))
    }

    /// The groups of a model, solver by solver.
    pub(crate) fn of_model(&self, model: Model<'_>) -> Vec<&Group> {
        let mut found: Vec<&Group> = self.groups.iter().filter(|group| Model::of(group) == model).collect();
        let solvers = self.run.solvers();
        // Stable: estimators keep the order of the spec.
        found.sort_by_key(|group| solvers.iter().position(|solver| *solver == group.solver));
        found
    }

    /// What tells a model from the others: the data set, and the kernel where it varies.
    pub(crate) fn model_title(&self, Model { dataset, kernel }: Model<'_>) -> String {
        match self.groups.iter().any(|group| group.problem.kernel != kernel) {
            true => format!("{dataset} · {kernel}"),
            false => dataset.to_owned(),
        }
    }

    /// What tells a group of a model from the others: solver and estimator, as far as they vary and matter.
    pub(crate) fn label(&self, group: &Group) -> String {
        if self.case(group).task.features().is_some() {
            return group.estimator().to_owned();
        }
        let solved = self.groups.iter().filter(|other| self.case(other).task.features().is_none());
        match once_each(solved.map(|other| &other.problem.estimator)).len() {
            1 => group.solver.clone(),
            _ => format!("{} · {}", group.solver, group.estimator()),
        }
    }
}

impl<'a> Model<'a> {
    /// The model of a group.
    pub(crate) fn of(group: &'a Group) -> Model<'a> {
        Model { dataset: &group.problem.dataset, kernel: &group.problem.kernel }
    }
}

/// The values without repeats, in the order of their first occurrence.
pub(crate) fn once_each<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}
