//! Solvers: the plugin that offers each, its parameters, its bounds.

use std::collections::BTreeMap;

use gpbench_record::{
    Budget, Capability, Inducing, LibraryInfo, Param, Quadrature, Solver, SolverInfo, SolverKind,
};

use super::inducing;
use super::param::{self, Known, ParamChoice};
use crate::catalog::Catalog;
use crate::error::Mistakes;
use crate::nearest;
use crate::source::At;
use crate::tables::solver as table;
use crate::task_keys::{TaskKey, TaskKeys};
use crate::typed::Typed;

/// An entry of the solver axis.
pub(crate) struct SolverEntry<'a> {
    pub(crate) name: String,
    pub(crate) library: &'a LibraryInfo,
    info: &'a SolverInfo,
    params: Vec<ParamChoice>,
    pub(crate) inducing: Option<Inducing>,
    pub(crate) quadrature: Option<Quadrature>,
    /// Parameters that the prediction after training changes.
    pub(crate) prediction: BTreeMap<String, Param>,
    pub(crate) budget: Budget,
}

impl SolverEntry<'_> {
    pub(crate) fn is_exact(&self) -> bool {
        self.info.can(Capability::Exact)
    }

    /// The solver's id, and the paper or book that its plugin names.
    pub(crate) fn source(&self) -> Option<(String, String)> {
        Some((self.info.id.clone(), self.info.source.clone()?))
    }

    /// The solver as it runs on `dataset`; `None` if a parameter has no value there, which has been reported.
    pub(crate) fn on(&self, dataset: &str) -> Option<Solver> {
        let params = self.params.iter().map(|choice| choice.on(dataset)).collect::<Option<_>>()?;
        Some(Solver { name: self.name.clone(), plugin: self.info.id.clone(), params })
    }
}

/// What a name on the axis stands for.
pub(crate) fn resolve<'a>(
    name: &At<String>,
    typed: &Typed,
    catalog: &'a Catalog,
    task: TaskKeys,
    datasets: &[String],
    mistakes: &mut Mistakes,
) -> Option<SolverEntry<'a>> {
    let table = typed.root.solvers.get(&name.value);
    let (library, info) = find(name, table, typed, catalog, mistakes)?;
    let budget = over(typed.root.budget, table.budget.as_ref().map(|own| own.value).unwrap_or_default());
    let bounded = budget.tolerance.is_some() || budget.max_epochs.is_some() || budget.seconds.is_some();
    // A bound that cannot be read has been reported already.
    if !info.can(Capability::Exact) && !bounded && typed.mistakes.is_empty() {
        let hint = "give `tolerance`, `max_epochs` or `time` in [budget]".to_owned();
        mistakes.add(&name.at, format!("nothing bounds the iterative solver `{}`", name.value), hint);
    }
    if info.kind == SolverKind::Learner {
        mistakes.add(&name.at, format!("`{}` is a learner, which this version cannot run", info.id), None);
        return None;
    }
    task.check(TaskKey::Inducing, table.inducing.as_ref().map(|given| &given.at), mistakes);
    task.check(TaskKey::Quadrature, table.quadrature.as_ref().map(|given| &given.at), mistakes);
    let params = table.params.as_ref().map_or(&[][..], |given| &given.value.0);
    let prediction = table.prediction.as_ref().map_or(&[][..], |given| &given.value.0);
    task.check(TaskKey::Prediction, prediction.first().map(|(key, _)| &key.at), mistakes);
    for (key, _) in params.iter().chain(prediction) {
        param::check_name(key, info, mistakes);
    }
    let known = Known { typed, catalog, datasets };
    let params = info.params.iter().filter_map(|schema| {
        let given = params.iter().find(|(key, _)| key.value == schema.name);
        param::choice(schema, given.map(|(_, node)| node), &known, mistakes)
    });
    let params = params.collect();
    let prediction = prediction.iter().filter_map(|(key, node)| {
        let schema = info.params.iter().find(|schema| schema.name == key.value)?;
        Some((key.value.clone(), param::value(schema, node, mistakes)?))
    });
    let prediction = prediction.collect();
    let inducing =
        table.inducing.as_ref().and_then(|given| inducing::resolve(given, info, catalog, mistakes));
    let quadrature = table.quadrature.as_ref().and_then(|given| given.value);
    let name = name.value.clone();
    Some(SolverEntry { name, library, info, params, inducing, quadrature, prediction, budget })
}

/// The spec's budget with a solver's own bounds in place of its own, key by key.
fn over(common: Budget, own: Budget) -> Budget {
    Budget {
        tolerance: own.tolerance.or(common.tolerance),
        max_epochs: own.max_epochs.or(common.max_epochs),
        seconds: own.seconds.or(common.seconds),
        memory_bytes: own.memory_bytes.or(common.memory_bytes),
    }
}

/// The library and solver that a name on the axis stands for.
fn find<'a>(
    name: &At<String>,
    table: &table::Solver,
    typed: &Typed,
    catalog: &'a Catalog,
    mistakes: &mut Mistakes,
) -> Option<(&'a LibraryInfo, &'a SolverInfo)> {
    let own = typed.root.solvers.names().find(|entry| entry.value == name.value);
    let id = table.plugin.as_ref().or(own).unwrap_or(name);
    if let Some(path) = &table.library {
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
        let found = library.solvers.iter().find(|solver| solver.id == id.value);
        if found.is_none() {
            let what = format!("library `{}` offers no solver `{}`", path.value, id.value);
            let ids = library.solvers.iter().map(|solver| solver.id.as_str());
            mistakes.add(&id.at, what, nearest::hint(&id.value, ids));
        }
        return found.map(|info| (library, info));
    }
    let mut offers = catalog.solvers().filter(|(_, solver)| solver.id == id.value);
    let Some(first) = offers.next() else {
        let tables =
            typed.root.solvers.names().map(|entry| entry.value.as_str()).filter(|entry| *entry != id.value);
        let known = catalog.solvers().map(|(_, solver)| solver.id.as_str()).chain(tables);
        let what = format!("unknown solver `{}`", id.value);
        mistakes.add(&id.at, what, nearest::hint(&id.value, known));
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
