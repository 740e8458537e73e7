//! What was understood of a file, on one screen of 80 columns and 24 lines.

use std::path::Path;

use gpbench_data::{ColumnReading, Repeats};
use gpbench_import::Materialised;
use gpbench_record::{ReadOptions, counted};
use gpbench_report::{TextTable, wrapped};
use gpbench_spec::dataset_table;

use crate::args::FormatArg;
use crate::output;

/// Lines of the screen, without that of the next prompt.
const LINES: usize = 23;
/// Columns of the screen.
const WIDTH: usize = 80;
/// Fewest columns of the file that are listed.
const FEWEST: usize = 3;

/// The columns of a file, one in each row.
pub(super) fn columns(columns: &[ColumnReading]) -> TextTable {
    let mut table = TextTable::default().words("column").words("kind").words("values").words("becomes");
    for ColumnReading { name, kind, values, becomes } in columns {
        table.row([name, kind, values, becomes].map(String::clone));
    }
    table
}

/// What was understood of a file, and the table of a spec that reads it so. With `--wide`, all columns of the file are listed.
pub(super) fn screen(
    made: &Materialised,
    file: &Path,
    options: &ReadOptions,
    split: &str,
    output: FormatArg,
) -> String {
    let (above, spec) = (above(made, file, options, split), dataset_table(&made.name, file, options));
    let all = &made.reading.columns;
    let width = (!output.wide.is_wide()).then(|| output.wide.width().unwrap_or(WIDTH));
    let listed = |count: usize| {
        let mut text = output::fitted(columns(&all[..count]).fitted(width));
        if count < all.len() {
            text += &format!("and {} more columns (`--wide` lists all)\n", all.len() - count);
        }
        text
    };
    let lines = |text: &str| text.lines().count();
    // A blank line above the columns, one below them, and the words above the table.
    let free = LINES.saturating_sub(lines(&above) + lines(&spec) + 3);
    let most = all.len().min(LINES);
    let fits = |count: &usize| lines(&listed(*count)) <= free;
    let count = match output.wide.is_wide() {
        true => all.len(),
        false => (FEWEST..=most).rev().find(fits).unwrap_or(FEWEST.min(most)),
    };
    format!("{above}\n{}\nin a spec:\n{spec}", listed(count))
}

/// Rows, target, repeated inputs and split.
fn above(made: &Materialised, file: &Path, options: &ReadOptions, split: &str) -> String {
    let read = &made.reading;
    let training = read.rows.saturating_sub(read.left_out);
    let rows = match (&options.test, read.left_out) {
        (Some(test), _) => {
            format!("{training} training rows, {} test rows of {test}", made.n.saturating_sub(training))
        }
        (None, 0) => format!("{} rows", made.n),
        (None, left_out) => {
            format!("{} of {} rows ({left_out} left out for missing values)", made.n, read.rows)
        }
    };
    let default = if options.target.is_none() { " (the last column, since no target is set)" } else { "" };
    let mut lines = vec![
        format!("{}: {rows}, {}", file.display(), counted(made.d, "input")),
        format!("target: {}{default}", made.names.target),
    ];
    lines.extend(repeats(read.repeats, options.test.is_some()));
    lines.push(format!("split: {split}"));
    lines.iter().map(|line| wrapped(line, WIDTH - 2).join("\n  ") + "\n").collect()
}

/// Rows that share their inputs.
fn repeats(
    Repeats { rows, inputs, test_rows, known_test_rows }: Repeats,
    have_own_file: bool,
) -> Option<String> {
    let drawn = if have_own_file { "" } else { "drawn one by one, " };
    (rows > 0).then(|| {
        format!(
            "repeated inputs: {rows} rows share {inputs} inputs; {drawn}{known_test_rows} of {test_rows} test rows have inputs of \
             training rows"
        )
    })
}
