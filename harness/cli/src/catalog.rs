//! The plugins and data sets of this machine that a spec may name.

use std::path::{Path, PathBuf};

use gpbench_data::{registry, synthetic};
use gpbench_record::{AbsentLibrary, LibraryInfo, Row};
use gpbench_spec::{Catalog, KnownDataset, NamedLibrary, UnusableLibrary};

use crate::exit::Failure;
use crate::worker::{Described, Worker};

/// The plugins that the worker finds by itself and those that a spec names.
pub(crate) struct Libraries {
    /// Usable plugins.
    pub(crate) usable: Vec<LibraryInfo>,
    /// A message for each file that the worker has found and that cannot be used.
    pub(crate) unusable: Vec<String>,
    /// Libraries that the spec names and that cannot be used.
    pub(crate) unusable_named: Vec<UnusableLibrary>,
}

/// Describes the plugins that the worker finds by itself, and the `named` ones.
pub(crate) fn libraries(worker: &Worker, named: &[NamedLibrary]) -> Result<Libraries, Failure> {
    let (mut usable, mut unusable, mut unusable_named) = (Vec::new(), Vec::new(), Vec::new());
    for described in worker.describe(&[])? {
        match described {
            Described::Library(library) => usable.push(library),
            Described::Absent(AbsentLibrary { file, absent: error, .. })
            | Described::Unusable { file, error } => unusable.push(format!("{}: {error}", file.display())),
        }
    }
    // Without files, the worker would describe all that it finds.
    let described = if named.is_empty() { Vec::new() } else { worker.describe_named(named)? };
    for (described, library) in described.into_iter().zip(named) {
        let (reason, is_absent) = match described {
            Described::Library(library) => {
                usable.push(library);
                continue;
            }
            Described::Absent(AbsentLibrary { absent, .. }) => (absent, true),
            Described::Unusable { error, .. } => (error, false),
        };
        unusable_named.push(UnusableLibrary { library: library.clone(), reason, is_absent });
    }
    Ok(Libraries { usable, unusable, unusable_named })
}

/// Describes the plugins that `--library` names, with absolute paths. Each must be usable.
pub(crate) fn named_libraries(worker: &Worker, files: &[PathBuf]) -> Result<Vec<LibraryInfo>, Failure> {
    let absolute = |file: &PathBuf| {
        file.canonicalize().map_err(|e| Failure::usage(format!("--library {}: {e}", file.display())))
    };
    let files = files.iter().map(absolute).collect::<Result<Vec<_>, _>>()?;
    // Without files, the worker would describe all that it finds.
    if files.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(file) = files.iter().find(|file| file.to_str().is_none()) {
        return Err(Failure::usage(format!(
            "--library {}: a spec cannot name this file, whose path is not UTF-8; move or copy it to another folder",
            file.display()
        )));
    }
    worker.describe(&files)?.into_iter().map(usable).collect()
}

/// Fails unless a library's file exists.
pub(crate) fn require_file(file: &Path) -> Result<(), Failure> {
    if file.is_file() { Ok(()) } else { Err(Failure::usage(format!("{}: no such file", file.display()))) }
}

/// The library, which must be usable.
pub(crate) fn usable(described: Described) -> Result<LibraryInfo, Failure> {
    match described {
        Described::Library(library) => Ok(library),
        Described::Absent(AbsentLibrary { file, absent, .. }) => {
            Err(Failure::usage(format!("{} cannot run here: {absent}", file.display())))
        }
        Described::Unusable { file, error } => {
            Err(Failure::usage(format!("{} is not a usable plugin: {error}", file.display())))
        }
    }
}

/// The catalogue that a spec is checked against. `replayed` holds the rows of the run that the spec replays.
pub(crate) fn catalog(
    libraries: Vec<LibraryInfo>,
    unusable: Vec<UnusableLibrary>,
    replayed: Option<Result<Vec<Row>, String>>,
) -> Catalog {
    let registered = registry::all().iter().map(|entry| KnownDataset {
        name: entry.name.clone(),
        aliases: entry.aliases.clone(),
        n: Some(entry.n),
        d: Some(entry.d),
        toy: false,
        splits: Some(10),
    });
    let toys = synthetic::TOYS.iter().map(|toy| KnownDataset {
        name: toy.name.to_owned(),
        n: Some(toy.n),
        d: Some(1),
        toy: true,
        ..KnownDataset::default()
    });
    let datasets = registered.chain(toys).collect();
    Catalog { libraries, unusable, datasets, replayed, ..Catalog::default() }
}
