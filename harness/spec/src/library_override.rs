//! `--library FILE`: the solvers of a library take part although the spec does not name the library.
//!
//! An entry of the solver axis that names a solver of the library takes it from there, also where its table names
//! another library; two such options with one solver are a mistake. A solver that no entry names becomes an entry under its id,
//! with default parameters, unless the library offers both solvers and learners and the task takes the other kind.

use gpbench_record::{LibraryInfo, SolverKind, TaskKind};

use crate::error::Mistakes;
use crate::source::{At, Location, Sources};
use crate::tree::{Node, Table, Value};

/// The option.
const OPTION: &str = "--library";

/// Adds the solvers of `library` to the spec.
pub(crate) fn apply(root: &mut Table, library: &LibraryInfo, sources: &mut Sources, mistakes: &mut Mistakes) {
    let file = library.file.to_string_lossy();
    let at = Location { source: sources.push(OPTION, &file), span: 0..file.len() };
    let text = |value: &str| At { value: Value::Text(value.to_owned()), at: at.clone() };
    let wanted = kind(root);
    let offers_wanted = library.solvers.iter().any(|solver| solver.kind == wanted);
    for solver in &library.solvers {
        let named = axis(root);
        let users: Vec<&String> = named.iter().filter(|name| plugin(root, name) == solver.id).collect();
        if users.is_empty() && offers_wanted && solver.kind != wanted {
            continue;
        }
        if users.is_empty() && named.contains(&solver.id) {
            let what = format!(
                "this library offers {}, a name that the spec gives to {} `{}`",
                solver.called(),
                wanted.as_str(),
                plugin(root, &solver.id)
            );
            mistakes.add(&at, what, "rename the entry of the spec".to_owned());
            continue;
        }
        let (own, is_new) = (solver.id.clone(), users.is_empty());
        let names = if is_new { vec![&own] } else { users };
        for name in names {
            let Some(entry) = table(root, &["solver", name], &at) else { continue };
            let key = At { value: "library".to_owned(), at: at.clone() };
            match entry.0.iter_mut().find(|(key, _)| key.value == "library") {
                Some((_, Node { value: Value::Text(other), at: typed }))
                    if sources.is_option(typed, OPTION) && *other != file =>
                {
                    let what = format!("two libraries offer {}: {other} and {file}", solver.called());
                    mistakes.add(&at, what, format!("name one of them with {OPTION}"));
                }
                Some(of_spec) => *of_spec = (key, text(&file)),
                None => entry.0.push((key, text(&file))),
            }
        }
        if is_new
            && let Some(matrix) = table(root, &["matrix"], &at)
            && let Some((_, names)) = matrix.0.iter_mut().find(|(key, _)| key.value == "solver")
        {
            match &mut names.value {
                Value::Array(names) => names.push(text(&own)),
                // A single name stands for a list of one.
                one => *one = Value::Array(vec![At { value: one.clone(), at: names.at.clone() }, text(&own)]),
            }
        }
    }
}

/// The kind that the spec's task takes.
fn kind(root: &Table) -> SolverKind {
    match root.get("task").map(|node| &node.value) {
        Some(Value::Text(task)) if task == TaskKind::Learn.as_str() => SolverKind::Learner,
        _ => SolverKind::Solver,
    }
}

/// Names on the solver axis.
fn axis(root: &Table) -> Vec<String> {
    let Some(Value::Table(matrix)) = root.get("matrix").map(|node| &node.value) else { return Vec::new() };
    let names: &[Node] = match matrix.get("solver") {
        Some(Node { value: Value::Array(names), .. }) => names,
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let text = |node: &Node| if let Value::Text(name) = &node.value { Some(name.clone()) } else { None };
    names.iter().filter_map(text).collect()
}

/// The solver id of an entry: its own name, unless its table gives another.
fn plugin(root: &Table, entry: &str) -> String {
    let inner = |table: &Table, key: &str| match table.get(key).map(|node| &node.value) {
        Some(Value::Table(inner)) => Some(inner.clone()),
        _ => None,
    };
    let own = inner(root, "solver").and_then(|solvers| inner(&solvers, entry));
    match own.as_ref().and_then(|own| own.get("plugin")).map(|node| &node.value) {
        Some(Value::Text(id)) => id.clone(),
        _ => entry.to_owned(),
    }
}

/// The table at a path of keys, created if it is missing; `None` if another value is there, which is reported when
/// the spec is read.
fn table<'a>(root: &'a mut Table, path: &[&str], at: &Location) -> Option<&'a mut Table> {
    let mut table = root;
    for key in path {
        if table.get(key).is_none() {
            let created = At { value: Value::Table(Table::default()), at: at.clone() };
            table.0.push((At { value: (*key).to_owned(), at: at.clone() }, created));
        }
        let (_, node) = table.0.iter_mut().find(|(name, _)| name.value == *key)?;
        let Value::Table(inner) = &mut node.value else { return None };
        table = inner;
    }
    Some(table)
}
