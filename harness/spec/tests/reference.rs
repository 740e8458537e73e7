//! The reference of keys: every key that is read is declared, and every declared key is read.

use crate::common;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use gpbench_spec::{SpecKey, reference};
use toml::{Table, Value};

/// The name that stands for the user's own name of a table.
const NAME: &str = "NAME";

/// A key, and the tables that lead to it.
fn flat(keys: &[SpecKey], path: &[String], out: &mut Vec<(Vec<String>, SpecKey)>) {
    for key in keys {
        let path = [path, &[key.name.to_owned()]].concat();
        out.push((path.clone(), key.clone()));
        let inner = if key.named { [path, vec![NAME.to_owned()]].concat() } else { path };
        flat(&key.keys, &inner, out);
    }
}

fn all() -> Vec<(Vec<String>, SpecKey)> {
    let mut all = Vec::new();
    flat(&reference(), &[], &mut all);
    all
}

/// Whether a spec with a value at this path has a key that is unknown.
fn is_unknown(path: &[String]) -> bool {
    let value = path
        .iter()
        .rev()
        .fold(Value::Integer(1), |inner, key| Value::Table(Table::from_iter([(key.clone(), inner)])));
    let text = toml::to_string(&value).expect("a table is TOML");
    let errors = common::check_text(&text, &[]).map(|_| ()).expect_err("keys are missing");
    let key = path.last().expect("a key");
    errors.errors().iter().any(|error| error.what.starts_with(&format!("unknown key `{key}`")))
}

#[test]
fn a_declared_key_is_read_and_another_is_not() {
    let all = all();
    assert!(all.len() > 80, "{}", all.len());
    for (path, key) in all {
        assert!(!is_unknown(&path), "{path:?}");
        let mut other = path.clone();
        other.pop();
        other.push(format!("{}x", key.name));
        assert!(is_unknown(&other), "{other:?}");
        assert!(key.doc.ends_with('.') && !key.takes.is_empty(), "{path:?}: {}", key.doc);
    }
}

#[test]
fn keys_of_specs_are_declared() {
    fn known(value: &Value, keys: &[SpecKey], path: &str) {
        let table = match value {
            Value::Table(table) => table,
            Value::Array(items) => return items.iter().for_each(|item| known(item, keys, path)),
            _ => return,
        };
        for (name, inner) in table {
            let key = keys.iter().find(|key| key.name == name);
            let key = key.unwrap_or_else(|| panic!("{path}.{name} is not declared"));
            match inner {
                Value::Table(named) if key.named => {
                    named.values().for_each(|value| known(value, &key.keys, name));
                }
                // Parameters are the plugin's.
                _ if key.keys.is_empty() => {}
                _ => known(inner, &key.keys, name),
            }
        }
    }
    let specs = [
        include_str!("../../../fuzz/seeds/spec/posterior.toml"),
        include_str!("../../../fuzz/seeds/spec/train.toml"),
        include_str!("../../../fuzz/seeds/spec/likelihood.toml"),
    ];
    for spec in specs {
        known(&Value::Table(spec.parse().expect("TOML")), &reference(), "spec");
    }
}

/// Each table's keys as a page would list them.
#[test]
fn the_reference_lists_types_defaults_ranges_and_documentation() {
    let mut text = String::new();
    let mut table = String::new();
    let mut all = all();
    // Keys of one table together, in the order of declaration.
    let mut tables: Vec<String> = Vec::new();
    for (_, key) in &all {
        if !tables.contains(&key.table) {
            tables.push(key.table.clone());
        }
    }
    all.sort_by_key(|(_, key)| tables.iter().position(|table| *table == key.table));
    // A table that several keys share has its keys once.
    let mut listed = BTreeSet::new();
    all.retain(|(_, key)| listed.insert((key.table.clone(), key.name)));
    for (_, key) in all {
        if key.table != table {
            writeln!(text, "\n{}", key.table).expect("text");
            table.clone_from(&key.table);
        }
        let mut line = format!("  {}: {}", key.name, key.takes);
        if !key.choices.is_empty() {
            write!(line, " ({})", key.choices.join(", ")).expect("text");
        }
        if let Some(range) = key.range.filter(|range| !range.to_string().is_empty()) {
            write!(line, " {range}").expect("text");
        }
        if let Some(default) = key.default.or(key.default_rule.map(str::to_owned)) {
            write!(line, "; default {default}").expect("text");
        }
        if key.required {
            line += "; required";
        }
        writeln!(text, "{line}\n    {}", key.doc).expect("text");
    }
    insta::assert_snapshot!(text);
}
