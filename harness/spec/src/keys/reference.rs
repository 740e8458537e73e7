//! What a reference page or a schema says of a key.

use serde::Serialize;

use super::range::Range;

/// A key of a spec.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Key {
    /// The table that it is in, such as `[train]`, `[dataset.NAME]` or `the spec`.
    pub table: String,
    /// Its name.
    pub name: &'static str,
    /// What it takes, such as `a whole number`.
    pub takes: String,
    /// The value where a spec gives none; absent where nothing is assumed, or where the key has to be given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
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
    pub keys: Vec<Key>,
}
