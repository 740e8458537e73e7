//! Parameters of solvers and learners: their schema and their values.

use std::fmt;

crate::words! {
    /// Type of a parameter.
    pub enum ParamKind {
        /// A truth value.
        Bool = "bool",
        /// A whole number.
        Int = "int",
        /// A real number.
        Float = "float",
        /// A text.
        Text = "text",
    }
}

/// The value of a parameter.
///
/// The JSON form has no tag: the order of the variants decides how a value is read.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum ParamValue {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A text; one of the parameter's choices if it has choices.
    Text(String),
}

/// One parameter of a schema.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ParamSchema {
    /// Name.
    pub name: String,
    /// Type.
    pub kind: ParamKind,
    /// One line of documentation.
    pub doc: String,
    /// Value used where a spec gives none.
    pub default: ParamValue,
    /// Smallest permitted value.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub min: Option<f64>,
    /// Largest permitted value.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub max: Option<f64>,
    /// Permitted texts; empty if any text is permitted. Of a whole number: words that it takes beside numbers, such as
    /// `auto`.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub choices: Vec<String>,
}

impl ParamSchema {
    /// Whether this is a whole number that takes the value as a word beside numbers.
    pub fn takes_word(&self, value: &ParamValue) -> bool {
        let ParamValue::Text(text) = value else { return false };
        self.kind == ParamKind::Int && self.choices.contains(text)
    }
}

impl ParamValue {
    /// The type of the value.
    pub fn kind(&self) -> ParamKind {
        match self {
            ParamValue::Bool(_) => ParamKind::Bool,
            ParamValue::Int(_) => ParamKind::Int,
            ParamValue::Float(_) => ParamKind::Float,
            ParamValue::Text(_) => ParamKind::Text,
        }
    }

    /// The value as a real number, if it is a number.
    pub fn number(&self) -> Option<f64> {
        match self {
            ParamValue::Int(value) => Some(*value as f64),
            ParamValue::Float(value) => Some(*value),
            ParamValue::Bool(_) | ParamValue::Text(_) => None,
        }
    }

    /// The value as messages show it: a text in quotes, and a real number with a point or an exponent.
    pub fn quoted(&self) -> String {
        match self {
            ParamValue::Bool(truth) => truth.to_string(),
            ParamValue::Int(int) => int.to_string(),
            ParamValue::Float(float) => format!("{float:?}"),
            ParamValue::Text(text) => format!("{text:?}"),
        }
    }
}

impl fmt::Display for ParamValue {
    /// Writes the shortest form that distinguishes values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamValue::Bool(truth) => truth.fmt(f),
            ParamValue::Int(int) => int.fmt(f),
            ParamValue::Float(float) if *float == 0.0 || (1e-3..1e6).contains(&float.abs()) => float.fmt(f),
            ParamValue::Float(float) => write!(f, "{float:e}"),
            ParamValue::Text(text) => text.fmt(f),
        }
    }
}

impl From<bool> for ParamValue {
    fn from(value: bool) -> Self {
        ParamValue::Bool(value)
    }
}

impl From<i64> for ParamValue {
    fn from(value: i64) -> Self {
        ParamValue::Int(value)
    }
}

impl From<i32> for ParamValue {
    fn from(value: i32) -> Self {
        ParamValue::Int(value.into())
    }
}

impl From<f64> for ParamValue {
    fn from(value: f64) -> Self {
        ParamValue::Float(value)
    }
}

impl From<&str> for ParamValue {
    fn from(value: &str) -> Self {
        ParamValue::Text(value.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_short() {
        let float = |value: f64| ParamValue::Float(value).to_string();
        assert_eq!([0.3, 1.0, 1e-4, 0.0, -2.5e300].map(float), ["0.3", "1", "1e-4", "0", "-2.5e300"]);
        assert_eq!(ParamValue::Int(-3).to_string(), "-3");
        assert_eq!(ParamValue::from("adam").to_string(), "adam");
    }

    #[test]
    fn a_whole_number_takes_its_words_alone() {
        let rank = ParamSchema {
            name: "rank".into(),
            kind: ParamKind::Int,
            doc: String::new(),
            default: ParamValue::Int(1),
            min: None,
            max: None,
            choices: vec!["auto".into()],
        };
        assert!(rank.takes_word(&"auto".into()));
        assert!(!rank.takes_word(&"none".into()) && !rank.takes_word(&ParamValue::Int(1)));
        let text = ParamSchema { kind: ParamKind::Text, ..rank };
        assert!(!text.takes_word(&"auto".into()));
    }

    #[test]
    fn quoted_values_show_their_type() {
        let quoted = |value: ParamValue| value.quoted();
        assert_eq!(
            [true.into(), 1.into(), 1.0.into(), "1".into()].map(quoted),
            ["true", "1", "1.0", "\"1\""]
        );
    }
}
