//! Cells left out of the product of the axes.

use crate::axes::Axes;
use crate::error::Mistakes;
use crate::nearest;
use crate::source::{At, Location};
use crate::tables::matrix::Names;
use crate::typed::Typed;

/// An exclude rule: a cell is left out if it matches every list that is given.
pub(crate) struct Rule {
    pub(crate) at: Location,
    /// Data set, kernel, estimator, solver.
    names: [Option<Vec<String>>; 4],
    seeds: Option<Vec<u64>>,
    /// Whether a mistake in it has been reported: then it is not reported as well that it matches nothing.
    pub(crate) wrong: bool,
}

impl Rule {
    /// Whether it leaves out the cell of these names; a solver that is a point of a grid has two.
    pub(crate) fn matches(&self, names: [&[&str]; 4], seed: u64) -> bool {
        let named = |(list, names): (&Option<Vec<String>>, &[&str])| {
            list.as_ref().is_none_or(|list| list.iter().any(|name| names.contains(&name.as_str())))
        };
        self.names.iter().zip(names).all(named) && self.seeds.as_ref().is_none_or(|list| list.contains(&seed))
    }
}

pub(crate) fn resolve(
    typed: &Typed,
    axes: &Axes<'_>,
    seeds: &[At<u64>],
    mistakes: &mut Mistakes,
) -> Vec<Rule> {
    let names = &axes.names;
    let solvers: Vec<String> = axes.solver_entries.iter().chain(&names.solver).cloned().collect();
    let mut rules = Vec::new();
    for At { value: exclude, at } in &typed.root.excludes {
        let lists = [&exclude.dataset, &exclude.kernel, &exclude.estimator, &exclude.solver];
        if lists.iter().all(|l| l.is_none()) && exclude.seed.is_none() {
            let hint = "give `dataset`, `kernel`, `estimator`, `solver` or `seed`".to_owned();
            mistakes.add(at, "an exclude without a key would leave nothing", hint);
            continue;
        }
        let before = mistakes.count();
        // An exclude may name an entry that a narrowed matrix no longer has.
        if !typed.axes_overridden {
            let known = [&names.dataset, &names.kernel, &names.estimator, &solvers];
            for ((axis, list), names) in
                ["dataset", "kernel", "estimator", "solver"].iter().zip(lists).zip(known)
            {
                let list = list.as_ref().filter(|_| *axis != "estimator" || axes.estimators.is_some());
                check_names(axis, list, names, mistakes);
            }
            check_seeds(exclude.seed.as_ref(), seeds, mistakes);
        }
        rules.push(Rule {
            at: at.clone(),
            names: lists.map(|list| list.as_ref().map(|l| l.value.iter().map(|n| n.value.clone()).collect())),
            seeds: exclude.seed.as_ref().map(|list| list.value.iter().map(|s| s.value).collect()),
            // A task without estimators has reported those of an exclude.
            wrong: mistakes.count() > before || (axes.estimators.is_none() && exclude.estimator.is_some()),
        });
    }
    rules
}

fn check_names(axis: &str, list: Option<&Names>, known: &[String], mistakes: &mut Mistakes) {
    for name in list.iter().flat_map(|l| &l.value) {
        if !known.contains(&name.value) {
            let hint = nearest::hint(&name.value, known.iter().map(String::as_str));
            mistakes.add(&name.at, format!("`{}` is not on the {axis} axis", name.value), hint);
        }
    }
}

fn check_seeds(list: Option<&At<Vec<At<u64>>>>, known: &[At<u64>], mistakes: &mut Mistakes) {
    for seed in list.iter().flat_map(|l| &l.value) {
        if !known.iter().any(|k| k.value == seed.value) {
            mistakes.add(&seed.at, format!("seed {} is not among the spec's seeds", seed.value), None);
        }
    }
}
