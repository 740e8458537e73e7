//! Solvers and their parameters.

use std::collections::BTreeMap;
use std::fmt;

use glob::Pattern;
use serde::{Deserialize, Serialize};

/// A solver, with every parameter resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Solver {
    /// Name in the spec.
    pub name: String,
    /// Solver id offered by a plugin.
    pub plugin: String,
    /// Every parameter of the solver's schema, defaults filled in.
    pub params: BTreeMap<String, Param>,
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
    pub params: BTreeMap<String, Param>,
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

/// The value of a solver parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Param {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A text, one of the parameter's choices where it has any.
    Text(String),
}

impl Param {
    /// Its value, where it is a number.
    pub fn number(&self) -> Option<f64> {
        match self {
            Param::Int(value) => Some(*value as f64),
            Param::Float(value) => Some(*value),
            Param::Bool(_) | Param::Text(_) => None,
        }
    }
}

impl fmt::Display for Param {
    /// In few letters; different values differ.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Param::Bool(truth) => truth.fmt(f),
            Param::Int(int) => int.fmt(f),
            Param::Float(float) if *float == 0.0 || (1e-3..1e6).contains(&float.abs()) => float.fmt(f),
            Param::Float(float) => write!(f, "{float:e}"),
            Param::Text(text) => text.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_short() {
        let float = |value: f64| Param::Float(value).to_string();
        assert_eq!([0.3, 1.0, 1e-4, 0.0, -2.5e300].map(float), ["0.3", "1", "1e-4", "0", "-2.5e300"]);
        assert_eq!(Param::Int(-3).to_string(), "-3");
        assert_eq!(Param::Text("adam".into()).to_string(), "adam");
    }
}
