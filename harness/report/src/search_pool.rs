//! Searches by Thompson sampling that are compared: those of one kernel and estimator on all data sets.

use std::collections::BTreeMap;

use crate::frame::CaseView;
use crate::pairs::{differences, mean};
use crate::problem::GroupProblem;
use crate::results::{Results, once_each};
use crate::search::{Measure, Search, Target, by_seed};

/// The searches with one kernel and estimator, on all data sets, solver by solver.
pub(crate) struct Pool<'a> {
    /// What tells the pool from the others; empty where it is the only one.
    pub(crate) title: String,
    /// Solvers that have searched, in the order of the spec.
    pub(crate) solvers: Vec<&'a str>,
    /// What the others are compared with.
    pub(crate) baseline: Option<&'a str>,
    pub(crate) measure: Measure,
    pub(crate) searches: Vec<Search>,
}

/// Id in its plugin of the solver whose samples are exact.
const EXACT: &str = "cholesky";

/// What other solvers are compared with: the spec's choice, else the solver whose samples are exact, else the first of several.
pub(crate) fn baseline<'f>(results: &Results<'f>) -> Option<&'f str> {
    let cases = &results.cases;
    let is_exact = |solver: &&str| {
        cases.iter().any(|case| case.solver() == *solver && case.case().solver.plugin == EXACT)
    };
    let exact = || cases.solvers().into_iter().find(is_exact);
    match cases.options().baseline {
        Some(_) => cases.baseline_solver(),
        None => exact().or_else(|| cases.baseline_solver()),
    }
}

/// Whether points of another run are acquired, in which case the largest value says nothing of the samples.
pub(crate) fn measure(results: &Results<'_>) -> Measure {
    let mut tasks = results.cases.iter().filter_map(|case| case.case().task.thompson());
    if tasks.any(|task| !task.replay.is_empty()) { Measure::Chosen } else { Measure::Best }
}

/// The searches of a run that gave an answer, by kernel and estimator.
pub(crate) fn pools<'a>(results: &Results<'a>) -> Vec<Pool<'a>> {
    let setting = |target: &Target| (target.problem.kernel.clone(), target.problem.estimator.clone());
    let searches = searches(results);
    let settings = once_each(searches.iter().map(|search| setting(&search.target)));
    let title = |(kernel, estimator): &(String, Option<String>)| {
        let kernel = settings.iter().any(|other| other.0 != *kernel).then_some(kernel.as_str());
        let estimator = settings.iter().any(|other| other.1 != *estimator).then_some(estimator.as_deref());
        kernel.into_iter().chain(estimator.flatten()).collect::<Vec<&str>>().join(" · ")
    };
    let pool = |own: &(String, Option<String>)| {
        let searches: Vec<Search> =
            searches.iter().filter(|search| setting(&search.target) == *own).cloned().collect();
        let solvers = results.cases.solvers().into_iter();
        let has_searched = |name: &&str| searches.iter().any(|search| search.solver == **name);
        let solvers: Vec<&str> = solvers.filter(has_searched).collect();
        let baseline = baseline(results).filter(|name| solvers.contains(name));
        Pool { title: title(own), solvers, baseline, measure: measure(results), searches }
    };
    settings.iter().map(pool).collect()
}

fn searches(results: &Results<'_>) -> Vec<Search> {
    let mut all = Vec::new();
    for group in &results.groups {
        let answers = results.of(group).filter(CaseView::is_answer);
        for (seed, repeats) in by_seed(answers) {
            all.extend(Search::new(Target { problem: group.problem.clone(), seed }, &group.solver, &repeats));
        }
    }
    all
}

impl<'a> Pool<'a> {
    /// The part of the pool on one problem.
    pub(crate) fn of_problem(&self, problem: &GroupProblem) -> Pool<'a> {
        let own = self.searches.iter().filter(|search| search.target.problem == *problem);
        self.with(own.cloned().collect())
    }

    /// The searches on targets that all solvers have searched, so that their means are of the same targets. Solvers with
    /// fewer than half of the targets are left out.
    pub(crate) fn shared(&self) -> Pool<'a> {
        let targets = self.targets();
        let count = |solver: &str| self.of(solver).count();
        let kept: Vec<&str> =
            self.solvers.iter().copied().filter(|solver| 2 * count(solver) >= targets.len()).collect();
        let is_shared = |target: &Target| {
            kept.iter().all(|solver| self.of(solver).any(|search| search.target == *target))
        };
        let own = self
            .searches
            .iter()
            .filter(|search| kept.contains(&search.solver.as_str()) && is_shared(&search.target));
        self.with(own.cloned().collect())
    }

    fn with(&self, searches: Vec<Search>) -> Pool<'a> {
        let has_searched = |name: &&str| searches.iter().any(|search| search.solver == **name);
        let solvers: Vec<&str> = self.solvers.iter().copied().filter(has_searched).collect();
        let baseline = self.baseline.filter(|name| solvers.contains(name));
        Pool { title: self.title.clone(), solvers, baseline, measure: self.measure, searches }
    }

    /// The searches of a solver.
    pub(crate) fn of(&self, solver: &str) -> impl Iterator<Item = &Search> {
        self.searches.iter().filter(move |search| search.solver == solver)
    }

    /// The baseline's search on a target.
    pub(crate) fn base(&self, target: &Target) -> Option<&Search> {
        self.of(self.baseline?).find(|search| search.target == *target)
    }

    /// What was searched on.
    pub(crate) fn targets(&self) -> Vec<&Target> {
        once_each(self.searches.iter().map(|search| &search.target))
    }

    /// Problems, one a data set, in the order of the spec.
    pub(crate) fn problems(&self) -> Vec<&GroupProblem> {
        once_each(self.searches.iter().map(|search| &search.target.problem))
    }

    /// A number of a solver by seed: the mean over the data sets of the pool, for seeds that have it on all of them.
    pub(crate) fn by_seed(&self, solver: &str, of: impl Fn(&Search) -> Option<f64>) -> BTreeMap<u64, f64> {
        let mut of_seed: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for search in self.of(solver) {
            of_seed.entry(search.target.seed).or_default().extend(of(search));
        }
        let data_sets = self.problems().len();
        of_seed.retain(|_, values| values.len() == data_sets);
        of_seed.into_iter().filter_map(|(seed, values)| Some((seed, mean(values.into_iter())?))).collect()
    }

    /// Scores less those of the baseline with the same seeds; empty for the baseline itself.
    pub(crate) fn differences(&self, solver: &str) -> Vec<f64> {
        let score = |search: &Search| search.score(self.measure);
        match self.baseline {
            Some(base) if base != solver => {
                differences(&self.by_seed(solver, score), &self.by_seed(base, score))
            }
            _ => Vec::new(),
        }
    }
}
