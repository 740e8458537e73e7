//! The parameters of a solver, as rows of a listing.

use gpbench_record::{Param, ParamInfo, SolverInfo};

/// One row for each parameter of a solver or learner: an empty cell, name, default, range, documentation.
pub(crate) fn rows(solver: &SolverInfo) -> impl Iterator<Item = Vec<String>> + '_ {
    solver.params.iter().map(|param| {
        vec![String::new(), param.name.clone(), value(&param.default), range(param), param.doc.clone()]
    })
}

/// A parameter's value as in a spec.
fn value(value: &Param) -> String {
    match value {
        Param::Bool(b) => b.to_string(),
        Param::Int(i) => i.to_string(),
        Param::Float(f) => f.to_string(),
        Param::Text(t) => t.clone(),
    }
}

/// The permitted values of a parameter.
fn range(param: &ParamInfo) -> String {
    if !param.choices.is_empty() {
        return param.choices.join(" | ");
    }
    match (param.min, param.max) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => String::new(),
    }
}
