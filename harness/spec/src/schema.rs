//! The keys of a spec for editors, as a JSON Schema, and for readers, as a page.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::keys::{Range, SpecKey, ValueType};
use crate::tables::root::SCHEMA;
use crate::typed::reference;

/// A JSON Schema (draft 7, which editors of TOML read) of every key of a spec. It knows types, names, ranges and required
/// keys, not what keys demand of each other or what plugins and data sets there are.
pub fn json_schema() -> Value {
    let mut schema = object(&reference());
    schema["properties"]["schema"]["const"] = json!(SCHEMA);
    schema.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
    schema.insert("title".to_owned(), json!("gpbench spec"));
    Value::Object(schema)
}

/// The schema of a table.
fn object(keys: &[SpecKey]) -> Map<String, Value> {
    let properties: Map<String, Value> = keys.iter().map(|key| (key.name.to_owned(), value(key))).collect();
    let required: Vec<&str> = keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    let Value::Object(mut schema) = schema else { unreachable!("an object was written") };
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

/// The schema of a key's value.
fn value(key: &SpecKey) -> Value {
    let one = match &key.types.iter().map(|of| of_type(*of, key)).collect::<Vec<_>>()[..] {
        [only] => only.clone(),
        several => json!({ "anyOf": several }),
    };
    let mut schema = match (key.named, key.list) {
        (true, _) => json!({ "type": "object", "additionalProperties": one }),
        (_, true) => json!({ "anyOf": [one, { "type": "array", "items": one }] }),
        _ => one,
    };
    let described = schema.as_object_mut().expect("a schema is an object");
    described.insert("description".to_owned(), json!(key.doc));
    if let Some(default) = key.default.as_deref().and_then(from_toml) {
        described.insert("default".to_owned(), default);
    }
    schema
}

/// The values of one type.
fn of_type(of: ValueType, key: &SpecKey) -> Value {
    let mut schema = match of {
        ValueType::Object if !key.keys.is_empty() => object(&key.keys),
        _ => Map::from_iter([("type".to_owned(), json!(of))]),
    };
    match of {
        ValueType::Integer | ValueType::Number => {
            let Range { minimum, exclusive_minimum, maximum, exclusive_maximum, multiple_of } =
                key.range.unwrap_or_default();
            let bounds = [
                ("minimum", minimum),
                ("exclusiveMinimum", exclusive_minimum),
                ("maximum", maximum),
                ("exclusiveMaximum", exclusive_maximum),
                ("multipleOf", multiple_of),
            ];
            let bounds =
                bounds.into_iter().filter_map(|(name, bound)| Some((name.to_owned(), number(bound?))));
            schema.extend(bounds);
        }
        ValueType::String if !key.choices.is_empty() => {
            schema.insert("enum".to_owned(), json!(key.choices));
        }
        _ => {}
    }
    Value::Object(schema)
}

/// A whole number without a decimal point.
fn number(value: f64) -> Value {
    let whole = value as i64;
    if whole as f64 == value { json!(whole) } else { json!(value) }
}

/// A value that is written as TOML.
fn from_toml(text: &str) -> Option<Value> {
    let table: toml::Table = toml::from_str(&format!("value = {text}")).ok()?;
    serde_json::to_value(table.get("value")?).ok()
}

/// Every key as a page in Markdown, table by table.
pub fn reference_page() -> String {
    let mut tables: Vec<(String, Vec<SpecKey>)> = Vec::new();
    collect(reference(), &mut tables);
    let mut page = String::from(
        "# Keys of a spec\n\n\
         A spec is a TOML file. This page lists every key that gpbench reads, in the tables that hold them; `NAME` stands for \
         a name of your own. It is written by `gpbench schema --format md`, and the tests compare it with the program. \
         [README.md](README.md) explains specs by examples. `spec.schema.json` is the same as a JSON Schema: an editor that \
         knows it completes keys and marks errors. For that, a spec begins with `#:schema` and the path of that file.\n",
    );
    for (table, keys) in tables {
        write!(page, "\n## {}\n\n", heading(&table)).expect("text");
        page += "| key | takes | default | meaning |\n|---|---|---|---|\n";
        for key in keys {
            let cells = [format!("`{}`", key.name), takes(&key), default(&key), key.doc.to_owned()];
            let cells = cells.map(|cell| cell.replace('|', "\\|"));
            writeln!(page, "| {} |", cells.join(" | ")).expect("text");
        }
    }
    page
}

/// Puts keys under their tables, in the order of declaration.
fn collect(keys: Vec<SpecKey>, tables: &mut Vec<(String, Vec<SpecKey>)>) {
    let mut inner = Vec::new();
    for mut key in keys {
        inner.append(&mut key.keys);
        match tables.iter_mut().find(|(table, _)| *table == key.table) {
            // A table that several keys share is listed once.
            Some((_, keys)) if keys.iter().any(|known| known.name == key.name) => {}
            Some((_, keys)) => keys.push(key),
            None => tables.push((key.table.clone(), vec![key])),
        }
    }
    // The keys of one table follow each other, before those of the next.
    while let Some(first) = inner.first().map(|key| key.table.clone()) {
        let (own, rest) = inner.into_iter().partition(|key| key.table == first);
        inner = rest;
        collect(own, tables);
    }
}

fn heading(table: &str) -> String {
    match table.starts_with('[') {
        true => format!("`{table}`"),
        false if table == "the spec" => "Outside of all tables".to_owned(),
        false => table.to_owned(),
    }
}

fn takes(key: &SpecKey) -> String {
    let mut text = key.takes.clone();
    if !key.choices.is_empty() {
        let choices: Vec<String> = key.choices.iter().map(|choice| format!("`\"{choice}\"`")).collect();
        write!(text, ": {}", choices.join(", ")).expect("text");
    }
    if let Some(range) = key.range.map(|range| range.to_string()).filter(|range| !range.is_empty()) {
        write!(text, "; {range}").expect("text");
    }
    text
}

fn default(key: &SpecKey) -> String {
    match (&key.default, key.default_rule) {
        (Some(value), _) => format!("`{value}`"),
        (None, Some(rule)) => rule.to_owned(),
        (None, None) if key.required => "required".to_owned(),
        (None, None) => String::new(),
    }
}
