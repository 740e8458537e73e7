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
    /// The grid of parameters that the case is a point of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<GridPoint>,
}

/// A point of a grid of parameters. The cases of a grid differ in nothing else. A report of learners chooses among
/// them; that of solvers shows all of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridPoint {
    /// Name of the grid: that of the solver's entry in the spec.
    pub entry: String,
    /// The parameters that the grid varies, with this case's values.
    pub params: BTreeMap<String, ParamValue>,
}

/// What separates the entry's name from the values in the name of a point.
const BEFORE_VALUES: char = '@';

impl GridPoint {
    /// Its name on the solver axis, such as `scgd-32@learning_rate=0.3`.
    pub fn name(&self) -> String {
        let values: Vec<String> = self.params.iter().map(|(key, value)| format!("{key}={value}")).collect();
        format!("{}{BEFORE_VALUES}{}", self.entry, values.join(","))
    }
}

/// Whether what a user types selects a solver by its name on the axis: it is that name, or that of the grid of which it is a
/// point, or a pattern for one of them, such as `cg*`.
pub fn selects(typed: &str, solver: &str) -> bool {
    let entry = solver.split(BEFORE_VALUES).next().unwrap_or(solver);
    [solver, entry].into_iter().any(|name| matches(typed, name))
}

/// Whether what a user types is a name, or a pattern for it: `*` stands for any text and `?` for any sign.
pub fn matches(typed: &str, name: &str) -> bool {
    typed == name || Pattern::new(typed).is_ok_and(|pattern| pattern.matches(name))
}
