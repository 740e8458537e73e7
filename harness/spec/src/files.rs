//! The data sets of a spec whose rows are in files. The caller reads the files, and adds their sizes to the catalogue.

use std::path::{Path, PathBuf};

use gpbench_record::Source;

use crate::catalog::Catalog;
use crate::own_files::OwnFiles;
use crate::tables::dataset::Dataset;
use crate::typed::Typed;

/// A data set on the spec's axis whose rows are in files.
#[derive(Debug, Clone, PartialEq)]
pub struct FileDataset {
    /// Its name on the axis.
    pub name: String,
    /// Its source: a registered set or the user's own file.
    pub source: Source,
    /// The user's own files.
    pub own: Option<OwnFiles>,
}

impl Typed {
    /// The data sets on the axis whose rows are in files. A file whose table has a key of a wrong type is left out, because it
    /// would be read otherwise than the user meant.
    pub fn files(&self, catalog: &Catalog) -> Vec<FileDataset> {
        let mut found: Vec<FileDataset> = Vec::new();
        for name in self.root.matrix.dataset.iter().flat_map(|axis| &axis.value) {
            let table = self.root.datasets.get(&name.value);
            let (source, own) = match &table.path {
                Some(_) if !is_read(table) => continue,
                Some(path) => {
                    let source = Source::File { path: path.value.clone(), options: table.read_options() };
                    (source, OwnFiles::of(table, &self.folder))
                }
                None => {
                    let from = table.from.as_ref().unwrap_or(name);
                    let known = catalog.dataset(&from.value).filter(|known| !known.toy);
                    let Some(known) = known else { continue };
                    (Source::Registry { name: known.name.clone() }, None)
                }
            };
            if found.iter().all(|other| other.name != name.value) {
                found.push(FileDataset { name: name.value.clone(), source, own });
            }
        }
        found
    }

    /// A file of a data set on the axis that lies outside the spec's folder: its path is absolute, or has `..`.
    pub fn file_outside(&self) -> Option<PathBuf> {
        let names = self.root.matrix.dataset.iter().flat_map(|axis| &axis.value);
        let own = |name: &str| OwnFiles::of(self.root.datasets.get(name), Path::new(""));
        names.filter_map(|name| own(&name.value)).find_map(|own| own.outside().map(Path::to_owned))
    }
}

/// Whether every key that says how a file is read has a value of its type.
fn is_read(table: &Dataset) -> bool {
    let is_read = |key: &str| match key {
        "test" => table.test.is_some(),
        "target" => table.target.is_some(),
        "id" => table.id.is_some(),
        "drop" => table.drop.is_some(),
        "categories" => table.categories.is_some(),
        "separator" => table.separator.is_some(),
        "header" => table.header.is_some(),
        "missing" => table.missing.at.is_some(),
        "decimal" => table.decimal.is_some(),
        "comment" => table.comment.is_some(),
        "time_unit" => table.time_unit.at.is_some(),
        "time_origin" => table.time_origin.is_some(),
        "group" => table.group.is_some(),
        "split" => table.split.as_ref().is_some_and(|split| split.value.is_some()),
        _ => true,
    };
    table.written.iter().all(|key| is_read(&key.value))
}
