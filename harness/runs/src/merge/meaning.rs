//! The meaning of names of data sets and solvers in a plan, so that plans without a common case can be compared.

use std::collections::BTreeMap;

use gpbench_record::{Case, OriginBase, PlannedCase};
use serde::Serialize;
use serde_json::{Value, json};
use toml::Table;

use crate::contents::NameKind;

/// The spec of a run, as far as it can be read.
pub(super) type Spec = Table;

/// A planned case, with the spec of its run.
pub(super) type Specified<'a> = (&'a PlannedCase, &'a Spec);

/// The choice that is no choice of a plan: the content that a name stands for.
const CONTENT: &str = "content";

/// The meaning of each name.
pub(super) type Meanings = BTreeMap<String, Meaning>;

/// The meaning of a name: choices, each with the cases that it holds for.
#[derive(Debug, Default)]
pub(super) struct Meaning(BTreeMap<String, Choice>);

/// A choice of a plan.
#[derive(Debug, PartialEq)]
enum Choice {
    /// The same wherever the plan makes it.
    Same(Value),
    /// It differs from case to case, so that other cases cannot be compared with it.
    Varies,
}

impl Meaning {
    /// The content that the name stands for, where it is known and one.
    pub(super) fn content(&self) -> Option<&str> {
        match self.0.get(CONTENT) {
            Some(Choice::Same(content)) => content.as_str(),
            _ => None,
        }
    }

    /// Whether all choices that both have are equal, whatever the contents are.
    pub(super) fn agrees_with(&self, other: &Meaning) -> bool {
        let differs = |(of, own): (&String, &Choice)| match (own, other.0.get(of)) {
            (Choice::Same(own), Some(Choice::Same(other))) => own != other && of != CONTENT,
            _ => false,
        };
        !self.0.iter().any(differs)
    }

    fn add(&mut self, of: impl Into<String>, choice: Choice) {
        let known = self.0.entry(of.into());
        known
            .and_modify(|known| {
                if *known != choice {
                    *known = Choice::Varies
                }
            })
            .or_insert(choice);
    }

    fn add_content(&mut self, kind: NameKind, entry: &PlannedCase) {
        kind.content(entry).into_iter().for_each(|content| self.add_value(CONTENT, content));
    }

    fn add_value(&mut self, of: impl Into<String>, value: impl Serialize) {
        self.add(of, Choice::Same(json!(value)));
    }
}

/// The meaning of names of data sets: rows, and the systems that are solved with them.
pub(super) fn of_datasets(cases: &[Specified<'_>]) -> Meanings {
    let mut meanings = Meanings::new();
    for (entry, _) in cases {
        let case = &entry.case;
        let meaning = meanings.entry(case.dataset.name.clone()).or_default();
        meaning.add_content(NameKind::Dataset, entry);
        let Case { seed, kernel, .. } = case;
        let mut rows = json!(case.dataset);
        rows["name"] = Value::Null;
        meaning.add_value(format!("rows, seed {seed}"), &rows);
        // Splits follow seeds.
        rows["split"] = Value::Null;
        meaning.add_value("rows", rows);
        meaning.add_value(format!("kernel {}, seed {seed}", kernel.name), kernel);
        meaning.add_value(format!("kernel {}", kernel.name), kernel_of_all_seeds(case));
        let (estimator, solver) = (case.task.estimator().unwrap_or_default(), &case.solver.name);
        meaning.add_value(format!("task {estimator}, solver {solver}, seed {seed}"), &case.task);
        meaning.add_value(format!("task {estimator}"), task_of_all_solvers(case));
    }
    meanings
}

/// The meaning of names of solvers. `dataset` names the data set of a case.
pub(super) fn of_solvers<'n, 'a: 'n>(
    cases: &[Specified<'a>],
    dataset: impl Fn(&'a PlannedCase) -> &'n str,
) -> Meanings {
    let mut meanings = Meanings::new();
    for (entry, spec) in cases {
        let case = &entry.case;
        let Case { solver, budget, stop_at, .. } = case;
        let meaning = meanings.entry(solver.name.clone()).or_default();
        meaning.add_content(NameKind::Solver, entry);
        meaning.add_value(
            format!("all on {}", dataset(entry)),
            (&solver.plugin, &solver.params, budget, stop_at),
        );
        meaning.add_value("plugin", &solver.plugin);
        meaning.add_value("budget", budget);
        meaning.add_value("target", stop_at);
        for (name, value) in &solver.params {
            let by_dataset = is_by_dataset(spec, case, name);
            let choice = if by_dataset { Choice::Varies } else { Choice::Same(json!(value)) };
            meaning.add(format!("parameter {name}"), choice);
        }
    }
    meanings
}

/// The kernel of a case, without numbers that depend on the seed.
fn kernel_of_all_seeds(case: &Case) -> Value {
    let mut kernel = json!(case.kernel);
    if matches!(case.kernel.origin.base, OriginBase::Published { .. } | OriginBase::Trained) {
        for number in ["signal_scale", "noise_scale", "length_scale", "mean"] {
            kernel[number] = Value::Null;
        }
    }
    kernel
}

/// The task of a case, without fields that depend on its solver or its seed.
fn task_of_all_solvers(case: &Case) -> Value {
    let mut task = json!(case.task);
    for own in ["inducing", "replay"] {
        task[own] = Value::Null;
    }
    task
}

/// Whether the spec gives a parameter of the case's solver by data set: `rate = { pol = 30, bike = 20 }`.
fn is_by_dataset(spec: &Spec, case: &Case, param: &str) -> bool {
    let entry = case.solver.grid.as_ref().map_or(&case.solver.name, |grid| &grid.entry);
    let given = ["solver", entry, "params"].iter().try_fold(spec, |table, key| table.get(*key)?.as_table());
    let given = given.and_then(|params| params.get(param)?.as_table());
    given.is_some_and(|values| !values.contains_key("grid"))
}
