//! What becomes of each column of a file.

use std::path::Path;

use gpbench_record::ReadOptions;

use crate::columns::Columns;
use crate::error::{ImportError, InputPosition, Role};
use crate::fault::FileFault;

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
    /// Columns that are left out because they hold the index of a pandas frame.
    left_out: Vec<usize>,
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
        let named = options.target.as_ref().map(|name| columns.find(file, Role::Target, name)).transpose()?;
        let mut left_out = Vec::new();
        for index in columns.indices() {
            if parts[index] == Part::Input && named != Some(index) {
                parts[index] = Part::Dropped;
                left_out.push(index);
            }
        }
        let is_data = |index: &usize| parts[*index] != Part::Dropped && !columns.is_index(*index);
        let last = || (0..columns.count).rev().find(is_data);
        let target = named.or_else(last).ok_or_else(|| fault(FileFault::NoInputs))?;
        if parts[target] != Part::Input {
            return Err(fault(FileFault::TwoRoles { column: columns.describe(target) }));
        }
        parts[target] = Part::Target;
        let parts = Parts { parts, target, left_out };
        if parts.inputs().next().is_none() {
            return Err(fault(FileFault::NoInputs));
        }
        Ok(parts)
    }

    /// Inputs, and the target in the last column.
    pub(crate) fn last_is_target(count: usize) -> Parts {
        let mut parts = vec![Part::Input; count];
        parts[count - 1] = Part::Target;
        Parts { parts, target: count - 1, left_out: Vec::new() }
    }

    /// Columns that are left out because they hold the index of a pandas frame.
    pub(crate) fn left_out(&self) -> &[usize] {
        &self.left_out
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
