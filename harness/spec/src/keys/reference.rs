//! The description of a key in the reference and in the schema.

use serde::Serialize;

use super::range::Range;

/// A type of a value, under its name in JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueType {
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A text.
    String,
    /// A table.
    Object,
}

/// A key of a spec.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SpecKey {
    /// The table that it is in, such as `[train]`, `[dataset.NAME]` or `the spec`.
    pub table: String,
    /// Its name.
    pub name: &'static str,
    /// What it takes, such as `a whole number`.
    pub takes: String,
    /// The types of its values.
    pub types: Vec<ValueType>,
    /// Whether it takes a list of such values as well.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub list: bool,
    /// The default, as TOML; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// What the default is computed from, in words, such as `n / 10`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_rule: Option<&'static str>,
    /// Whether a spec has to give it.
    pub required: bool,
    /// The numbers that it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// The names that it takes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<&'static str>,
    /// One sentence of documentation.
    pub doc: &'static str,
    /// Whether its value holds tables under names of the user's own, such as `[dataset.NAME]`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub named: bool,
    /// The keys of a table that is its value, or of those that it holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<SpecKey>,
}
