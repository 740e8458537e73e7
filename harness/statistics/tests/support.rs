//! Reading of the worked examples, and comparison with them.

use std::sync::LazyLock;

use serde_json::Value;

static EXAMPLES: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("statistics.json")).expect("JSON"));

/// The example at a path of keys.
pub fn example(path: &str) -> &'static Value {
    path.split('/')
        .fold(&*EXAMPLES, |value, key| value.get(key).unwrap_or_else(|| panic!("no {key} of {path}")))
}

/// A number; "inf" is infinity, null is NaN.
pub fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) if text == "inf" => f64::INFINITY,
        Value::Null => f64::NAN,
        value => value.as_f64().expect("a number"),
    }
}

pub fn at(path: &str) -> f64 {
    number(example(path))
}

pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

pub fn list(path: &str) -> Vec<f64> {
    numbers(example(path))
}

/// Lists of numbers.
pub fn lists(path: &str) -> Vec<Vec<f64>> {
    example(path).as_array().expect("a list").iter().map(numbers).collect()
}

/// Whether two numbers agree to 1e-12, relative to the larger of 1 and their size.
#[track_caller]
pub fn same(found: f64, expected: f64) {
    let is_same = found == expected || (found - expected).abs() <= 1e-12 * expected.abs().max(1.0);
    assert!(is_same, "{found} is not {expected}");
}

/// Whether two probabilities agree to 1e-10 of their size, however small.
#[track_caller]
pub fn same_share(found: f64, expected: f64) {
    same(found, expected);
    assert!((found - expected).abs() <= 1e-10 * expected, "{found} is not {expected}");
}

#[track_caller]
pub fn all_same(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        same(*found, *expected);
    }
}
