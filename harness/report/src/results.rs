//! The results of one task: its cases, their means over seeds, and their division into problems and models.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use gpbench_record::{Case, names};

use crate::aggregate::{Group, groups_of};
use crate::charts::form::ChartForm;
use crate::comparable_times::MARK;
use crate::frame::is_time;
use crate::frame::{CaseView, Cases};
use crate::grid;
use crate::pairs;
use crate::problem::GroupProblem;
use crate::worst_residual;

/// Label of predictions that no model verifies.
pub(crate) const OWN_PREDICTIONS: &str = "learner's own";

/// The results of one task.
pub(crate) struct Results<'f> {
    /// The cases, of each grid the chosen value.
    pub(crate) cases: Cases<'f>,
    /// The cases with all values of the grids.
    pub(crate) whole: Cases<'f>,
    pub(crate) groups: Vec<Group>,
    /// The form of its charts.
    pub(crate) form: ChartForm,
    /// The cases with comparable times alone.
    pub(crate) comparable: Cases<'f>,
    /// The groups of these, where some times are not comparable.
    comparable_groups: Vec<Group>,
    /// Ids of the cases whose times are not comparable.
    incomparable: HashSet<&'f str>,
}

/// A data set with a kernel, on which estimators and solvers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Model<'a> {
    pub(crate) dataset: &'a str,
    pub(crate) kernel: &'a str,
}

impl<'f> Results<'f> {
    /// The results of some cases, all of one task.
    pub(crate) fn new(whole: Cases<'f>) -> Results<'f> {
        let cases = grid::chosen(&whole);
        let comparable = cases.with_comparable_times();
        let incomparable: HashSet<&str> = cases.incomparable_times().into_keys().collect();
        let comparable_groups = if incomparable.is_empty() { Vec::new() } else { groups_of(&comparable) };
        let form = ChartForm::default();
        Results { groups: groups_of(&cases), form, cases, whole, comparable, comparable_groups, incomparable }
    }

    /// The results with charts in a form.
    pub(crate) fn with_charts(self, form: ChartForm) -> Results<'f> {
        Results { form, ..self }
    }

    /// A group with comparable times alone.
    pub(crate) fn comparable<'b>(&'b self, group: &'b Group) -> &'b Group {
        let is_same = |other: &&Group| (&other.problem, &other.solver) == (&group.problem, &group.solver);
        self.comparable_groups.iter().find(is_same).unwrap_or(group)
    }

    /// Suffix of a metric of a group: a mark where it is a time that is not comparable, or a largest residual that the mean
    /// hides.
    pub(crate) fn mark(&self, group: &Group, metric: &str) -> &'static str {
        if metric == names::RESIDUAL_MAX && self.of(group).any(worst_residual::is_hidden) {
            return worst_residual::MARK;
        }
        let is_incomparable =
            |case: CaseView<'_>| self.incomparable.contains(case.id()) && case.metric(metric).is_some();
        if is_time(metric) && self.of(group).any(is_incomparable) { MARK } else { "" }
    }

    /// The cases of a group.
    pub(crate) fn of<'b>(&'b self, group: &'b Group) -> impl Iterator<Item = CaseView<'f>> + 'b {
        group.cases(&self.cases)
    }

    /// The cases of a problem.
    pub(crate) fn cases_of<'b>(
        &'b self,
        problem: &'b GroupProblem,
    ) -> impl Iterator<Item = CaseView<'f>> + 'b {
        self.cases.iter().filter(|case| case.is_of(problem))
    }

    /// The first case of a group: all its cases have the same task and solver.
    pub(crate) fn case(&self, group: &Group) -> &'f Case {
        self.of(group).next().expect("a group is made of cases").case()
    }

    /// Whether some predictions of a group are the learner's own, with no model to compute them from.
    pub(crate) fn has_own_predictions(&self, group: &Group) -> bool {
        self.of(group).any(|case| case.row().has_own_predictions())
    }

    /// A metric of each seed of a group, its timing repeats reduced.
    pub(crate) fn of_seeds(&self, group: &Group, metric: &str) -> Vec<f64> {
        self.by_seed(group, metric).into_values().collect()
    }

    /// A metric of a group by seed, timing repeats reduced.
    pub(crate) fn by_seed(&self, group: &Group, metric: &str) -> BTreeMap<u64, f64> {
        pairs::by_seed(self.of(group), metric)
    }

    /// The seeds that a group was run with.
    pub(crate) fn seeds(&self, group: &Group) -> BTreeSet<u64> {
        self.of(group).map(|case| case.seed()).collect()
    }

    /// The cases of a group with comparable times alone.
    pub(crate) fn comparable_cases<'b>(
        &'b self,
        group: &'b Group,
    ) -> impl Iterator<Item = CaseView<'f>> + 'b {
        self.comparable.iter().filter(|case| case.solver() == group.solver && case.is_of(&group.problem))
    }

    /// The problems, in the order of the spec.
    pub(crate) fn problems(&self) -> Vec<&GroupProblem> {
        once_each(self.groups.iter().map(|group| &group.problem))
    }

    /// The groups of a problem, in the order of the spec's solvers.
    pub(crate) fn of_problem<'b>(&'b self, problem: &'b GroupProblem) -> impl Iterator<Item = &'b Group> {
        self.groups.iter().filter(move |group| group.problem == *problem)
    }

    /// Title of a problem: the data set, and kernel or estimator where they vary.
    pub(crate) fn problem_title(&self, problem: &GroupProblem) -> String {
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
        let solvers = self.cases.solvers();
        // Stable: estimators keep the order of the spec.
        found.sort_by_key(|group| solvers.iter().position(|solver| *solver == group.solver));
        found
    }

    /// Title of a model: the data set, and the kernel where it varies.
    pub(crate) fn model_title(&self, Model { dataset, kernel }: Model<'_>) -> String {
        match self.groups.iter().any(|group| group.problem.kernel != kernel) {
            true => format!("{dataset} · {kernel}"),
            false => dataset.to_owned(),
        }
    }

    /// Label of a group within a model: solver and estimator, as far as they vary and matter.
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
