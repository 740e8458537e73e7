//! Solvers and their parameters.

use std::collections::BTreeMap;
use std::fmt;

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
