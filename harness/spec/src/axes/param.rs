//! Parameters of a solver, checked against the plugin's schema.

use gpbench_record::{ParamKind, ParamSchema, ParamValue, SolverInfo};

use crate::catalog::Catalog;
use crate::error::Mistakes;
use crate::nearest;
use crate::source::{At, Location};
use crate::tree::{Node, Table, Value};
use crate::typed::Typed;

/// A parameter's value, or its values by data set, or those that a grid tries.
#[derive(Clone)]
pub(super) enum ParamChoice {
    Same(String, ParamValue),
    ByDataset(String, Vec<(String, ParamValue)>),
    Grid(String, Vec<ParamValue>),
}

impl ParamChoice {
    /// Name and value on a data set; of a grid, its first.
    pub(super) fn on(&self, dataset: &str) -> Option<(String, ParamValue)> {
        let (key, value) = match self {
            ParamChoice::Same(key, value) => (key, value),
            ParamChoice::Grid(key, values) => (key, values.first()?),
            ParamChoice::ByDataset(key, values) => (key, &values.iter().find(|(name, _)| name == dataset)?.1),
        };
        Some((key.clone(), value.clone()))
    }
}

/// Names that a table of values by data set may use.
pub(super) struct Known<'a> {
    pub(super) typed: &'a Typed,
    pub(super) catalog: &'a Catalog,
    /// Those on the data-set axis.
    pub(super) datasets: &'a [String],
}

/// Most points of one grid.
pub(super) const MOST_POINTS: usize = 1000;

/// The key of a table that states a grid, as an alternative to a plain list.
const GRID: &str = "grid";

/// Reports a parameter that the solver or learner does not have.
pub(super) fn check_name(key: &At<String>, info: &SolverInfo, mistakes: &mut Mistakes) {
    if info.params.iter().any(|p| p.name == key.value) {
        return;
    }
    let what = format!("{} has no parameter `{}`", info.called(), key.value);
    let hint = match info.params.is_empty() {
        true => Some("it has none at all".to_owned()),
        false => nearest::hint(&key.value, info.params.iter().map(|p| p.name.as_str())),
    };
    mistakes.add(&key.at, what, hint);
}

/// A parameter as the spec gives it, or its default.
pub(super) fn choice(
    schema: &ParamSchema,
    given: Option<&Node>,
    known: &Known<'_>,
    mistakes: &mut Mistakes,
) -> Option<ParamChoice> {
    let same = |value| ParamChoice::Same(schema.name.clone(), value);
    match given {
        None => Some(same(schema.default.clone())),
        Some(Node { value: Value::Array(_), .. }) => grid(schema, given, mistakes),
        Some(Node { value: Value::Table(table), .. }) if table.get(GRID).is_some() => {
            let before = mistakes.count();
            for (key, _) in table.0.iter().filter(|(key, _)| key.value != GRID) {
                let what = format!("`{}` does not go with a grid of `{}`", key.value, schema.name);
                mistakes.add(&key.at, what, "a grid has the same values for every data set".to_owned());
            }
            let values = grid(schema, table.get(GRID), mistakes);
            values.filter(|_| mistakes.count() == before)
        }
        Some(Node { value: Value::Table(table), at }) => by_dataset(schema, table, at, known, mistakes),
        Some(node) => value(schema, node, mistakes).map(same),
    }
}

/// A list, or `{ grid = [...] }`: values of which each makes a case.
fn grid(schema: &ParamSchema, given: Option<&Node>, mistakes: &mut Mistakes) -> Option<ParamChoice> {
    let (before, given) = (mistakes.count(), given?);
    let nodes = match &given.value {
        Value::Array(items) => items.as_slice(),
        _ => std::slice::from_ref(given),
    };
    let Some(first) = nodes.first() else {
        let what = format!("the grid of `{}` is empty", schema.name);
        mistakes.add(&given.at, what, "give it at least one value".to_owned());
        return None;
    };
    if nodes.len() > MOST_POINTS {
        let what = format!("the grid of `{}` has {} values", schema.name, nodes.len());
        mistakes.add(&first.at, what, format!("at most {MOST_POINTS} are possible"));
        return None;
    }
    let mut values: Vec<ParamValue> = Vec::new();
    for node in nodes {
        let Some(value) = value(schema, node, mistakes) else { continue };
        if values.contains(&value) {
            mistakes.add(&node.at, format!("{value} occurs twice in the grid of `{}`", schema.name), None);
        }
        values.push(value);
    }
    (mistakes.count() == before).then(|| ParamChoice::Grid(schema.name.clone(), values))
}

fn by_dataset(
    schema: &ParamSchema,
    table: &Table,
    at: &Location,
    known: &Known<'_>,
    mistakes: &mut Mistakes,
) -> Option<ParamChoice> {
    let before = mistakes.count();
    let mut values = Vec::new();
    for (name, node) in &table.0 {
        // The table may serve a matrix that `--set` narrows, so every known data set is allowed.
        let has_table = known.typed.root.datasets.find(&name.value).is_some();
        if !known.datasets.contains(&name.value) && !has_table && known.catalog.dataset(&name.value).is_none()
        {
            let what =
                format!("`{}` is not a data set, so `{}` cannot depend on it", name.value, schema.name);
            let hint = nearest::hint(&name.value, known.datasets.iter().map(String::as_str));
            mistakes.add(&name.at, what, hint);
        }
        values.extend(value(schema, node, mistakes).map(|v| (name.value.clone(), v)));
    }
    let missing: Vec<&str> =
        known.datasets.iter().map(String::as_str).filter(|d| table.get(d).is_none()).collect();
    if !missing.is_empty() {
        let what =
            format!("parameter `{}` has no value for data set `{}`", schema.name, missing.join("`, `"));
        let hint =
            "a parameter that depends on the data set needs one entry for each of the matrix".to_owned();
        mistakes.add(at, what, hint);
    }
    (mistakes.count() == before).then(|| ParamChoice::ByDataset(schema.name.clone(), values))
}

/// One value, checked against its schema.
pub(super) fn value(schema: &ParamSchema, node: &Node, mistakes: &mut Mistakes) -> Option<ParamValue> {
    let name = &schema.name;
    let param = match (schema.kind, &node.value) {
        (ParamKind::Bool, Value::Bool(truth)) => ParamValue::Bool(*truth),
        (ParamKind::Int, Value::Int(int)) => ParamValue::Int(*int),
        (ParamKind::Float, Value::Int(int)) => ParamValue::Float(*int as f64),
        (ParamKind::Float, Value::Float(float)) => ParamValue::Float(*float),
        (ParamKind::Text, Value::Text(text)) => ParamValue::Text(text.clone()),
        (ParamKind::Int, Value::Text(text)) if schema.choices.contains(text) => {
            ParamValue::Text(text.clone())
        }
        (kind, value) => {
            let number_or_word = format!("a whole number or \"{}\"", schema.choices.join("\" or \""));
            let wanted = match kind {
                ParamKind::Bool => "true or false",
                ParamKind::Int if !schema.choices.is_empty() => &number_or_word,
                ParamKind::Int => "a whole number",
                ParamKind::Float => "a number",
                ParamKind::Text => "a text",
            };
            mistakes.add(&node.at, format!("parameter `{name}` takes {wanted}, not {}", value.kind()), None);
            return None;
        }
    };
    if let Some(number) = param.number() {
        let low = schema.min.is_some_and(|min| number < min);
        let high = schema.max.is_some_and(|max| number > max);
        // An infinite number has no form in the files of a run.
        if low || high || !number.is_finite() {
            mistakes.add(&node.at, format!("parameter `{name}` cannot be {number}"), range(schema));
            return None;
        }
    }
    if let ParamValue::Text(text) = &param
        && !schema.choices.is_empty()
        && !schema.choices.contains(text)
    {
        let what = format!("parameter `{name}` cannot be \"{text}\"");
        mistakes.add(&node.at, what, nearest::hint(text, schema.choices.iter().map(String::as_str)));
        return None;
    }
    Some(param)
}

/// The permitted numbers in words.
fn range(schema: &ParamSchema) -> String {
    match (schema.min, schema.max) {
        (Some(min), Some(max)) => format!("it ranges from {min} to {max}"),
        (Some(min), None) => format!("it is finite and at least {min}"),
        (None, Some(max)) => format!("it is finite and at most {max}"),
        (None, None) => "it is finite".to_owned(),
    }
}
