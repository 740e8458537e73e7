//! What was understood of a file, in words.

use gpbench_data::{ColumnReading, FileReading, Table};
use ndarray::ArrayView1;

use crate::categories::Levels;
use crate::cell::Held;
use crate::lacking::Lacking;
use crate::parts::Part;
use crate::time::{Clock, TimeScale};

/// The most values of a column of categories that are named.
const NAMED: usize = 4;

/// What was understood of a column, whose numbers are `values`; `is_key` where the split refers to it.
pub(crate) fn column(
    name: String,
    part: Part,
    is_key: bool,
    levels: Option<&Levels>,
    held: Held,
    values: impl Iterator<Item = f64>,
    times: &TimeScale,
) -> ColumnReading {
    let levels = levels.filter(|_| matches!(part, Part::Categories | Part::Group));
    let (kind, values) = match (part, levels, held) {
        (Part::Dropped, ..) => (String::new(), String::new()),
        (Part::Id, ..) => ("text".to_owned(), String::new()),
        (_, Some(levels), _) => {
            let kind = if part == Part::Group { "groups" } else { "categories" };
            (kind.to_owned(), named(&levels.groups().0))
        }
        (_, None, Held::Times(clock)) => {
            let kind = match clock {
                Clock::Local => "times",
                Clock::Zoned => "times in UTC",
                Clock::OfDay => "times of day",
            };
            (kind.to_owned(), range(values, |value| times.text(value, clock)))
        }
        (_, None, Held::Nothing | Held::Numbers) => ("numbers".to_owned(), range(values, short)),
    };
    let count = levels.map_or(0, |levels| levels.sorted().len());
    let mut becomes = match (part, held) {
        (Part::Input, Held::Times(clock)) => format!("input: {}", times.words(clock)),
        (Part::Target, Held::Times(clock)) => format!("target: {}", times.words(clock)),
        (Part::Input, _) => "input".to_owned(),
        (Part::Target, _) => "target".to_owned(),
        (Part::Categories, _) => format!("{count} inputs, 0 or 1"),
        (Part::Group | Part::Kept, _) => "no input".to_owned(),
        (Part::Id, _) => "ids of rows, no input".to_owned(),
        (Part::Dropped, _) => "left out".to_owned(),
    };
    if is_key {
        becomes +=
            if part == Part::Group || levels.is_some() { "; groups of rows" } else { "; for the split" };
    }
    ColumnReading { name, kind, values, becomes }
}

/// What was understood of a table all of whose columns are numbers.
pub(crate) fn of_numbers(table: &Table) -> Vec<ColumnReading> {
    let of = |name: &String, part, values: ArrayView1<'_, f64>| {
        column(name.clone(), part, false, None, Held::Numbers, values.iter().copied(), &TimeScale::default())
    };
    let inputs = table.names.inputs.iter().zip(table.x.columns());
    let inputs = inputs.map(|(name, values)| of(name, Part::Input, values));
    inputs.chain([of(&table.names.target, Part::Target, table.y.view())]).collect()
}

/// What was understood of a file with these columns, groups and ids of rows.
pub(crate) fn of_file(
    table: &Table,
    columns: Vec<ColumnReading>,
    (groups, ids): (Vec<String>, Vec<String>),
    lacking: &Lacking,
) -> FileReading {
    let (rows, left_out, repeats) = (table.n() + lacking.rows, lacking.rows, table.repeats());
    let left_out_rows = lacking.numbers.clone();
    FileReading { rows, left_out, left_out_rows, columns, groups, ids, repeats, ..FileReading::default() }
}

/// The least and the largest value.
fn range(values: impl Iterator<Item = f64>, text: impl Fn(f64) -> String) -> String {
    let limits = values.fold(None, |limits: Option<[f64; 2]>, value| {
        let [low, high] = limits.unwrap_or([value, value]);
        Some([low.min(value), high.max(value)])
    });
    limits.map_or_else(String::new, |[low, high]| {
        let (low, high) = (text(low), text(high));
        if low == high { low } else { format!("{low} to {high}") }
    })
}

/// A number to six digits.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    let is_usual = rounded == 0.0 || (1e-5..1e9).contains(&rounded.abs());
    if is_usual { rounded.to_string() } else { format!("{rounded:e}") }
}

/// The number of some values, and the first of them.
fn named(values: &[String]) -> String {
    let first = values.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if values.len() > NAMED { ", ..." } else { "" };
    format!("{}: {first}{more}", values.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits() {
        for (value, text) in
            [(0.0, "0"), (0.1 + 0.2, "0.3"), (-1234567.0, "-1234570"), (1e-7, "1e-7"), (2.5e12, "2.5e12")]
        {
            assert_eq!(short(value), text);
        }
        assert_eq!(range([3.0, 1.5, 2.0].into_iter(), short), "1.5 to 3");
        assert_eq!(range([3.0, 3.0].into_iter(), short), "3");
    }
}
