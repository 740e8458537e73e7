//! Dates whose day and month cannot be told apart.
//!
//! Dates such as 03/04/2020 are read day first. A column that is written month first is refused at its first day beyond 12; a column
//! without one, such as the first days of months, is read without an error, and warned of.

use super::Rows;
use crate::cell::shown;
use crate::time;

impl Rows {
    /// Notes whether a date of this row may be meant month first. The first date that cannot be settles it for its column.
    pub(super) fn note_date(&mut self, index: usize) {
        if matches!(self.dates.get(&index), Some(None)) {
            return;
        }
        match time::may_be_month_first(&self.record[index]) {
            Some(true) if !self.dates.contains_key(&index) => {
                let first = (self.line(), shown(&self.record[index]));
                self.dates.insert(index, Some(first));
            }
            Some(false) => {
                self.dates.insert(index, None);
            }
            _ => {}
        }
    }

    /// A warning for each column whose dates are all read day first, and may all be meant month first.
    pub(super) fn date_warnings(&self) -> Vec<String> {
        let warning = |(index, first): (&usize, &Option<(u64, String)>)| {
            let (line, text) = first.as_ref()?;
            Some(format!(
                "line {line}: {text} in column {} is read day first, and so are all dates of the column, none of which has a day \
                 beyond 12; if the month comes first, write dates as 2020-01-31",
                self.columns.describe(*index)
            ))
        };
        self.dates.iter().filter_map(warning).collect()
    }
}
