//! Values of parameters, permitted and not.

use gpbench_abi as abi;
use gpbench_abi::{Status, value_kind};

use super::Failure;
use crate::text::text;
use crate::{ParamValue, Params};

/// Values of parameters, by name.
pub type Settings = Vec<(&'static str, ParamValue)>;

/// Asserts that values outside of a parameter's range, of another kind, or none of its choices fail by name.
pub(super) fn assert_refused<P: Params>(fail: impl Fn((&'static str, ParamValue)) -> Failure) {
    for param in &P::schema() {
        // SAFETY: names and choices of a schema are static.
        let name = unsafe { text(&param.name) }.expect("names are UTF-8");
        for value in refused(param) {
            let failure = fail((name, value.clone()));
            assert_eq!(failure.status, Status::INVALID_ARGUMENT, "{name} = {value:?}");
            assert!(failure.text.contains(name), "{name} = {value:?}: {}", failure.text);
        }
    }
}

/// Values that a parameter must not take.
fn refused(param: &abi::Param) -> Vec<ParamValue> {
    let outside = |bound: &abi::Value, step: f64| match bound.kind {
        value_kind::INT => Some(ParamValue::Int(bound.i.checked_add(step as i64)?)),
        value_kind::FLOAT => Some(ParamValue::Float(bound.f + step * bound.f.abs().max(1.0))),
        _ => None,
    };
    let ends = outside(&param.min, -1.0).into_iter().chain(outside(&param.max, 1.0));
    let others = match param.default.kind {
        value_kind::INT => vec![ParamValue::Float(0.5)],
        value_kind::FLOAT => vec![ParamValue::Float(f64::NAN), "1".into()],
        value_kind::TEXT => vec!["no such choice".into(), ParamValue::Int(1)],
        _ => vec![ParamValue::Int(1)],
    };
    ends.chain(others).collect()
}
