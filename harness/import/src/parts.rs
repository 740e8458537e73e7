//! What becomes of each column of a file.

use std::path::Path;

use gpbench_record::ReadOptions;
use ndarray::{Array2, Axis};

use crate::categories::Input;
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
    /// The groups of the rows, and no input.
    Group,
    /// Numbers that the split refers to, and no input.
    Kept,
    /// The text that identifies each row, and no input.
    Id,
    /// Nothing: it is not read.
    Dropped,
}

/// A column that the split refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) index: usize,
    /// What the user calls it.
    pub(crate) label: String,
    /// Whether it holds groups, rather than numbers.
    pub(crate) is_group: bool,
}

/// The parts of all columns of a file.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    parts: Vec<Part>,
    /// Indices of the columns that become inputs, in the order of the inputs.
    inputs: Vec<usize>,
    pub(crate) target: usize,
    /// The columns that the split refers to, that of groups first.
    keys: Vec<Key>,
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
        let group = options.group.as_ref().and_then(|name| Some((find(Role::Group, name)?, name)));
        let by = options.split_by.iter().filter_map(|name| Some((find(Role::SplitBy, name)?, name)));
        let by: Vec<(usize, &String)> = by.collect();
        let id = options.id.as_ref().and_then(|name| find(Role::Id, name));
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
        let key = |(index, label): (usize, &String), is_group| Key { index, label: label.clone(), is_group };
        let keys: Vec<Key> = group
            .map(|group| key(group, true))
            .into_iter()
            .chain(by.iter().map(|by| key(*by, false)))
            .collect();
        if let Some((index, _)) = group.filter(|(index, _)| parts[*index] != Part::Categories) {
            parts[index] = Part::Group;
        }
        for (index, _) in &by {
            let other = match parts[*index] {
                Part::Group => Role::Group,
                Part::Categories => Role::Categories,
                Part::Dropped => {
                    parts[*index] = Part::Kept;
                    continue;
                }
                _ => continue,
            };
            let column = columns.describe(*index);
            faults.push(FileFault::TwoForms { column, one: other, other: Role::SplitBy });
        }
        if let Some(index) = id {
            let other = match parts[index] {
                _ if by.iter().any(|(by, _)| *by == index) => Some(Role::SplitBy),
                Part::Group => Some(Role::Group),
                Part::Categories => Some(Role::Categories),
                _ => None,
            };
            parts[index] = Part::Id;
            faults.extend(other.map(|one| FileFault::TwoForms {
                column: columns.describe(index),
                one,
                other: Role::Id,
            }));
        }
        let mut left_out = Vec::new();
        for index in columns.indices() {
            if parts[index] == Part::Input
                && named != Some(Some(index))
                && keys.iter().all(|key| key.index != index)
            {
                parts[index] = Part::Dropped;
                left_out.push(index);
            }
        }
        let is_key = |index: &usize| keys.iter().any(|key| key.index == *index);
        let is_data = |index: &usize| {
            !matches!(parts[*index], Part::Dropped | Part::Id) && !columns.is_index(*index) && !is_key(index)
        };
        let last = || (0..columns.count).rev().find(is_data);
        // The place of a target that does not exist is unknown.
        let target = named.unwrap_or_else(last);
        if let Some(target) = target {
            if parts[target] == Part::Input {
                parts[target] = Part::Target;
            } else if matches!(parts[target], Part::Group | Part::Id) {
                let other = if parts[target] == Part::Id { Role::Id } else { Role::Group };
                let column = columns.describe(target);
                faults.push(FileFault::TwoForms { column, one: Role::Target, other });
            } else {
                faults.push(two_roles(target));
            }
        }
        // One of the columns that are left is the target.
        let is_data = |part: &&Part| matches!(part, Part::Input | Part::Categories | Part::Target);
        let has_inputs = parts.iter().filter(is_data).count() > 1;
        if !has_inputs && !faults.iter().any(|fault| matches!(fault, FileFault::TwoRoles { .. })) {
            faults.push(FileFault::NoInputs);
        }
        match (target, FileFault::of_columns(faults)) {
            (_, Some(fault)) => Err(InputPosition::file(file).fault(fault)),
            (Some(target), None) => Ok(Parts { inputs: inputs_of(&parts), parts, target, keys, left_out }),
            (None, None) => Err(InputPosition::file(file).fault(FileFault::NoInputs)),
        }
    }

    /// Inputs, and the target in the last column.
    pub(crate) fn last_is_target(count: usize) -> Parts {
        let mut parts = vec![Part::Input; count];
        parts[count - 1] = Part::Target;
        let inputs = (0..count - 1).collect();
        Parts { parts, inputs, target: count - 1, keys: Vec::new(), left_out: Vec::new() }
    }

    /// These inputs of `count` columns, in this order, each by its index; all other columns but the target and that of ids are
    /// dropped.
    pub(crate) fn of_inputs(
        count: usize,
        inputs: impl Iterator<Item = (usize, Part)>,
        target: usize,
        id: Option<usize>,
    ) -> Parts {
        let mut parts = vec![Part::Dropped; count];
        if let Some(id) = id {
            parts[id] = Part::Id;
        }
        let mut indices = Vec::new();
        for (index, part) in inputs {
            parts[index] = part;
            indices.push(index);
        }
        parts[target] = Part::Target;
        Parts { parts, inputs: indices, target, keys: Vec::new(), left_out: Vec::new() }
    }

    /// Inputs that were read in the order of the file, in the order of [`Parts::inputs`]; `x` has shape (n, inputs).
    pub(crate) fn in_order(&self, x: Array2<f64>, inputs: Vec<Input>) -> (Array2<f64>, Vec<Input>) {
        if self.inputs.is_sorted() {
            return (x, inputs);
        }
        let read = inputs_of(&self.parts);
        let place = |index: &usize| read.binary_search(index).expect("an input is used");
        let places: Vec<usize> = self.inputs.iter().map(place).collect();
        let mut inputs: Vec<Option<Input>> = inputs.into_iter().map(Some).collect();
        let ordered = places.iter().map(|place| inputs[*place].take().expect("a place for each input"));
        (x.select(Axis(1), &places), ordered.collect())
    }

    /// The columns that the split refers to, that of groups first.
    pub(crate) fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Makes an input a column of categories.
    pub(crate) fn make_categories(&mut self, index: usize) {
        self.parts[index] = Part::Categories;
    }

    /// Columns that are left out because they hold the index of a pandas frame.
    pub(crate) fn left_out(&self) -> &[usize] {
        &self.left_out
    }

    pub(crate) fn of(&self, index: usize) -> Part {
        self.parts[index]
    }

    /// Indices of the columns that become inputs, in the order of the inputs.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = usize> {
        self.inputs.iter().copied()
    }

    /// Indices of the columns that are read.
    pub(crate) fn used(&self) -> impl Iterator<Item = usize> {
        (0..self.parts.len()).filter(|index| self.parts[*index] != Part::Dropped)
    }
}

/// Indices of the columns that become inputs, in the order of the file.
fn inputs_of(parts: &[Part]) -> Vec<usize> {
    let is_input = |index: &usize| matches!(parts[*index], Part::Input | Part::Categories);
    (0..parts.len()).filter(is_input).collect()
}
