//! Arrays from files of known answers.
//!
//! Matrices are stored as lists of rows. Every function panics with the expected kind if a value is of another kind.

use ndarray::{Array1, Array2};
pub use serde_json::Value;

/// The contents of a file, usually from `include_str!`.
#[must_use]
pub fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("the text is JSON")
}

/// A number.
#[must_use]
#[track_caller]
pub fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// A list of numbers.
#[must_use]
#[track_caller]
pub fn vector(value: &Value) -> Array1<f64> {
    list(value).iter().map(number).collect()
}

/// A list of rows of one length.
#[must_use]
#[track_caller]
pub fn matrix(value: &Value) -> Array2<f64> {
    let rows = list(value);
    let columns = rows.first().map_or(0, |row| list(row).len());
    let entries = rows.iter().flat_map(|row| vector(row)).collect();
    Array2::from_shape_vec((rows.len(), columns), entries).expect("rows of one length")
}

#[track_caller]
fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn matrices_are_lists_of_rows() {
        let value = parse("[[1, 2.5], [-3e-2, 4], [5, 6]]");
        assert_eq!(matrix(&value), array![[1.0, 2.5], [-0.03, 4.0], [5.0, 6.0]]);
        assert_eq!(vector(&value[1]), array![-0.03, 4.0]);
        assert_eq!(number(&value[0][1]), 2.5);
    }

    #[test]
    #[should_panic(expected = "a list")]
    fn what_is_missing_is_not_empty() {
        let _ = vector(&parse("{}")["v"]);
    }

    #[test]
    #[should_panic(expected = "rows of one length")]
    fn rows_have_one_length() {
        let _ = matrix(&parse("[[1, 2], [3]]"));
    }
}
