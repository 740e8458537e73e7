//! What becomes of each column of a file.

use std::path::Path;

use gpbench_record::ReadOptions;

use crate::columns::Columns;
use crate::error::{FileFault, ImportError, InputPosition, Role};

/// What a column becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// An input.
    Input,
    /// An input for each of its values.
    Categories,
    /// The target.
    Target,
    /// Nothing: it is not read.
    Dropped,
}

/// The parts of all columns of a file.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    parts: Vec<Part>,
    pub(crate) target: usize,
}

impl Parts {
    /// The parts that the user has chosen. There is at least one input.
    pub(crate) fn choose(
        columns: &Columns,
        options: &ReadOptions,
        file: &Path,
    ) -> Result<Parts, ImportError> {
        let fault = |fault| InputPosition::file(file).fault(fault);
        let mut parts = vec![Part::Input; columns.count];
        for name in &options.drop {
            parts[columns.find(file, Role::Dropped, name)?] = Part::Dropped;
        }
        for name in &options.categories {
            let index = columns.find(file, Role::Categories, name)?;
            if parts[index] == Part::Dropped {
                return Err(fault(FileFault::TwoRoles { column: columns.describe(index) }));
            }
            parts[index] = Part::Categories;
        }
        let target = match &options.target {
            Some(name) => columns.find(file, Role::Target, name)?,
            None => parts
                .iter()
                .rposition(|part| *part != Part::Dropped)
                .ok_or_else(|| fault(FileFault::NoInputs))?,
        };
        if parts[target] != Part::Input {
            return Err(fault(FileFault::TwoRoles { column: columns.describe(target) }));
        }
        parts[target] = Part::Target;
        let parts = Parts { parts, target };
        if parts.inputs().next().is_none() {
            return Err(fault(FileFault::NoInputs));
        }
        Ok(parts)
    }

    /// Inputs, and the target in the last column.
    pub(crate) fn last_is_target(count: usize) -> Parts {
        let mut parts = vec![Part::Input; count];
        parts[count - 1] = Part::Target;
        Parts { parts, target: count - 1 }
    }

    pub(crate) fn of(&self, index: usize) -> Part {
        self.parts[index]
    }

    /// Indices of the columns that become inputs.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = usize> {
        self.used().filter(|index| *index != self.target)
    }

    /// Indices of the columns that are read.
    pub(crate) fn used(&self) -> impl Iterator<Item = usize> {
        (0..self.parts.len()).filter(|index| self.parts[*index] != Part::Dropped)
    }
}
