//! Solvers with their parameters, and points of a grid of parameters.

use std::collections::BTreeMap;

use glob::Pattern;
use serde::{Deserialize, Serialize};

use crate::ParamValue;

/// A solver, with every parameter resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Solver {
    /// Name in the spec.
    pub name: String,
    /// Solver id offered by a plugin.
    pub plugin: String,
    /// Every parameter of the solver's schema, defaults filled in.
    pub params: BTreeMap<String, ParamValue>,
    /// The point of a grid of parameters that the case is, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<GridPoint>,
}

/// A point of a grid of parameters. The cases of a grid differ only in these parameters. A report chooses among the
/// points of a learner, and shows all points of a solver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridPoint {
    /// Name of the grid: the name of the solver's entry in the spec.
    pub entry: String,
    /// The parameters that the grid varies, with this case's values.
    pub params: BTreeMap<String, ParamValue>,
}

/// Separator between the entry's name and the values in the name of a point.
const BEFORE_VALUES: char = '@';

impl GridPoint {
    /// Its name on the solver axis, such as `scgd-32@learning_rate=0.3`.
    pub fn name(&self) -> String {
        let values: Vec<String> = self.params.iter().map(|(key, value)| format!("{key}={value}")).collect();
        format!("{}{BEFORE_VALUES}{}", self.entry, values.join(","))
    }
}

/// Whether a selector of the command line selects a solver. A selector is the solver's name on the axis, the name of
/// its grid, or a pattern for one of them, such as `cg*`.
pub fn selects(typed: &str, solver: &str) -> bool {
    let entry = solver.split(BEFORE_VALUES).next().unwrap_or(solver);
    [solver, entry].into_iter().any(|name| matches(typed, name))
}

/// Whether a selector matches a name, where `*` stands for any text and `?` for any character.
pub fn matches(typed: &str, name: &str) -> bool {
    typed == name || Pattern::new(typed).is_ok_and(|pattern| pattern.matches(name))
}
