//! `--set key=value`: a value of the spec, replaced from the command line.
//!
//! The key is dotted as in TOML; the value is TOML, or a text without quotes
//! (`--set budget.time=10m`). A table given as a value replaces the whole table; missing tables on the way
//! to a key are created.

use crate::error::Mistakes;
use crate::source::{At, Location, Sources};
use crate::tree::{self, Node, Table, Value};

/// Applies one override to `root`. Returns its first key, or `None` if it is unusable.
pub(crate) fn apply(
    root: &mut Table,
    argument: &str,
    sources: &mut Sources,
    mistakes: &mut Mistakes,
) -> Option<String> {
    let source = sources.push("--set", argument);
    let parsed = parse(argument, source, mistakes)?;
    let first = parsed.0.first().map(|(key, _)| key.value.clone());
    merge(root, parsed, mistakes);
    first
}

/// Reads an override as a small TOML document.
fn parse(argument: &str, source: usize, mistakes: &mut Mistakes) -> Option<Table> {
    let whole = Location { source, span: 0..argument.len() };
    let form = || Some("write --set key=value, for instance --set budget.tolerance=0.1".to_owned());
    let Some(equals) = equals_sign(argument) else {
        mistakes.add(&whole, "an override needs a key and a value", form());
        return None;
    };
    let value = argument[equals + 1..].trim();
    let mut as_toml = Mistakes::default();
    let parsed = tree::parse(argument, source, &mut as_toml);
    if as_toml.is_empty() && parsed.0.len() == 1 {
        return Some(parsed);
    }
    // A value that begins like a TOML list, table or quoted text is not a bare text.
    if value.is_empty() || value.starts_with(['[', '{', '"', '\'']) || argument.contains('\n') {
        mistakes.add(&whole, "this override is neither TOML nor a bare text", form());
        return None;
    }
    let mut in_key = Mistakes::default();
    let mut parsed = tree::parse(&format!("{}= 0", &argument[..equals]), source, &mut in_key);
    if !in_key.is_empty() || parsed.0.len() != 1 {
        let at = Location { source, span: 0..equals };
        mistakes.add(&at, format!("`{}` is not a dotted key", argument[..equals].trim()), form());
        return None;
    }
    let start = argument.len() - argument[equals + 1..].trim_start().len();
    let at = Location { source, span: start..start + value.len() };
    *leaf(&mut parsed)? = At { value: Value::Text(value.to_owned()), at };
    Some(parsed)
}

/// The first `=` outside quotes.
fn equals_sign(argument: &str) -> Option<usize> {
    let mut quote = None;
    for (k, c) in argument.char_indices() {
        match (quote, c) {
            (None, '=') => return Some(k),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    None
}

/// The value at the end of a chain of one-entry tables.
fn leaf(table: &mut Table) -> Option<&mut Node> {
    let (_, node) = table.0.first_mut()?;
    if matches!(node.value, Value::Table(_)) {
        let Value::Table(inner) = &mut node.value else { return None };
        return leaf(inner);
    }
    Some(node)
}

/// Puts the one value of `from` into `into`, at the same keys.
fn merge(into: &mut Table, from: Table, mistakes: &mut Mistakes) {
    for (key, node) in from.0 {
        let Some((_, old)) = into.0.iter_mut().find(|(k, _)| k.value == key.value) else {
            into.0.push((key, node));
            continue;
        };
        // `a.b = 1` is parsed as a table around b whose place is the key's; `a = { b = 1 }` is a table as
        // typed, which replaces the old one.
        let dotted = matches!(node.value, Value::Table(_)) && !is_inline(&key, &node);
        match (&mut old.value, node.value) {
            (Value::Table(old), Value::Table(new)) if dotted => merge(old, new, mistakes),
            (_, Value::Table(_)) if dotted => {
                let what =
                    format!("`{}` is {}, not a table: no key can be set in it", key.value, old.value.kind());
                mistakes.add(&key.at, what, None);
            }
            (_, value) => *old = At { value, at: node.at },
        }
    }
}

/// Whether a table was written in braces rather than by dots in its key.
fn is_inline(key: &At<String>, node: &Node) -> bool {
    node.at.span.start > key.at.span.end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(spec: &str, arguments: &[&str]) -> (Table, usize) {
        let mut sources = Sources::new("s.toml".into(), spec.to_owned());
        let mut mistakes = Mistakes::default();
        let mut root = tree::parse(spec, 0, &mut mistakes);
        assert!(mistakes.is_empty());
        for argument in arguments {
            apply(&mut root, argument, &mut sources, &mut mistakes);
        }
        (root, mistakes.count())
    }

    fn at<'a>(table: &'a Table, path: &str) -> &'a Value {
        let mut keys = path.split('.');
        let mut value = &table.get(keys.next().expect("a key")).expect("present").value;
        for key in keys {
            let Value::Table(inner) = value else { panic!("{path}: not a table") };
            value = &inner.get(key).expect("present").value;
        }
        value
    }

    #[test]
    fn values_are_toml_or_bare_text() {
        let spec = "[budget]\ntolerance = 0.01\n[solver.cg]\nparams = { rank = 100 }\n";
        let (root, mistakes) = set(
            spec,
            &["budget.tolerance=0.1", "budget.time = 10m", "solver.cg.params.rank=5", "seeds=[0, 1]"],
        );
        assert_eq!(mistakes, 0);
        assert_eq!(at(&root, "budget.tolerance"), &Value::Float(0.1));
        assert_eq!(at(&root, "budget.time"), &Value::Text("10m".into()));
        assert_eq!(at(&root, "solver.cg.params.rank"), &Value::Int(5));
        assert!(matches!(at(&root, "seeds"), Value::Array(items) if items.len() == 2));
    }

    #[test]
    fn a_table_in_braces_replaces_and_a_dotted_key_adds() {
        let spec = "[solver.cg.params]\nrank = 100\n";
        let (root, _) = set(spec, &["solver.cg.params.preconditioner=none"]);
        assert_eq!(at(&root, "solver.cg.params.rank"), &Value::Int(100));
        let (root, _) = set(spec, &["solver.cg={ plugin = \"cg\" }"]);
        let Value::Table(replaced) = at(&root, "solver.cg") else { panic!("a table") };
        assert!(replaced.get("params").is_none() && replaced.get("plugin").is_some());
    }

    #[test]
    fn unusable_overrides_are_reported() {
        for argument in ["tolerance", "=3", "a..b=1", "seeds=[0", "a b=1", "name=\"x", ""] {
            assert_eq!(set("", &[argument]).1, 1, "{argument}");
        }
        assert_eq!(set("name = \"x\"", &["name.first=1"]).1, 1);
    }
}
