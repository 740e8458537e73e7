//! The plugins and data sets of this machine that a spec may name.

use std::path::{Path, PathBuf};

use gpbench_data::{registry, synthetic};
use gpbench_record::{LibraryInfo, Row};
use gpbench_spec::{Catalog, KnownDataset};

use crate::exit::Failure;
use crate::worker::{Described, Worker};

/// The usable plugins, and a message for each file that is not one.
pub(crate) struct Libraries {
    /// Usable plugins.
    pub(crate) usable: Vec<LibraryInfo>,
    /// A message for each file that cannot be used.
    pub(crate) unusable: Vec<String>,
}

/// Describes the plugins that the worker finds by itself, and the `extra` ones.
pub(crate) fn libraries(worker: &Worker, extra: &[PathBuf]) -> Result<Libraries, Failure> {
    let mut described = worker.describe(&[])?;
    if !extra.is_empty() {
        described.extend(worker.describe(extra)?);
    }
    let mut libraries = Libraries { usable: Vec::new(), unusable: Vec::new() };
    for answer in described {
        match answer {
            Described::Library(library) => libraries.usable.push(library),
            Described::Unusable { file, error } => {
                libraries.unusable.push(format!("{}: {error}", file.display()));
            }
        }
    }
    Ok(libraries)
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
        Described::Unusable { file, error } => {
            Err(Failure::usage(format!("{} is not a usable plugin: {error}", file.display())))
        }
    }
}

/// The catalogue that a spec is checked against. `replayed` holds the rows of the run that the spec replays.
pub(crate) fn catalog(libraries: Vec<LibraryInfo>, replayed: Option<Result<Vec<Row>, String>>) -> Catalog {
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
    Catalog { libraries, datasets: registered.chain(toys).collect(), replayed, ..Catalog::default() }
}
