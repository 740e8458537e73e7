//! Permitted and forbidden values of parameters.

use std::collections::BTreeMap;

use gpbench_host::CallError;
use gpbench_terms::{ParamKind, ParamSchema, ParamValue};

/// Values of parameters, by name.
pub type Settings = Vec<(&'static str, ParamValue)>;

/// Parameters in the form of the host.
pub(crate) fn by_name(params: &[(&str, ParamValue)]) -> BTreeMap<String, ParamValue> {
    params.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// Asserts that values outside a parameter's range, of another kind, or not among its choices fail with its name.
pub(crate) fn assert_refused(schema: &[ParamSchema], fail: impl Fn((&str, ParamValue)) -> CallError) {
    for param in schema {
        for value in refused(param) {
            let name = param.name.as_str();
            let error = fail((name, value.clone()));
            // Only the plugin knows the permitted values of a text without choices.
            let is_plugins = param.choices.is_empty()
                && matches!(value, ParamValue::Text(_))
                && param.kind == ParamKind::Text;
            assert!(
                is_plugins || matches!(error, CallError::Parameter { .. }),
                "{name} = {value:?}: {error}"
            );
            assert!(error.to_string().contains(name), "{name} = {value:?}: {error}");
        }
    }
}

/// Values that a parameter must not take.
fn refused(param: &ParamSchema) -> Vec<ParamValue> {
    let outside = |bound: Option<f64>, step: f64| -> Option<ParamValue> {
        let bound = bound?;
        match param.kind {
            ParamKind::Int => {
                let beyond = (bound as i64).checked_add(step as i64)?;
                Some(ParamValue::Int(beyond))
            }
            _ => Some(ParamValue::Float(bound + step * bound.abs().max(1.0))),
        }
    };
    let ends = outside(param.min, -1.0).into_iter().chain(outside(param.max, 1.0));
    let others = match param.kind {
        ParamKind::Int => vec![ParamValue::Float(0.5)],
        ParamKind::Float => vec![ParamValue::Float(f64::NAN), "1".into()],
        ParamKind::Text => vec!["no such choice".into(), ParamValue::Int(1)],
        ParamKind::Bool => vec![ParamValue::Int(1)],
    };
    ends.chain(others).collect()
}
