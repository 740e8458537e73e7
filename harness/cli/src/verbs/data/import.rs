//! `gpbench data import`: reads and checks a user's own file, and shows its target, inputs and first rows.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use gpbench_data::{Table, copy};
use gpbench_import::{ImportSource, Materialised};
use gpbench_record::ReadOptions;
use gpbench_report as report;
use gpbench_spec::dataset_table;
use serde_json::{Value, json};

use crate::args::{Format, FormatArg, Global};
use crate::dataset;
use crate::exit::{Failure, OK, Outcome};
use crate::notice::warn;
use crate::output::{self, json_path, versioned};

/// Rows that are shown.
const SHOWN_ROWS: usize = 5;

/// `gpbench data import`.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file: CSV, compressed CSV or Parquet.
    file: PathBuf,
    /// Target column: a name or a 0-based index; the last column that is not dropped by default.
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// Columns to leave out: names or 0-based indices.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    drop: Vec<String>,
    /// Columns of categories: each of their values becomes an input that is 0 or 1.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    categories: Vec<String>,
    /// Separator of the cells of a CSV file: one character, or `tab`; a comma by default.
    #[arg(long, value_name = "CHARACTER", value_parser = ReadOptions::parse_separator)]
    separator: Option<char>,
    /// Whether the first line of a CSV file is a header; by default, whether it holds text.
    #[arg(long, value_enum)]
    header: Option<YesNo>,
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
            target: self.target.clone(),
            drop: self.drop.clone(),
            categories: self.categories.clone(),
            separator: self.separator,
            header: self.header.map(|answer| answer == YesNo::Yes),
        }
    }
}

pub(super) fn import(global: &Global, args: &Import) -> Outcome {
    let places = dataset::places(global)?;
    let (file, options) = (args.file.as_path(), args.options());
    let made = dataset::copy(&ImportSource::File { path: file, options: &options }, &places)
        .map_err(Failure::usage)?;
    let table = copy::read(&made.path).map_err(Failure::internal)?;
    for warning in &made.warnings {
        warn(global, warning);
    }
    let (rows, json) = (first_rows(&table), describe(&table, &made, file, &options));
    let Materialised { path, n, d, names, .. } = &made;
    if args.output.format != Format::Table {
        output::show(&rows, &json, args.output)?;
        return Ok(OK);
    }
    let inputs = names.inputs.join(", ");
    output::print(&format!(
        "{}: {n} rows, {d} input{}\ntarget: {}{}\ninputs: {inputs}\n\n{}",
        file.display(),
        if *d == 1 { "" } else { "s" },
        names.target,
        if options.target.is_none() { " (the last column, since no target is set)" } else { "" },
        output::terminal_table(&rows, args.output)
    ))?;
    output::print(&format!(
        "\nin a spec:\n\n{}\nbinary copy: {}",
        dataset_table(&made.name, file, &options),
        path.display()
    ))?;
    Ok(OK)
}

/// The first rows of a table, in its file's units.
fn first_rows(table: &Table) -> report::TextTable {
    let names = table.names.inputs.iter().chain([&table.names.target]);
    let mut shown = names.fold(report::TextTable::default(), |shown, name| shown.numbers(name));
    for row in numbers(table) {
        shown.row(row.iter().map(|value| shown_number(*value)));
    }
    shown
}

/// All digits of a number; of a tiny or a huge one with an exponent.
fn shown_number(value: f64) -> String {
    let is_usual = value == 0.0 || (1e-9..1e16).contains(&value.abs());
    if is_usual { value.to_string() } else { format!("{value:e}") }
}

/// The numbers of the first rows, the target last.
fn numbers(table: &Table) -> Vec<Vec<f64>> {
    let rows = table.x.rows().into_iter().zip(&table.y).take(SHOWN_ROWS);
    rows.map(|(x, y)| x.iter().chain([y]).copied().collect()).collect()
}

/// The table as JSON.
fn describe(table: &Table, made: &Materialised, file: &Path, options: &ReadOptions) -> Value {
    let dataset = json!({
        "file": json_path(file),
        "rows": made.n,
        "inputs": made.names.inputs,
        "target": made.names.target,
        "splits": made.splits,
        "first_rows": numbers(table),
        "warnings": made.warnings,
        "spec": dataset_table(&made.name, file, options),
        "copy": json_path(&made.path),
    });
    versioned("dataset", dataset)
}
