//! The columns of a table: their number, their names, and the choice of the target.

use std::collections::HashMap;
use std::path::Path;

use crate::error::{Fault, ImportError, Place};

/// Number and names of the columns of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) count: usize,
    /// Names, where the file has them.
    pub(crate) names: Option<Vec<String>>,
}

impl Columns {
    /// Columns with names. Two equal names are an error; a name may be empty. `place` gives the place of the name
    /// with a 0-based index.
    pub(crate) fn named(names: Vec<String>, place: impl Fn(usize) -> Place) -> Result<Self, ImportError> {
        let mut seen = HashMap::new();
        for (index, name) in names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            if let Some(first) = seen.insert(name, index) {
                return Err(place(index).fault(Fault::DuplicateName { name: name.clone(), first: first + 1 }));
            }
        }
        Ok(Self { count: names.len(), names: Some(names) })
    }

    pub(crate) fn unnamed(count: usize) -> Self {
        Self { count, names: None }
    }

    /// A column for an error message: its number from 1, and its name.
    pub(crate) fn describe(&self, index: usize) -> String {
        match self.names.as_ref().map(|names| names[index].as_str()) {
            Some(name) if !name.is_empty() => format!("{} (`{name}`)", index + 1),
            _ => (index + 1).to_string(),
        }
    }

    /// The 0-based index of the target, given as a name or as a number; the last column by default. A column whose
    /// name is a number is found by its name first.
    pub(crate) fn target(&self, file: &Path, target: Option<&str>) -> Result<usize, ImportError> {
        let Some(target) = target else { return Ok(self.count - 1) };
        let names = self.names.as_deref().unwrap_or_default();
        if let Some(index) = names.iter().position(|name| name == target) {
            return Ok(index);
        }
        let fault = match target.parse::<usize>() {
            Ok(index) if index < self.count => return Ok(index),
            Ok(index) => Fault::TargetIndex { index, columns: self.count },
            Err(_) => Fault::UnknownTarget {
                target: target.to_owned(),
                nearest: nearest(target, names),
                columns: names.to_vec(),
            },
        };
        Err(Place::file(file).fault(fault))
    }
}

/// The name most similar to `target`, if any is similar.
fn nearest(target: &str, names: &[String]) -> Option<String> {
    let similarity = |name: &str| strsim::jaro_winkler(&target.to_lowercase(), &name.to_lowercase());
    let best = names.iter().map(|name| (similarity(name), name)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(similarity, _)| *similarity > 0.75).map(|(_, name)| name.clone())
}
