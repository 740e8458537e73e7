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
    /// The parts that the user has chosen. There is at least one input. All mistakes are told at once.
    pub(crate) fn choose(
        columns: &Columns,
        options: &ReadOptions,
        file: &Path,
    ) -> Result<Parts, ImportError> {
        let mut faults = Vec::new();
        let mut find = |role, name| match columns.find(role, name) {
            Ok(index) => Some(index),
            Err(fault) => {
                faults.push(fault);
                None
            }
        };
        let named = options.target.as_ref().map(|name| find(Role::Target, name));
        let dropped: Vec<usize> = options.drop.iter().filter_map(|name| find(Role::Dropped, name)).collect();
        let categories: Vec<usize> =
            options.categories.iter().filter_map(|name| find(Role::Categories, name)).collect();
        let mut parts = vec![Part::Input; columns.count];
        for index in dropped {
            parts[index] = Part::Dropped;
        }
        let two_roles = |index: usize| FileFault::TwoRoles { column: columns.describe(index) };
        for index in categories {
            if parts[index] == Part::Dropped {
                faults.push(two_roles(index));
            } else {
                parts[index] = Part::Categories;
            }
        }
        let mut left_out = Vec::new();
        for index in columns.indices() {
            if parts[index] == Part::Input && named != Some(Some(index)) {
                parts[index] = Part::Dropped;
                left_out.push(index);
            }
        }
        let is_data = |index: &usize| parts[*index] != Part::Dropped && !columns.is_index(*index);
        let last = || (0..columns.count).rev().find(is_data);
        // The place of a target that does not exist is unknown.
        let target = named.unwrap_or_else(last);
        if let Some(target) = target {
            if parts[target] == Part::Input {
                parts[target] = Part::Target;
            } else {
                faults.push(two_roles(target));
            }
        }
        // One of the columns that are left is the target.
        let has_inputs = parts.iter().filter(|part| **part != Part::Dropped).count() > 1;
        if !has_inputs && !faults.iter().any(|fault| matches!(fault, FileFault::TwoRoles { .. })) {
            faults.push(FileFault::NoInputs);
        }
        match (target, FileFault::of_columns(faults)) {
            (_, Some(fault)) => Err(InputPosition::file(file).fault(fault)),
            (Some(target), None) => Ok(Parts { parts, target, left_out }),
            (None, None) => Err(InputPosition::file(file).fault(FileFault::NoInputs)),
        }
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
