//! When cases of several runs are of the same data set, method and problem.
//!
//! A name in a spec says little: the pol of one run may be a subsample, and the cg of another may have a rank of
//! 500. Cases stand under one name where what the name resolved to is the same.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::{Case, Dataset, ParamValue, Row, Task, TaskKind};
use serde::Serialize;

/// The rows that a data set has, whatever the split.
pub(super) struct DataRows {
    /// Everything that the spec says of them, as JSON.
    described: String,
    /// SHA-256 of their binary copies; empty where they are generated, or not known.
    contents: BTreeSet<String>,
}

impl DataRows {
    /// The rows of a case's data set, of which a plan knows these contents.
    pub(super) fn new(dataset: &Dataset, contents: BTreeSet<String>) -> DataRows {
        let rows = Dataset {
            name: String::new(),
            split: 0,
            // Neither changes the rows.
            predictions: None,
            collapse_duplicates: false,
            ..dataset.clone()
        };
        DataRows { described: text(&rows), contents }
    }

    /// Whether these are the same rows; contents that were not known are added.
    pub(super) fn absorb(&mut self, other: &DataRows) -> bool {
        let is_known = !self.contents.is_empty() && !other.contents.is_empty();
        if self.described != other.described || (is_known && self.contents.is_disjoint(&other.contents)) {
            return false;
        }
        self.contents.extend(other.contents.iter().cloned());
        true
    }
}

/// A solver or a learner with its parameters; the points of a grid are one method.
pub(super) struct Method {
    /// Id that a plugin offers.
    pub(super) plugin: String,
    /// Parameters but for those that a grid varies, as JSON, by the place of the data set.
    parameters: BTreeMap<usize, String>,
}

impl Method {
    /// A method of a plugin with no case yet.
    pub(super) fn new(plugin: &str) -> Method {
        Method { plugin: plugin.to_owned(), parameters: BTreeMap::new() }
    }

    /// Adds a case on the data set at a place.
    pub(super) fn add(&mut self, dataset: usize, case: &Case) {
        let varied = case.grid().map(|grid| &grid.params);
        let is_own = |(name, _): &(&String, &ParamValue)| varied.is_none_or(|of| !of.contains_key(*name));
        let own: BTreeMap<&String, &ParamValue> = case.solver.params.iter().filter(is_own).collect();
        self.parameters.entry(dataset).or_insert_with(|| text(&own));
    }

    /// Whether this is the same method: with the same parameters on every data set that both have, or, where they
    /// share none, with one choice of parameters for all data sets.
    pub(super) fn absorb(&mut self, other: &Method) -> bool {
        let shared =
            || self.parameters.iter().filter_map(|(set, own)| Some((own, other.parameters.get(set)?)));
        let is_same = match shared().next() {
            Some(_) => shared().all(|(own, others)| own == others),
            None => self.constant().is_some() && self.constant() == other.constant(),
        };
        if self.plugin != other.plugin || !is_same {
            return false;
        }
        let others = other.parameters.iter().map(|(set, parameters)| (*set, parameters.clone()));
        self.parameters.extend(others);
        true
    }

    /// The parameters, where all data sets have the same.
    fn constant(&self) -> Option<&String> {
        let mut all = self.parameters.values();
        let first = all.next()?;
        all.all(|other| other == first).then_some(first)
    }
}

/// The name of a method: that of its grid where it has one.
pub(super) fn method_name(case: &Case) -> &str {
    case.grid().map_or(&case.solver.name, |grid| &grid.entry)
}

/// What methods are compared on: a task with its model and its goal, on any data set.
pub(super) struct Problem {
    pub(super) kind: TaskKind,
    /// The task's inputs, as JSON.
    task: String,
    /// The model, as JSON, by the place of the data set and by seed.
    models: BTreeMap<(usize, u64), String>,
}

impl Problem {
    /// A problem of a task with no case yet.
    pub(super) fn new(kind: TaskKind) -> Problem {
        Problem { kind, task: String::new(), models: BTreeMap::new() }
    }

    /// Adds a case on the data set at a place.
    pub(super) fn add(&mut self, dataset: usize, case: &Case) {
        if self.task.is_empty() {
            self.task = task(&case.task);
        }
        self.models.entry((dataset, case.seed)).or_insert_with(|| model(case));
    }

    /// Whether this is the same problem: the same task, and the same model wherever both have one.
    pub(super) fn absorb(&mut self, other: &Problem) -> bool {
        let differs = |(key, model): (&(usize, u64), &String)| {
            other.models.get(key).is_some_and(|others| others != model)
        };
        if self.task != other.task || self.models.iter().any(differs) {
            return false;
        }
        self.models.extend(other.models.iter().map(|(key, model)| (*key, model.clone())));
        true
    }
}

/// The name of a case's problem: task, kernel, estimator and tolerance.
pub(super) fn problem_name(row: &Row) -> String {
    let labels = &row.labels;
    let tolerance = row.case.budget.tolerance.map(|tolerance| format!("residual {tolerance}"));
    let parts = [Some(labels.kernel.clone()), labels.estimator.clone(), tolerance];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{}: {}", row.case.task.kind(), parts.join(" · "))
}

/// The inputs of a task as JSON, without those that belong to a method.
fn task(task: &Task) -> String {
    match task.clone() {
        Task::Posterior(mut posterior) => {
            posterior.inducing = None;
            text(&posterior)
        }
        Task::Train(mut training) => {
            training.prediction.params = BTreeMap::new();
            text(&training)
        }
        // What a learner is granted is a part of its budget.
        Task::Learn(_) => "learn".to_owned(),
        other => text(&other),
    }
}

/// The model of a case as JSON. Numbers that are found in the data are no choice.
fn model(case: &Case) -> String {
    let kernel = &case.kernel;
    match kernel.start {
        Some(_) => text(&(&kernel.family, &kernel.origin, &kernel.start)),
        None => text(&(&kernel.family, &kernel.origin, kernel.hyperparameters())),
    }
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use gpbench_record::testing;

    use super::*;

    fn method(parameters: &[(usize, i64)]) -> Method {
        let mut method = Method::new("cg");
        for (dataset, rank) in parameters {
            let mut case = testing::case("cg");
            case.solver.params.insert("rank".to_owned(), ParamValue::Int(*rank));
            method.add(*dataset, &case);
        }
        method
    }

    #[test]
    fn parameters_tell_methods_of_one_name_apart() {
        let mut known = method(&[(0, 100), (1, 100)]);
        assert!(known.absorb(&method(&[(1, 100), (2, 300)])), "equal where they meet");
        assert!(!known.absorb(&method(&[(2, 100)])));
        // No data set in common, and parameters that depend on it.
        assert!(!known.absorb(&method(&[(3, 100)])));
        assert!(method(&[(0, 100)]).absorb(&method(&[(3, 100)])));
        assert!(!method(&[(0, 100)]).absorb(&method(&[(3, 500)])));
        let other = Method { plugin: "other".to_owned(), ..method(&[(0, 100)]) };
        assert!(!method(&[(0, 100)]).absorb(&other));
    }

    #[test]
    fn rows_differ_by_description_or_content() {
        let case = testing::case("cg");
        let rows = |contents: &[&str]| {
            DataRows::new(&case.dataset, contents.iter().map(|content| (*content).to_owned()).collect())
        };
        let mut known = rows(&[]);
        assert!(known.absorb(&rows(&["a"])) && known.absorb(&rows(&[])));
        assert!(!known.absorb(&rows(&["b"])));
        let split = Dataset { split: 3, name: "other".into(), ..case.dataset.clone() };
        assert!(known.absorb(&DataRows::new(&split, BTreeSet::new())));
        let fewer = Dataset { keep_replicates: true, ..case.dataset.clone() };
        assert!(!known.absorb(&DataRows::new(&fewer, BTreeSet::new())));
    }

    #[test]
    fn problems_differ_by_task_or_by_the_model_of_a_seed() {
        let problem = |seed: u64, noise: f64, probes: usize| {
            let mut case = testing::case("cg");
            case.seed = seed;
            case.kernel.noise_scale = noise;
            if let Task::Posterior(posterior) = &mut case.task {
                posterior.targets.probes = probes;
            }
            let mut problem = Problem::new(case.task.kind());
            problem.add(0, &case);
            problem
        };
        let mut known = problem(0, 0.1, 4);
        assert!(known.absorb(&problem(1, 0.2, 4)), "published scales depend on the split");
        assert!(!known.absorb(&problem(1, 0.1, 4)) && !known.absorb(&problem(0, 0.1, 8)));
        let row = testing::row(testing::case("cg"), &[]);
        assert_eq!(problem_name(&row), "posterior: matern32 · pathwise · residual 0.01");
    }
}
