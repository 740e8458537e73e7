//! Solvers: the plugin that offers each, its parameters, its bounds.

use std::collections::BTreeMap;

use gpbench_record::{
    Budget, Inducing, LibraryInfo, Param, ParamInfo, ParamKind, Quadrature, Solver, SolverInfo, SolverKind,
    Task,
};

use super::{budget, inducing, quadrature};
use crate::catalog::Catalog;
use crate::error::Mistakes;
use crate::nearest;
use crate::source::{At, Location};
use crate::tree::{Node, Table, Value};
use crate::typed::{SolverTable, Typed};

/// An entry of the solver axis.
pub(crate) struct SolverEntry<'a> {
    pub(crate) name: String,
    pub(crate) library: &'a LibraryInfo,
    info: &'a SolverInfo,
    params: Vec<ParamChoice>,
    inducing: Option<Inducing>,
    quadrature: Option<Quadrature>,
    prediction: BTreeMap<String, Param>,
    pub(crate) budget: Budget,
}

/// A parameter's value, or its values by data set.
enum ParamChoice {
    Same(String, Param),
    ByDataset(String, Vec<(String, Param)>),
}

impl SolverEntry<'_> {
    pub(crate) fn is_exact(&self) -> bool {
        self.info.capabilities.iter().any(|c| c == "exact")
    }

    /// The solver as it runs on `dataset`; `None` if a parameter has no value there, which was told.
    pub(crate) fn params_for(&self, dataset: &str) -> Option<Solver> {
        let mut params = BTreeMap::new();
        for choice in &self.params {
            let (key, value) = match choice {
                ParamChoice::Same(key, value) => (key, value),
                ParamChoice::ByDataset(key, values) => {
                    (key, &values.iter().find(|(name, _)| name == dataset)?.1)
                }
            };
            params.insert(key.clone(), value.clone());
        }
        let (name, plugin) = (self.name.clone(), self.info.id.clone());
        let prediction = self.prediction.clone();
        Some(Solver {
            name,
            plugin,
            params,
            inducing: self.inducing,
            quadrature: self.quadrature,
            prediction,
        })
    }
}

pub(crate) fn resolve<'a>(
    name: &At<String>,
    typed: &Typed,
    catalog: &'a Catalog,
    task: Task,
    datasets: &[String],
    mistakes: &mut Mistakes,
) -> Option<SolverEntry<'a>> {
    let table = typed.root.solvers.iter().find(|t| t.name.value == name.value);
    let (library, info) = find(name, table, typed, catalog, mistakes)?;
    let own = table.map(|t| t.budget.clone()).unwrap_or_default();
    let budget = budget::resolve(&typed.root.budget, &own, mistakes);
    let inducing = table.and_then(|t| t.inducing.as_ref());
    let inducing = inducing.and_then(|given| inducing::resolve(given, info, catalog, task, mistakes));
    let quadrature = table.and_then(|t| t.quadrature.as_ref());
    let quadrature = quadrature.and_then(|given| quadrature::resolve(given, task, mistakes));
    let (name_of_entry, params) = (name.value.clone(), Vec::new());
    let prediction = BTreeMap::new();
    let mut entry =
        SolverEntry { name: name_of_entry, library, info, params, inducing, quadrature, prediction, budget };
    let bounded = budget.tolerance.is_some() || budget.max_epochs.is_some() || budget.seconds.is_some();
    // A bound that could not be read has been told already.
    if !entry.is_exact() && !bounded && typed.mistakes.is_empty() {
        let hint = "give `tolerance`, `max_epochs` or `time` in [budget]".to_owned();
        mistakes.add(&name.at, format!("nothing bounds the iterative solver `{}`", name.value), hint);
    }
    if info.kind == SolverKind::Learner {
        mistakes.add(&name.at, format!("`{}` is a learner, which this version cannot run", info.id), None);
        return None;
    }
    let typed_params = table.map_or(&[][..], |t| &t.params);
    let predicting = table.map_or(&[][..], |t| &t.prediction);
    for (key, _) in typed_params.iter().chain(predicting) {
        unknown_parameter(key, info, mistakes);
    }
    if let Some((key, _)) = predicting.first().filter(|_| task != Task::Train) {
        let hint = "it is for the prediction that ends task \"train\"; use `params`".to_owned();
        mistakes.add(&key.at, "`prediction` has no effect: this task does not train", hint);
    }
    for (key, node) in predicting {
        let schema = info.params.iter().find(|schema| schema.name == key.value);
        let value = schema.and_then(|schema| value(schema, node, mistakes));
        entry.prediction.extend(value.map(|value| (key.value.clone(), value)));
    }
    for schema in &info.params {
        let given = typed_params.iter().find(|(key, _)| key.value == schema.name);
        let choice = match given {
            None => Some(ParamChoice::Same(schema.name.clone(), schema.default.clone())),
            Some((_, Node { value: Value::Table(by_dataset), at })) => {
                let known = Known { typed, catalog, datasets };
                by_dataset_values(schema, by_dataset, at, &known, mistakes)
            }
            Some((_, node)) => {
                value(schema, node, mistakes).map(|v| ParamChoice::Same(schema.name.clone(), v))
            }
        };
        entry.params.extend(choice);
    }
    Some(entry)
}

/// Tells a parameter that the solver does not have.
fn unknown_parameter(key: &At<String>, info: &SolverInfo, mistakes: &mut Mistakes) {
    if info.params.iter().any(|p| p.name == key.value) {
        return;
    }
    let what = format!("solver `{}` has no parameter `{}`", info.id, key.value);
    let hint = match info.params.is_empty() {
        true => Some("it has none at all".to_owned()),
        false => nearest::hint(&key.value, info.params.iter().map(|p| p.name.as_str())),
    };
    mistakes.add(&key.at, what, hint);
}

/// The library and solver that a name on the axis means.
fn find<'a>(
    name: &At<String>,
    table: Option<&SolverTable>,
    typed: &Typed,
    catalog: &'a Catalog,
    mistakes: &mut Mistakes,
) -> Option<(&'a LibraryInfo, &'a SolverInfo)> {
    let id = match table {
        Some(table) => table.plugin.as_ref().unwrap_or(&table.name),
        None => name,
    };
    if let Some(path) = table.and_then(|t| t.library.as_ref()) {
        let file = typed.folder.join(&path.value);
        let canonical = file.canonicalize().ok();
        let same = |l: &&LibraryInfo| {
            l.file == file || canonical.as_ref().is_some_and(|c| l.file.canonicalize().is_ok_and(|f| f == *c))
        };
        let Some(library) = catalog.libraries.iter().find(same) else {
            let hint = "the path is relative to the spec's folder".to_owned();
            mistakes.add(&path.at, format!("no plugin library at `{}`", path.value), hint);
            return None;
        };
        let Some(info) = library.solvers.iter().find(|s| s.id == id.value) else {
            let what = format!("library `{}` offers no solver `{}`", path.value, id.value);
            mistakes.add(
                &id.at,
                what,
                nearest::hint(&id.value, library.solvers.iter().map(|s| s.id.as_str())),
            );
            return None;
        };
        return Some((library, info));
    }
    let mut offers = catalog.solvers().filter(|(_, s)| s.id == id.value);
    let Some(first) = offers.next() else {
        let tables = typed.root.solvers.iter().map(|t| t.name.value.as_str()).filter(|t| *t != id.value);
        let known: Vec<&str> = catalog.solvers().map(|(_, s)| s.id.as_str()).chain(tables).collect();
        let what = format!("unknown solver `{}`", id.value);
        mistakes.add(&id.at, what, nearest::hint(&id.value, known.iter().copied()));
        return None;
    };
    if let Some(second) = offers.next() {
        let what = format!(
            "two libraries offer solver `{}`: {} and {}",
            id.value,
            first.0.file.display(),
            second.0.file.display()
        );
        mistakes.add(&id.at, what, format!("choose with `library` in [solver.{}]", name.value));
        return None;
    }
    Some(first)
}

/// What names a table of values by data set may use.
struct Known<'a> {
    typed: &'a Typed,
    catalog: &'a Catalog,
    datasets: &'a [String],
}

fn by_dataset_values(
    schema: &ParamInfo,
    table: &Table,
    at: &Location,
    known: &Known<'_>,
    mistakes: &mut Mistakes,
) -> Option<ParamChoice> {
    let before = mistakes.count();
    let mut values = Vec::new();
    for (name, node) in &table.0 {
        // A table may serve a matrix that `--set` narrows: any data set will do that there is.
        let own_table = known.typed.root.datasets.iter().any(|t| t.name.value == name.value);
        if !known.datasets.contains(&name.value) && !own_table && known.catalog.dataset(&name.value).is_none()
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
fn value(schema: &ParamInfo, node: &Node, mistakes: &mut Mistakes) -> Option<Param> {
    let name = &schema.name;
    let param = match (schema.kind, &node.value) {
        (ParamKind::Bool, Value::Bool(truth)) => Param::Bool(*truth),
        (ParamKind::Int, Value::Int(int)) => Param::Int(*int),
        (ParamKind::Float, Value::Int(int)) => Param::Float(*int as f64),
        (ParamKind::Float, Value::Float(float)) => Param::Float(*float),
        (ParamKind::Text, Value::Text(text)) => Param::Text(text.clone()),
        (kind, value) => {
            let wanted = match kind {
                ParamKind::Bool => "true or false",
                ParamKind::Int => "a whole number",
                ParamKind::Float => "a number",
                ParamKind::Text => "a text",
            };
            mistakes.add(&node.at, format!("parameter `{name}` takes {wanted}, not {}", value.kind()), None);
            return None;
        }
    };
    let number = match &param {
        Param::Int(int) => Some(*int as f64),
        Param::Float(float) => Some(*float),
        _ => None,
    };
    if let Some(number) = number {
        let low = schema.min.is_some_and(|min| number < min);
        let high = schema.max.is_some_and(|max| number > max);
        if low || high || number.is_nan() {
            let what = format!("parameter `{name}` cannot be {number}");
            mistakes.add(&node.at, what, range(schema));
            return None;
        }
    }
    if let Param::Text(text) = &param
        && !schema.choices.is_empty()
        && !schema.choices.contains(text)
    {
        let what = format!("parameter `{name}` cannot be \"{text}\"");
        mistakes.add(&node.at, what, nearest::hint(text, schema.choices.iter().map(String::as_str)));
        return None;
    }
    Some(param)
}

fn range(schema: &ParamInfo) -> Option<String> {
    match (schema.min, schema.max) {
        (Some(min), Some(max)) => Some(format!("it ranges from {min} to {max}")),
        (Some(min), None) => Some(format!("it is at least {min}")),
        (None, Some(max)) => Some(format!("it is at most {max}")),
        (None, None) => None,
    }
}
