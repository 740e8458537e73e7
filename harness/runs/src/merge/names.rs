//! Names of cases of different plans: where a name stands for something else than in an earlier plan, it gets a number.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::{Axes, Case};

use super::meaning::{Meanings, Spec, of_datasets, of_solvers};

/// New names of data sets and solvers of a plan, by the old ones.
#[derive(Debug, Default)]
pub(super) struct NewNames {
    datasets: BTreeMap<String, String>,
    solvers: BTreeMap<String, String>,
}

impl NewNames {
    /// The names that the cases of a plan need beside those of `earlier` plans. Where the parameters or the budget of a solver
    /// `cg` are others, it is `cg [2]`; where the systems are others, the data set `pol` is `pol [2]`. A plan may have another
    /// number where `[2]` stands for something else too. Plans with other seeds or other data sets are told apart as well.
    pub(super) fn of<'a>(own: &[(&'a Case, &'a Spec)], earlier: &[(&'a Case, &'a Spec)]) -> Self {
        let cases = |of: &[(&'a Case, &'a Spec)]| of.iter().map(|(case, _)| *case).collect::<Vec<_>>();
        let datasets = new_names(&of_datasets(&cases(own)), &of_datasets(&cases(earlier)));
        let renamed =
            |case: &'a Case| datasets.get(&case.dataset.name).unwrap_or(&case.dataset.name).as_str();
        let solvers =
            new_names(&of_solvers(own, renamed), &of_solvers(earlier, |case| case.dataset.name.as_str()));
        Self { solvers, datasets }
    }

    /// A case under its new names. The points of a grid that has to be renamed are no longer a grid.
    pub(super) fn rename(&self, mut case: Case) -> Case {
        if let Some(name) = self.datasets.get(&case.dataset.name) {
            case.dataset.name.clone_from(name);
        }
        if let Some(name) = self.solvers.get(&case.solver.name) {
            case.solver.name.clone_from(name);
            case.solver.grid = None;
        }
        case
    }

    /// The name of a data set of the plan in the merged run.
    pub(super) fn dataset<'n>(&'n self, name: &'n str) -> &'n str {
        self.datasets.get(name).map_or(name, String::as_str)
    }

    /// The names of the axes with the new ones in the place of the old.
    pub(super) fn axes(&self, axes: &Axes) -> Axes {
        let renamed = |names: &[String], new: &BTreeMap<String, String>| {
            names.iter().map(|name| new.get(name).unwrap_or(name).clone()).collect()
        };
        Axes {
            dataset: renamed(&axes.dataset, &self.datasets),
            solver: renamed(&axes.solver, &self.solvers),
            ..axes.clone()
        }
    }
}

/// The new names of those that stand for something else in earlier plans.
fn new_names(own: &Meanings, earlier: &Meanings) -> BTreeMap<String, String> {
    let taken: BTreeSet<&String> = own.keys().collect();
    let new = |(name, meaning)| {
        let is_free = |name: &String| earlier.get(name).is_none_or(|other| other.agrees_with(meaning));
        let numbered = (2..).map(|number| format!("{name} [{number}]"));
        let free = numbered.filter(|name| !taken.contains(name)).find(is_free);
        Some((String::clone(name), free?)).filter(|_| !is_free(name))
    };
    own.iter().filter_map(new).collect()
}
