//! A TOML document as a tree of values with their places in the text.
//!
//! The `toml` crate's own spanned tree borrows from one text; a spec is made of
//! several (the file and every `--set`), so values are copied into this one.

use std::fmt;

use toml::de::{DeTable, DeValue, Error};

use crate::error::Mistakes;
use crate::source::{At, Location};

/// A value and its place.
pub(crate) type Node = At<Value>;

/// A TOML value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    /// Dates and times: no key takes one, so only the fact is kept.
    Datetime,
    Array(Vec<Node>),
    Table(Table),
}

impl Value {
    /// The kind, as error messages call it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Value::Bool(_) => "a truth value",
            Value::Int(_) => "a whole number",
            Value::Float(_) => "a decimal number",
            Value::Text(_) => "a text",
            Value::Datetime => "a date",
            Value::Array(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::Bool(truth)
    }
}

impl From<i64> for Value {
    fn from(int: i64) -> Value {
        Value::Int(int)
    }
}

impl From<f64> for Value {
    fn from(float: f64) -> Value {
        Value::Float(float)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl fmt::Display for Value {
    /// As TOML.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        plain(self).map_or(Ok(()), |value| value.fmt(f))
    }
}

/// Keys and values in the order of the text.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Table(pub(crate) Vec<(At<String>, Node)>);

impl Table {
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.0.iter().find(|(k, _)| k.value == key).map(|(_, v)| v)
    }
}

/// Parses `text`; syntax errors go to `mistakes`.
pub(crate) fn parse(text: &str, source: usize, mistakes: &mut Mistakes) -> Table {
    let (document, errors) = DeTable::parse_recoverable(text);
    syntax(&errors, text, source, mistakes);
    table(document.get_ref(), source, mistakes)
}

/// Reports syntax errors, the first of each line. After an unclosed bracket or quote every later line looks
/// wrong; then only the first error is reported.
fn syntax(errors: &[Error], text: &str, source: usize, mistakes: &mut Mistakes) {
    let unclosed = errors.iter().any(|e| e.message().contains("unclosed"));
    let mut last_line = None;
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        // A line is identified by where it begins: counting lines from the top takes too long with many errors.
        let line = text.as_bytes()[..span.start.min(text.len())].iter().rposition(|b| *b == b'\n');
        if last_line == Some(line) || unclosed && last_line.is_some() {
            continue;
        }
        last_line = Some(line);
        let hint = unclosed.then(|| "a bracket or quote before this is not closed".to_owned());
        mistakes.add(&Location { source, span }, error.message().trim(), hint);
    }
}

fn table(parsed: &DeTable<'_>, source: usize, mistakes: &mut Mistakes) -> Table {
    let entries = parsed.iter().map(|(key, value)| {
        let name = At { value: key.get_ref().to_string(), at: Location { source, span: key.span() } };
        let at = Location { source, span: value.span() };
        let value = node(value.get_ref(), &at, mistakes);
        (name, At { value, at })
    });
    Table(entries.collect())
}

fn node(parsed: &DeValue<'_>, at: &Location, mistakes: &mut Mistakes) -> Value {
    match parsed {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Boolean(truth) => Value::Bool(*truth),
        DeValue::Datetime(_) => Value::Datetime,
        DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
            Ok(int) => Value::Int(int),
            Err(_) => {
                mistakes.add(at, format!("{digits} does not fit a 64-bit whole number"), None);
                Value::Int(0)
            }
        },
        // Underscores are gone already, and what TOML calls a float Rust can read.
        DeValue::Float(digits) => Value::Float(digits.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Array(items) => {
            let items = items.iter().map(|item| {
                let at = Location { source: at.source, span: item.span() };
                let value = node(item.get_ref(), &at, mistakes);
                At { value, at }
            });
            Value::Array(items.collect())
        }
        DeValue::Table(inner) => Value::Table(table(inner, at.source, mistakes)),
    }
}

/// Writes a tree as TOML, without the comments and the layout of the original texts.
pub(crate) fn to_toml(table: &Table) -> String {
    toml::to_string(&plain_table(table)).expect("a tree of TOML values can be written as TOML")
}

fn plain_table(table: &Table) -> toml::Table {
    table.0.iter().filter_map(|(key, node)| Some((key.value.clone(), plain(&node.value)?))).collect()
}

fn plain(value: &Value) -> Option<toml::Value> {
    Some(match value {
        Value::Bool(truth) => (*truth).into(),
        Value::Int(int) => (*int).into(),
        Value::Float(float) => (*float).into(),
        Value::Text(text) => text.clone().into(),
        Value::Datetime => return None,
        Value::Array(items) => items.iter().filter_map(|item| plain(&item.value)).collect::<Vec<_>>().into(),
        Value::Table(inner) => plain_table(inner).into(),
    })
}
