//! Parameters of a solver, from a case to the interface.

use std::collections::BTreeMap;

use gpbench_abi::{Str, Value, value_kind};
use gpbench_record::{Param, ParamInfo, ParamKind};

use super::description::admits;

/// The settings of all parameters, in the order of the schema; those not given take their defaults.
///
/// # Errors
/// What is wrong with a parameter, as the end of a sentence about the solver.
pub(super) fn settings(schema: &[ParamInfo], given: &BTreeMap<String, Param>) -> Result<Vec<Param>, String> {
    if let Some(name) = given.keys().find(|name| !schema.iter().any(|info| &info.name == *name)) {
        return Err(format!("has no parameter `{name}`"));
    }
    schema.iter().map(|info| setting(info, given.get(&info.name))).collect()
}

/// The value of a parameter.
fn setting(info: &ParamInfo, given: Option<&Param>) -> Result<Param, String> {
    let value = match (info.kind, given) {
        (_, None) => return Ok(info.default.clone()),
        (ParamKind::Float, Some(Param::Int(whole))) => Param::Float(*whole as f64),
        (ParamKind::Bool, Some(value @ Param::Bool(_)))
        | (ParamKind::Int, Some(value @ Param::Int(_)))
        | (ParamKind::Float, Some(value @ Param::Float(_)))
        | (ParamKind::Text, Some(value @ Param::Text(_))) => value.clone(),
        (kind, Some(value)) => {
            let kind = format!("{kind:?}").to_lowercase();
            let value = serde_json::to_string(value).unwrap_or_default();
            return Err(format!("needs `{}` to be of kind {kind}, not {value}", info.name));
        }
    };
    admits(info, &value).map_err(|refusal| format!("cannot take this `{}`: {refusal}", info.name))?;
    Ok(value)
}

/// A setting as a value of the interface, which refers to its text.
pub(super) fn value(setting: &Param) -> Value {
    let empty =
        Value { kind: value_kind::NONE, reserved: 0, i: 0, f: 0.0, s: Str { ptr: std::ptr::null(), len: 0 } };
    match setting {
        Param::Bool(value) => Value { kind: value_kind::BOOL, i: i64::from(*value), ..empty },
        Param::Int(value) => Value { kind: value_kind::INT, i: *value, ..empty },
        Param::Float(value) => Value { kind: value_kind::FLOAT, f: *value, ..empty },
        Param::Text(text) => {
            let s = Str { ptr: text.as_ptr().cast(), len: text.len() as i64 };
            Value { kind: value_kind::TEXT, s, ..empty }
        }
    }
}
