//! The columns of a table: their names, and which of them is the target.

use std::collections::HashMap;
use std::path::Path;

use crate::error::{Fault, ImportError, Place};

/// How many columns there are, and what they are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) count: usize,
    /// Names, where the file has them.
    pub(crate) names: Option<Vec<String>>,
}

impl Columns {
    /// Columns with names, which must differ from each other. A name may be
    /// missing; `place` gives the place of the name with a 0-based index.
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

    /// A column in words: its number from 1, and its name.
    pub(crate) fn describe(&self, index: usize) -> String {
        match self.names.as_ref().map(|names| names[index].as_str()) {
            Some(name) if !name.is_empty() => format!("{} (`{name}`)", index + 1),
            _ => (index + 1).to_string(),
        }
    }

    /// Index of the target: a name comes before a number, and the last column is
    /// the target of those who ask for none.
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

fn nearest(target: &str, names: &[String]) -> Option<String> {
    let similarity = |name: &str| strsim::jaro_winkler(&target.to_lowercase(), &name.to_lowercase());
    let best = names.iter().map(|name| (similarity(name), name)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(similarity, _)| *similarity > 0.75).map(|(_, name)| name.clone())
}
