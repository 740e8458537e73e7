//! Names of cases of different plans: where a name stands for something else than in an earlier plan, it gets a number.

use std::collections::{BTreeMap, HashMap};

use gpbench_record::{Axes, Case, Labels};

use crate::PlanEntry;

/// New names of data sets and solvers of a plan, by the old ones.
#[derive(Debug, Default)]
pub(super) struct NewNames {
    datasets: BTreeMap<String, String>,
    solvers: BTreeMap<String, String>,
}

impl NewNames {
    /// The names that cases of the plan with this number, counted from 1, need beside those of the plans before. Where the
    /// parameters or the budget of a solver `cg` are others in the second plan, it is `cg [2]` there; where the systems are
    /// others, the data set `pol` is `pol [2]`.
    pub(super) fn of<'a>(
        cases: impl Iterator<Item = &'a PlanEntry>,
        earlier: &HashMap<Labels, Case>,
        number: usize,
    ) -> Self {
        let mut names = Self::default();
        for PlanEntry { case, labels, .. } in cases {
            let Some(other) = earlier.get(labels).filter(|other| *other != case) else { continue };
            let has_same_system =
                (&case.dataset, &case.kernel, &case.task) == (&other.dataset, &other.kernel, &other.task);
            let (renamed, name) = match has_same_system {
                true => (&mut names.solvers, &labels.solver),
                false => (&mut names.datasets, &labels.dataset),
            };
            renamed.insert(name.clone(), format!("{name} [{number}]"));
        }
        names
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
