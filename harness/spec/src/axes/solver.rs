//! Solvers and learners: the plugin that offers each, its parameters, its bounds.

use std::collections::BTreeMap;

use gpbench_record::{
    Budget, Capability, GridPoint, Inducing, LibraryInfo, ParamValue, Quadrature, Solver, SolverInfo,
    SolverKind,
};

use super::param::{self, Known, ParamChoice};
use super::{grid, inducing};
use crate::catalog::Catalog;
use crate::error::Mistakes;
use crate::named_library::NamedLibrary;
use crate::nearest;
use crate::source::{At, Location};
use crate::tables::solver as table;
use crate::task_keys::{TaskKey, TaskKeys};
use crate::typed::Typed;

/// An entry of the solver axis, or one point of its grid.
#[derive(Clone)]
pub(crate) struct SolverEntry<'a> {
    pub(crate) name: String,
    /// Where the axis names the entry.
    pub(crate) at: Location,
    pub(crate) grid: Option<GridPoint>,
    pub(crate) library: &'a LibraryInfo,
    pub(crate) info: &'a SolverInfo,
    params: Vec<ParamChoice>,
    pub(crate) inducing: Option<Inducing>,
    /// Where the number of inducing points is given.
    pub(crate) points: Option<Location>,
    pub(crate) quadrature: Option<Quadrature>,
    /// Parameters that the prediction after training changes.
    pub(crate) prediction: BTreeMap<String, ParamValue>,
    pub(crate) budget: Budget,
}

impl SolverEntry<'_> {
    /// Its name in the spec, which is also that of the other points of its grid.
    pub(crate) fn entry(&self) -> &str {
        self.grid.as_ref().map_or(&self.name, |point| &point.entry)
    }

    /// The solver's id, and the paper or book that its plugin names.
    pub(crate) fn source(&self) -> Option<(String, String)> {
        Some((self.info.id.clone(), self.info.source.clone()?))
    }

    /// The solver as it runs on `dataset`; `None` if a parameter has no value there, which has been reported.
    pub(crate) fn on(&self, dataset: &str) -> Option<Solver> {
        let params = self.params.iter().map(|choice| choice.on(dataset)).collect::<Option<_>>()?;
        Some(Solver {
            name: self.name.clone(),
            plugin: self.info.id.clone(),
            params,
            grid: self.grid.clone(),
        })
    }
}

/// Resolves a name on the axis: to several entries where a parameter has a grid.
pub(crate) fn resolve<'a>(
    name: &At<String>,
    typed: &Typed,
    catalog: &'a Catalog,
    task: TaskKeys,
    datasets: &[String],
    mistakes: &mut Mistakes,
) -> Vec<SolverEntry<'a>> {
    let table = typed.root.solvers.get(&name.value);
    let kind = if task.has(TaskKey::Learn) { SolverKind::Learner } else { SolverKind::Solver };
    let Some((library, info)) = find(name, table, typed, catalog, kind, mistakes) else { return Vec::new() };
    if !check_kind(name, info, kind, task, catalog, mistakes) || !check_runs(name, library, info, mistakes) {
        return Vec::new();
    }
    let common = &typed.root.budget;
    let budget = table.budget.as_ref().map_or_else(|| common.over(common), |own| own.value.over(common));
    let bounded = budget.tolerance.is_some() || budget.max_epochs.is_some() || budget.seconds.is_some();
    let own = table.budget.as_ref().map(|own| &own.value);
    let is_unread = own.into_iter().chain([common]).any(|bounds| bounds.is_unread);
    let ends = info.can(Capability::Exact) || info.kind == SolverKind::Learner;
    if !ends && !bounded && !is_unread {
        let hint = "give `tolerance`, `max_epochs` or `time` in [budget]".to_owned();
        mistakes.add(&name.at, format!("nothing bounds the iterative solver `{}`", name.value), hint);
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
    let common = typed.root.learn.value.params.as_ref().map_or(&[][..], |given| &given.value.0);
    let params = info.params.iter().filter_map(|schema| {
        let given = params.iter().chain(common).find(|(key, _)| key.value == schema.name);
        param::choice(schema, given.map(|(_, node)| node), &known, mistakes)
    });
    let params: Vec<ParamChoice> = params.collect();
    let prediction = prediction.iter().filter_map(|(key, node)| {
        let schema = info.params.iter().find(|schema| schema.name == key.value)?;
        Some((key.value.clone(), param::value(schema, node, mistakes)?))
    });
    let prediction: BTreeMap<_, _> = prediction.collect();
    let inducing =
        table.inducing.as_ref().and_then(|given| inducing::resolve(given, info, catalog, mistakes));
    let points = table.inducing.as_ref().and_then(|given| given.value.points.as_ref());
    let points = points.map(|given| given.at.clone());
    let quadrature = table.quadrature.as_ref().and_then(|given| given.value);
    let entry = |(own, grid, params)| SolverEntry {
        name: own,
        at: name.at.clone(),
        grid,
        library,
        info,
        params,
        inducing,
        points: points.clone(),
        quadrature,
        prediction: prediction.clone(),
        budget,
    };
    grid::points(name, params, mistakes).into_iter().map(entry).collect()
}

/// Reports a learner where the task takes solvers, and a solver where it takes learners; whether the kind is right.
fn check_kind(
    name: &At<String>,
    info: &SolverInfo,
    wanted: SolverKind,
    task: TaskKeys,
    catalog: &Catalog,
    mistakes: &mut Mistakes,
) -> bool {
    if info.kind == wanted {
        return true;
    }
    let (what, hint) = match info.kind {
        SolverKind::Learner => (
            format!("`{}` is a learner, which task \"{}\" does not take", info.id, task.task),
            match task.has(TaskKey::Thompson) {
                true => {
                    "posterior samples are made of weights of the rows, which learners do not give".to_owned()
                }
                false => "write task = \"learn\"".to_owned(),
            },
        ),
        SolverKind::Solver => {
            let learners = catalog.solvers().map(|(_, found)| found);
            let learners = learners.filter(|found| found.kind == SolverKind::Learner && !found.listed_only);
            let learners: Vec<&str> = learners.map(|found| found.id.as_str()).collect();
            let hint = match learners.is_empty() {
                true => "no installed plugin offers a learner".to_owned(),
                false => format!("learners are {}", learners.join(", ")),
            };
            (format!("`{}` is a solver, and task \"learn\" takes learners", info.id), hint)
        }
    };
    mistakes.add(&name.at, what, hint);
    false
}

/// Reports a learner whose library was built for an interface without the functions of learners; whether it has them.
fn check_runs(name: &At<String>, library: &LibraryInfo, info: &SolverInfo, mistakes: &mut Mistakes) -> bool {
    if info.listed_only {
        let LibraryInfo { file, abi, .. } = library;
        let what = format!(
            "{} cannot run: {} was built for interface {abi}, which has no functions of learners",
            info.called(),
            file.display()
        );
        mistakes.add(&name.at, what, "build the library again".to_owned());
    }
    !info.listed_only
}

/// Reports a name that neither a solver nor a learner has.
pub(crate) fn check_name(name: &At<String>, typed: &Typed, catalog: &Catalog, mistakes: &mut Mistakes) {
    let table = typed.root.solvers.get(&name.value);
    find(name, table, typed, catalog, SolverKind::Solver, mistakes);
}

/// The library and the solver that a name on the axis refers to.
fn find<'a>(
    name: &At<String>,
    table: &table::Solver,
    typed: &Typed,
    catalog: &'a Catalog,
    kind: SolverKind,
    mistakes: &mut Mistakes,
) -> Option<(&'a LibraryInfo, &'a SolverInfo)> {
    let own = typed.root.solvers.names().find(|entry| entry.value == name.value);
    let id = table.plugin.as_ref().or(own).unwrap_or(name);
    if let (Some(path), Some(named)) = (&table.library, NamedLibrary::of(table, &typed.folder)) {
        let Some(library) = catalog.libraries.iter().find(|library| named.is(library)) else {
            if let Some(unusable) = catalog.unusable.iter().find(|unusable| named.is_of(unusable)) {
                let what = format!("library `{}` cannot be used: {}", path.value, unusable.reason);
                let hint =
                    "install what it needs, or write optional = true to leave the solver out without it";
                mistakes.add(&path.at, what, unusable.is_absent.then(|| hint.to_owned()));
                return None;
            }
            let hint = "the path is relative to the spec's folder".to_owned();
            mistakes.add(&path.at, format!("no plugin library at `{}`", path.value), hint);
            return None;
        };
        let found = library.solvers.iter().find(|solver| solver.id == id.value);
        if found.is_none() {
            let what = format!("library `{}` offers no {} `{}`", path.value, kind.as_str(), id.value);
            let ids = library.solvers.iter().map(|solver| solver.id.as_str());
            mistakes.add(&id.at, what, nearest::hint(&id.value, ids));
        }
        return found.map(|info| (library, info));
    }
    let mut offers = catalog.solvers().filter(|(_, solver)| solver.id == id.value);
    let Some(first) = offers.next() else {
        let tables =
            typed.root.solvers.names().map(|entry| entry.value.as_str()).filter(|entry| *entry != id.value);
        let of_kind = catalog.solvers().map(|(_, solver)| solver).filter(|solver| solver.kind == kind);
        let known = of_kind.map(|solver| solver.id.as_str()).chain(tables);
        let what = format!("unknown {} `{}`", kind.as_str(), id.value);
        mistakes.add(&id.at, what, nearest::hint(&id.value, known));
        return None;
    };
    if let Some(second) = offers.next() {
        let what = format!(
            "two libraries offer {}: {} and {}",
            first.1.called(),
            first.0.file.display(),
            second.0.file.display()
        );
        mistakes.add(&id.at, what, format!("choose with `library` in [solver.{}]", name.value));
        return None;
    }
    Some(first)
}
