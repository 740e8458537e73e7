//! `gpbench data import`: reads and checks a user's own file, and shows what was understood of it.

mod screen;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use gpbench_data::{Table, copy};
use gpbench_import::{ImportSource, Materialised};
use gpbench_record::{Dataset, Missing, ReadOptions, Source, TimeUnit};
use gpbench_spec::dataset_table;
use serde_json::{Value, json};

use crate::args::{Format, FormatArg, Global};
use crate::dataset;
use crate::exit::{Failure, OK, Outcome};
use crate::notice::warn;
use crate::output::{self, json_path, versioned};
use crate::split_words::split_words;

/// Rows in the answer in JSON.
const SHOWN_ROWS: usize = 5;

/// `gpbench data import`.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file: CSV, compressed CSV or Parquet.
    file: PathBuf,
    /// A file of test rows, with the same columns; without it, splits of the file are drawn.
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// Target column: a name or a 0-based index; the last column that is not dropped by default.
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// Column whose text identifies the rows in predictions: a name or a 0-based index. It is no input.
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// Columns to leave out: names or 0-based indices.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    drop: Vec<String>,
    /// Columns of categories: each of their values becomes an input that is 0 or 1.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    categories: Vec<String>,
    /// Column of groups, which no split divides; no input, unless --categories names it too.
    #[arg(long, value_name = "COLUMN", conflicts_with = "test")]
    group: Option<String>,
    /// Separator of the cells of a CSV file: one character, or `tab`; a comma by default.
    #[arg(long, value_name = "CHARACTER", value_parser = ReadOptions::parse_separator)]
    separator: Option<char>,
    /// Whether the first line of a CSV file is a header; by default, whether it holds text.
    #[arg(long, value_enum)]
    header: Option<YesNo>,
    /// Decimal mark of a CSV file: `.` or `,`.
    #[arg(long, value_name = "MARK", value_parser = ReadOptions::parse_decimal)]
    decimal: Option<char>,
    /// First character of the lines of a CSV file that are comments, such as `#`.
    #[arg(long, value_name = "CHARACTER", value_parser = ReadOptions::parse_comment)]
    comment: Option<char>,
    /// Rows with missing values: `refuse` the file, or `drop` them.
    #[arg(long, value_name = "WHAT", default_value_t)]
    missing: Missing,
    /// Unit in which dates and times become numbers: seconds, minutes, hours, days, weeks or years.
    #[arg(long, value_name = "UNIT", default_value_t)]
    time_unit: TimeUnit,
    /// The date or time that becomes 0; the start of 1970 by default.
    #[arg(long, value_name = "TIME")]
    time_origin: Option<String>,
    #[command(flatten)]
    output: FormatArg,
}

/// Yes or no, as a value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum YesNo {
    /// Yes.
    Yes,
    /// No.
    No,
}

impl Import {
    fn options(&self) -> ReadOptions {
        ReadOptions {
            test: self.test.as_ref().map(|test| test.to_string_lossy().into_owned()),
            target: self.target.clone(),
            id: self.id.clone(),
            drop: self.drop.clone(),
            categories: self.categories.clone(),
            separator: self.separator,
            header: self.header.map(|answer| answer == YesNo::Yes),
            group: self.group.clone(),
            split_by: Vec::new(),
            missing: self.missing,
            decimal: self.decimal,
            comment: self.comment,
            time_unit: self.time_unit,
            time_origin: self.time_origin.clone(),
        }
    }
}

pub(super) fn import(global: &Global, args: &Import) -> Outcome {
    let places = dataset::places(global)?;
    let (file, options) = (args.file.as_path(), args.options());
    let origin = match &args.test {
        Some(test) => ImportSource::HeldOut { path: file, test, options: &options },
        None => ImportSource::File { path: file, options: &options },
    };
    let made = dataset::copy(&origin, &places).map_err(Failure::usage)?;
    let table = copy::read(&made.path).map_err(Failure::internal)?;
    for warning in &made.warnings {
        warn(global, warning);
    }
    let split = split(file, &options, &made);
    let range = args.test.as_ref().and_then(|_| table.outside_training_box());
    let split = range.map_or_else(|| split.clone(), |range| format!("{split}; {range}"));
    let json = describe(&table, &made, file, &options, &split);
    if args.output.format != Format::Table {
        output::show(&screen::columns(&made.reading.columns), &json, args.output)?;
        return Ok(OK);
    }
    output::print(&screen::screen(&made, file, &options, &split, args.output))?;
    Ok(OK)
}

/// How the rows are divided by default, in words.
fn split(file: &Path, options: &ReadOptions, made: &Materialised) -> String {
    let source = Source::File { path: file.to_string_lossy().into_owned(), options: options.clone() };
    let is_drawn = made.splits == 0 && options.group.is_none();
    let keep_replicates = is_drawn && made.reading.repeats.rows > 0;
    let dataset = Dataset { keep_replicates, ..Dataset::new(&made.name, source) };
    split_words(&dataset, made).unwrap_or_default()
}

/// The numbers of the first rows, the target last.
fn numbers(table: &Table) -> Vec<Vec<f64>> {
    let rows = table.x.rows().into_iter().zip(&table.y).take(SHOWN_ROWS);
    rows.map(|(x, y)| x.iter().chain([y]).copied().collect()).collect()
}

/// The table as JSON.
fn describe(table: &Table, made: &Materialised, file: &Path, options: &ReadOptions, split: &str) -> Value {
    let dataset = json!({
        "file": json_path(file),
        "rows": made.n,
        "inputs": made.names.inputs,
        "target": made.names.target,
        "splits": made.splits,
        "split": split,
        "read": made.reading,
        "first_rows": numbers(table),
        "warnings": made.warnings,
        "spec": dataset_table(&made.name, file, options),
        "copy": json_path(&made.path),
    });
    versioned("dataset", dataset)
}
