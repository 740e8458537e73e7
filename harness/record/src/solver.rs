//! Solvers and their parameters.

use std::collections::BTreeMap;

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
