//! The columns of a file: their number, their names, and how a user names one.

use std::collections::{BTreeSet, HashMap};

use crate::error::{ImportError, InputPosition, Role};
use crate::fault::FileFault;

/// Number and names of the columns of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) count: usize,
    /// Names, where the file has them.
    names: Option<Vec<String>>,
    /// Columns that hold the index of a pandas frame.
    indices: BTreeSet<usize>,
}

impl Columns {
    /// Columns with names. Two equal names are an error; a name may be empty. `place` gives the place of the name
    /// with a 0-based index.
    pub(crate) fn named(
        names: Vec<String>,
        place: impl Fn(usize) -> InputPosition,
    ) -> Result<Self, ImportError> {
        let mut seen = HashMap::new();
        for (index, name) in names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            if let Some(first) = seen.insert(name, index) {
                return Err(
                    place(index).fault(FileFault::DuplicateName { name: name.clone(), first: first + 1 })
                );
            }
        }
        let is_index = |index: &usize| is_name_of_index(&names[*index]);
        let indices = (0..names.len()).filter(is_index).collect();
        Ok(Self { count: names.len(), names: Some(names), indices })
    }

    pub(crate) fn unnamed(count: usize) -> Self {
        Self { count, names: None, indices: BTreeSet::new() }
    }

    /// These columns, of which those with the `named` names hold the index of a pandas frame.
    pub(crate) fn with_indices(mut self, named: &[String]) -> Self {
        let places = (0..self.count)
            .filter(|index| self.name(*index).is_some_and(|name| named.iter().any(|n| n == name)));
        let places: Vec<usize> = places.collect();
        self.indices.extend(places);
        self
    }

    /// Indices of the columns that hold the index of a pandas frame.
    pub(crate) fn indices(&self) -> impl Iterator<Item = usize> {
        self.indices.iter().copied()
    }

    /// Whether a column holds the index of a pandas frame.
    pub(crate) fn is_index(&self, index: usize) -> bool {
        self.indices.contains(&index)
    }

    /// Whether the file names its columns.
    pub(crate) fn have_names(&self) -> bool {
        self.names.is_some()
    }

    /// Whether the file names its columns, but gives this one no name, or the one that pandas gives such a column.
    pub(crate) fn lacks_name(&self, index: usize) -> bool {
        let unnamed = |names: &Vec<String>| names[index].is_empty() || names[index].starts_with("Unnamed: ");
        self.names.as_ref().is_some_and(unnamed)
    }

    /// The name of a column, where it has one.
    fn name(&self, index: usize) -> Option<&str> {
        self.names.as_ref().map(|names| names[index].as_str()).filter(|name| !name.is_empty())
    }

    /// A column for an error message: its number from 1, and its name.
    pub(crate) fn describe(&self, index: usize) -> String {
        match self.name(index) {
            Some(name) => format!("{} (`{name}`)", index + 1),
            None => (index + 1).to_string(),
        }
    }

    /// What a user calls a column: its name, or its number counted from 0.
    pub(crate) fn label(&self, index: usize) -> String {
        self.name(index).map_or_else(|| index.to_string(), str::to_owned)
    }

    /// The 0-based index of a column that is given as a name or as a number. A column whose name is a number is
    /// found by its name first.
    pub(crate) fn find(&self, role: Role, typed: &str) -> Result<usize, FileFault> {
        let names = self.names.as_deref().unwrap_or_default();
        if let Some(index) = names.iter().position(|name| name == typed) {
            return Ok(index);
        }
        match typed.parse::<usize>() {
            Ok(index) if index < self.count => Ok(index),
            Ok(index) => Err(FileFault::ColumnIndex { role, index, columns: self.count }),
            Err(_) => Err(FileFault::UnknownColumn {
                role,
                name: typed.to_owned(),
                nearest: nearest(typed, names),
                columns: names.to_vec(),
            }),
        }
    }
}

/// Whether a name is one that pyarrow gives the index of a frame, which has no name: `__index_level_0__`.
fn is_name_of_index(name: &str) -> bool {
    let number = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The name most similar to `typed`, if any is similar.
fn nearest(typed: &str, names: &[String]) -> Option<String> {
    let similarity = |name: &str| strsim::jaro_winkler(&typed.to_lowercase(), &name.to_lowercase());
    let best = names.iter().map(|name| (similarity(name), name)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(similarity, _)| *similarity > 0.75).map(|(_, name)| name.clone())
}
