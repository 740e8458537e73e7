//! The parameters of a solver, as rows of a listing.

use gpbench_record::{ParamSchema, ParamValue, SolverInfo};

/// One row for each parameter of a solver or learner: an empty cell, name, default, range, documentation.
pub(crate) fn rows(solver: &SolverInfo) -> impl Iterator<Item = Vec<String>> + '_ {
    solver.params.iter().map(|param| {
        vec![String::new(), param.name.clone(), value(&param.default), range(param), param.doc.clone()]
    })
}

/// A parameter's value as in a spec.
fn value(value: &ParamValue) -> String {
    match value {
        ParamValue::Bool(b) => b.to_string(),
        ParamValue::Int(i) => i.to_string(),
        ParamValue::Float(f) => f.to_string(),
        ParamValue::Text(t) => t.clone(),
    }
}

/// The permitted values of a parameter.
fn range(param: &ParamSchema) -> String {
    let numbers = match (param.min, param.max) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => String::new(),
    };
    let words = param.choices.iter().cloned();
    let all: Vec<String> =
        Some(numbers).filter(|numbers| !numbers.is_empty()).into_iter().chain(words).collect();
    all.join(" | ")
}
