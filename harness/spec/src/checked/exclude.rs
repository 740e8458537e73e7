//! Cells left out of the product.

use super::axis::Axes;
use crate::error::Mistakes;
use crate::nearest;
use crate::source::{At, Location};
use crate::typed::{Names, Typed};

/// An exclude: a cell goes if it matches every list that is given.
pub(crate) struct Rule {
    pub(crate) at: Location,
    /// Data set, kernel, estimator, solver.
    names: [Option<Vec<String>>; 4],
    seeds: Option<Vec<i64>>,
    /// Whether something is known to be wrong with it: that it matches nothing is then no news.
    pub(crate) wrong: bool,
}

impl Rule {
    pub(crate) fn matches(&self, names: [&String; 4], seed: u64) -> bool {
        let named =
            |(list, name): (&Option<Vec<String>>, &String)| list.as_ref().is_none_or(|l| l.contains(name));
        let seeded = |list: &Vec<i64>| list.iter().any(|s| u64::try_from(*s) == Ok(seed));
        self.names.iter().zip(names).all(named) && self.seeds.as_ref().is_none_or(seeded)
    }
}

pub(crate) fn resolve(
    typed: &Typed,
    axes: &Axes<'_>,
    seeds: &[At<u64>],
    mistakes: &mut Mistakes,
) -> Vec<Rule> {
    let mut rules = Vec::new();
    for exclude in &typed.root.excludes {
        let lists = [&exclude.dataset, &exclude.kernel, &exclude.estimator, &exclude.solver];
        if lists.iter().all(|l| l.is_none()) && exclude.seed.is_none() {
            let hint = "give `dataset`, `kernel`, `estimator`, `solver` or `seed`".to_owned();
            mistakes.add(&exclude.at, "an exclude without a key would leave nothing", hint);
            continue;
        }
        let before = mistakes.count();
        // Under a narrowed matrix an exclude may well name what is no longer there.
        if !typed.axes_overridden {
            let known = [&axes.dataset_names, &axes.kernel_names, &axes.estimator_names, &axes.solver_names];
            for ((axis, list), names) in
                ["dataset", "kernel", "estimator", "solver"].iter().zip(lists).zip(known)
            {
                check_names(axis, list.as_ref(), names, mistakes);
            }
            check_seeds(exclude.seed.as_ref(), seeds, mistakes);
        }
        rules.push(Rule {
            at: exclude.at.clone(),
            names: lists.map(|list| list.as_ref().map(|l| l.value.iter().map(|n| n.value.clone()).collect())),
            seeds: exclude.seed.as_ref().map(|list| list.value.iter().map(|s| s.value).collect()),
            wrong: mistakes.count() > before,
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

fn check_seeds(list: Option<&At<Vec<At<i64>>>>, known: &[At<u64>], mistakes: &mut Mistakes) {
    for seed in list.iter().flat_map(|l| &l.value) {
        if !known.iter().any(|k| u64::try_from(seed.value) == Ok(k.value)) {
            mistakes.add(&seed.at, format!("seed {} is not among the spec's seeds", seed.value), None);
        }
    }
}
