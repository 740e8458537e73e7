//! The columns of a file: their number, their names, and how a user names one.

use std::collections::HashMap;
use std::path::Path;

use crate::error::{FileFault, ImportError, InputPosition, Role};

/// Number and names of the columns of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) count: usize,
    /// Names, where the file has them.
    names: Option<Vec<String>>,
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
        Ok(Self { count: names.len(), names: Some(names) })
    }

    pub(crate) fn unnamed(count: usize) -> Self {
        Self { count, names: None }
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
    pub(crate) fn find(&self, file: &Path, role: Role, typed: &str) -> Result<usize, ImportError> {
        let names = self.names.as_deref().unwrap_or_default();
        if let Some(index) = names.iter().position(|name| name == typed) {
            return Ok(index);
        }
        let fault = match typed.parse::<usize>() {
            Ok(index) if index < self.count => return Ok(index),
            Ok(index) => FileFault::ColumnIndex { role, index, columns: self.count },
            Err(_) => FileFault::UnknownColumn {
                role,
                name: typed.to_owned(),
                nearest: nearest(typed, names),
                columns: names.to_vec(),
            },
        };
        Err(InputPosition::file(file).fault(fault))
    }
}

/// The name most similar to `typed`, if any is similar.
fn nearest(typed: &str, names: &[String]) -> Option<String> {
    let similarity = |name: &str| strsim::jaro_winkler(&typed.to_lowercase(), &name.to_lowercase());
    let best = names.iter().map(|name| (similarity(name), name)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(similarity, _)| *similarity > 0.75).map(|(_, name)| name.clone())
}
