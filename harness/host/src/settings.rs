//! Conversion of a solver's parameters from a case to the interface.

use std::collections::BTreeMap;

use gpbench_terms::{ParamKind, ParamSchema, ParamValue};

use crate::description::admits;

/// The settings of all parameters, in the order of the schema; those not given take their defaults.
///
/// # Errors
/// What is wrong with a parameter, as the end of a sentence about the solver.
pub(crate) fn settings(
    schema: &[ParamSchema],
    given: &BTreeMap<String, ParamValue>,
) -> Result<Vec<ParamValue>, String> {
    if let Some(name) = given.keys().find(|name| !schema.iter().any(|info| &info.name == *name)) {
        return Err(format!("has no parameter `{name}`"));
    }
    schema.iter().map(|info| setting(info, given.get(&info.name))).collect()
}

/// The value of a parameter.
fn setting(info: &ParamSchema, given: Option<&ParamValue>) -> Result<ParamValue, String> {
    let value = match (info.kind, given) {
        (_, None) => return Ok(info.default.clone()),
        (ParamKind::Float, Some(ParamValue::Int(whole))) => ParamValue::Float(*whole as f64),
        (_, Some(value)) if info.takes_word(value) => value.clone(),
        (ParamKind::Bool, Some(value @ ParamValue::Bool(_)))
        | (ParamKind::Int, Some(value @ ParamValue::Int(_)))
        | (ParamKind::Float, Some(value @ ParamValue::Float(_)))
        | (ParamKind::Text, Some(value @ ParamValue::Text(_))) => value.clone(),
        (kind, Some(value)) => {
            return Err(format!("needs `{}` to be of kind {kind}, not {}", info.name, value.quoted()));
        }
    };
    admits(info, &value).map_err(|refusal| format!("cannot take this `{}`: {refusal}", info.name))?;
    Ok(value)
}
