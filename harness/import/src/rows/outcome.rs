//! What the rows of a file were, once all of them are read.

use gpbench_data::ColumnReading;

use super::Rows;
use crate::categories::{Input, Levels};
use crate::lacking::Lacking;
use crate::parts::Part;
use crate::reading;

impl Rows {
    /// The inputs, with the values of their categories, which are taken.
    pub(crate) fn take_inputs(&mut self) -> Vec<Input> {
        let Some(parts) = &self.parts else { return Vec::new() };
        let input = |index: usize| Input {
            description: self.columns.describe(index),
            label: self.columns.label(index),
            levels: (parts.of(index) == Part::Categories).then(|| std::mem::take(&mut self.levels[index])),
        };
        parts.inputs().map(input).collect()
    }

    /// The names of the groups, in their order, and for each code of the column of groups the number of its group.
    pub(crate) fn groups(&self, index: usize) -> (Vec<String>, Vec<f64>) {
        self.levels[index].groups()
    }

    /// The text that identifies each row, which is taken; none without a column of ids.
    pub(crate) fn take_ids(&mut self) -> Vec<String> {
        std::mem::take(&mut self.ids)
    }

    /// The rows that were left out.
    pub(crate) fn lacking(&self) -> &Lacking {
        &self.lacking
    }

    /// What was understood of a column, whose numbers are `values`.
    pub(crate) fn describe(&self, index: usize, values: impl Iterator<Item = f64>) -> ColumnReading {
        let (name, part) = (self.columns.label(index), self.part(index));
        let is_key =
            self.parts.as_ref().is_some_and(|parts| parts.keys().iter().any(|key| key.index == index));
        let levels = self.levels.get(index);
        reading::column(name, part, is_key, levels, self.held[index], values, &self.times)
    }

    /// Warnings so far, which are taken.
    pub(crate) fn take_warnings(&mut self) -> Vec<String> {
        let mut warnings = std::mem::take(&mut self.warnings);
        warnings.extend(self.date_warnings());
        warnings.extend(self.lacking.warning(&self.columns));
        warnings.extend(self.group_warnings());
        warnings
    }

    /// Warnings of groups. A column of groups that are categories too has those of categories.
    fn group_warnings(&self) -> Vec<String> {
        let is_group = |(index, _): &(usize, &Levels)| self.part(*index) == Part::Group;
        let mut groups = self.levels.iter().enumerate().filter(is_group);
        let of = |(index, levels): (usize, &Levels)| {
            levels.warnings(&self.columns.describe(index), ["group", "groups"])
        };
        groups.next().map(of).unwrap_or_default()
    }
}
