//! The columns of a file of training rows, which a file of test rows must have too.

use std::collections::HashMap;
use std::path::Path;

use gpbench_data::Table;
use gpbench_record::ReadOptions;

use crate::categories::{Input, Levels};
use crate::columns::Columns;
use crate::error::{ImportError, InputPosition};
use crate::fault::FileFault;
use crate::parts::{Part, Parts};

/// A file that was read.
pub(crate) struct ReadFile {
    pub(crate) table: Table,
    pub(crate) columns: Columns,
    /// Its inputs, with the values of categories.
    pub(crate) inputs: Vec<Input>,
    /// What the user calls its column of ids.
    pub(crate) id: Option<String>,
}

impl ReadFile {
    /// A file whose columns have these parts.
    pub(crate) fn new(table: Table, columns: &Columns, parts: &Parts, inputs: Vec<Input>) -> ReadFile {
        let id = (0..columns.count).find(|index| parts.of(*index) == Part::Id);
        ReadFile { table, columns: columns.clone(), inputs, id: id.map(|id| columns.label(id)) }
    }
}

/// The columns of a file of training rows. Columns of another file are matched with them by name, or by their places where
/// neither file has names.
#[derive(Clone, Copy)]
pub(crate) struct Pattern<'a> {
    /// The file.
    pub(crate) file: &'a Path,
    pub(crate) columns: &'a Columns,
    pub(crate) inputs: &'a [Input],
    /// The label of the target.
    pub(crate) target: &'a str,
    /// The label of the column of ids, if there is one.
    pub(crate) id: Option<&'a str>,
}

impl<'a> Pattern<'a> {
    /// The columns of a file of training rows.
    pub(crate) fn of(file: &'a Path, read: &'a ReadFile) -> Pattern<'a> {
        let ReadFile { table, columns, inputs, id } = read;
        Pattern { file, columns, inputs, target: &table.names.target, id: id.as_deref() }
    }

    /// The parts of the columns of a file: those that the user has chosen, or those that a pattern demands.
    pub(crate) fn choose(
        like: Option<&Pattern<'_>>,
        columns: &Columns,
        options: &ReadOptions,
        file: &Path,
    ) -> Result<Parts, ImportError> {
        match like {
            Some(pattern) => pattern.parts(columns, file),
            None => Parts::choose(columns, options, file),
        }
    }

    /// The values that a column of categories may have; any where there is no pattern.
    pub(crate) fn levels(like: Option<&Pattern<'_>>, parts: &Parts, index: usize) -> Levels {
        let place = || parts.inputs().position(|input| input == index);
        let known = like.and_then(|pattern| pattern.inputs.get(place()?)?.levels.as_ref());
        known.map_or_else(Levels::default, Levels::closed)
    }

    /// The parts of the columns of another file, which may have them in another order, and further ones.
    fn parts(&self, columns: &Columns, file: &Path) -> Result<Parts, ImportError> {
        let fault = |fault| Err(InputPosition::file(file).fault(fault));
        let other = || self.file.to_owned();
        if columns.have_names() != self.columns.have_names() {
            return fault(FileFault::HeaderOfOne { has_header: columns.have_names(), other: other() });
        }
        if !columns.have_names() && columns.count != self.columns.count {
            let (found, expected) = (columns.count, self.columns.count);
            return fault(FileFault::OtherColumns { found, expected, other: other() });
        }
        let places: HashMap<String, usize> =
            (0..columns.count).rev().map(|index| (columns.label(index), index)).collect();
        let labels =
            || self.inputs.iter().map(|input| input.label.as_str()).chain([self.target]).chain(self.id);
        let missing: Vec<String> =
            labels().filter(|label| !places.contains_key(*label)).map(str::to_owned).collect();
        if !missing.is_empty() {
            let lacks_target = !places.contains_key(self.target);
            return fault(FileFault::MissingColumns { missing, lacks_target, other: other() });
        }
        let inputs = self.inputs.iter().map(|input| {
            let part = if input.levels.is_some() { Part::Categories } else { Part::Input };
            (places[&input.label], part)
        });
        let id = self.id.map(|id| places[id]);
        Ok(Parts::of_inputs(columns.count, inputs, places[self.target], id))
    }

    /// A warning of columns that the file of training rows does not have, and that are not used.
    pub(crate) fn warning(&self, columns: &Columns) -> Option<String> {
        if !columns.have_names() {
            return None;
        }
        let known: Vec<String> = (0..self.columns.count).map(|index| self.columns.label(index)).collect();
        let more: Vec<String> = (0..columns.count)
            .filter(|index| !columns.is_index(*index))
            .map(|index| columns.label(index))
            .filter(|label| !known.contains(label))
            .map(|label| format!("`{label}`"))
            .collect();
        let (noun, verb) = if more.len() == 1 { ("column", "is") } else { ("columns", "are") };
        let file = self.file.file_name().unwrap_or_default().to_string_lossy();
        (!more.is_empty())
            .then(|| format!("{noun} {} {verb} not in {file}, and {verb} not used", more.join(", ")))
    }
}
