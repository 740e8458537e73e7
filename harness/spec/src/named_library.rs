//! Libraries that a spec names by path, and the program that runs each.

use std::path::{Path, PathBuf};

use gpbench_record::LibraryInfo;

use crate::tables::solver as table;
use crate::tree::{Table, Value};
use crate::typed::Typed;

/// A library that is named by its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedLibrary {
    /// The file.
    pub file: PathBuf,
    /// The program that runs it, if it is a script and the spec names one.
    pub runtime: Option<String>,
}

/// A library that cannot be used on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusableLibrary {
    /// The file, and the program that was to run it.
    pub library: NamedLibrary,
    /// Why.
    pub reason: String,
    /// Whether that is because something that it needs is not installed.
    pub is_absent: bool,
}

impl NamedLibrary {
    /// The library of an entry of the solver axis, if its table names one.
    pub(crate) fn of(entry: &table::Solver, folder: &Path) -> Option<NamedLibrary> {
        let file = folder.join(&entry.library.as_ref()?.value);
        let runtime = entry.python.as_ref().map(|python| match python.value.contains('/') {
            true => std::path::absolute(folder.join(&python.value))
                .map_or_else(|_| python.value.clone(), |path| path.to_string_lossy().into_owned()),
            // The name of a command.
            false => python.value.clone(),
        });
        Some(NamedLibrary { file, runtime })
    }

    /// Whether this is the library of a description.
    pub(crate) fn is(&self, library: &LibraryInfo) -> bool {
        self.runtime == library.composition.runtime && is_file(&self.file, &library.file)
    }

    /// Whether this is a library that cannot be used.
    pub(crate) fn is_of(&self, unusable: &UnusableLibrary) -> bool {
        self.runtime == unusable.library.runtime && is_file(&self.file, &unusable.library.file)
    }
}

fn is_file(one: &Path, other: &Path) -> bool {
    let canonical = one.canonicalize().ok();
    one == other || canonical.is_some_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

impl Typed {
    /// Libraries that the spec names by path. The caller describes them and adds them to the
    /// [`Catalog`](crate::Catalog) beside those found in the usual places.
    pub fn libraries(&self) -> Vec<NamedLibrary> {
        let mut named = Vec::new();
        for library in self.root.solvers.iter().filter_map(|entry| NamedLibrary::of(entry, &self.folder)) {
            if !named.contains(&library) {
                named.push(library);
            }
        }
        named
    }

    /// Leaves out the solvers that are optional and whose library needs something that is not installed. Also returns a
    /// sentence for each of them. If nothing would be left of the axis, all stay, and checking reports what is
    /// missing.
    #[must_use]
    pub fn without_absent(mut self, unusable: &[UnusableLibrary]) -> (Typed, Vec<String>) {
        let mut left_out = Vec::new();
        for name in self.root.solvers.names() {
            let entry = self.root.solvers.get(&name.value);
            let library = NamedLibrary::of(entry, &self.folder).filter(|_| entry.optional.value);
            let absent = |library: NamedLibrary| {
                unusable.iter().find(|unusable| unusable.is_absent && library.is_of(unusable))
            };
            if let Some(UnusableLibrary { reason, .. }) = library.and_then(absent) {
                let sentence = format!("solver `{}` is left out: {reason}", name.value);
                left_out.push((name.value.clone(), sentence));
            }
        }
        let is_left_out = |name: &str| left_out.iter().any(|(other, _)| other == name);
        if left_out.is_empty() || !remove(&mut self.table, is_left_out) {
            return (self, Vec::new());
        }
        // Excludes may name a solver that is left out.
        self.axes_overridden = true;
        let typed = self.read_again();
        (typed, left_out.into_iter().map(|(_, sentence)| sentence).collect())
    }
}

/// Removes solvers from the axis, and their tables; whether any solver is left on the axis.
fn remove(root: &mut Table, is_left_out: impl Fn(&str) -> bool) -> bool {
    let stays = |value: &Value| !matches!(value, Value::Text(name) if is_left_out(name));
    let Some(Value::Table(matrix)) = value_of(root, "matrix") else { return false };
    let Some(Value::Array(axis)) = value_of(matrix, "solver") else { return false };
    if !axis.iter().any(|name| stays(&name.value)) {
        return false;
    }
    axis.retain(|name| stays(&name.value));
    if let Some(Value::Table(tables)) = value_of(root, "solver") {
        tables.0.retain(|(name, _)| !is_left_out(&name.value));
    }
    true
}

fn value_of<'t>(table: &'t mut Table, key: &str) -> Option<&'t mut Value> {
    table.0.iter_mut().find(|(name, _)| name.value == key).map(|(_, node)| &mut node.value)
}
