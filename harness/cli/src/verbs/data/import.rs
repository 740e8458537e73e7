//! `gpbench data import`: reads and checks a user's own file, and shows what was taken from it.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use gpbench_data::{Table, copy};
use gpbench_import::{Materialised, Origin};
use gpbench_record::ReadOptions;
use gpbench_spec::dataset_table;
use serde_json::json;

use crate::args::{Format, FormatArg, Global};
use crate::dataset;
use crate::exit::{Failure, OK, Outcome};
use crate::notice::warn;
use crate::output::{self, Listing, json_path, versioned};

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

/// An answer that is given or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum YesNo {
    /// It is.
    Yes,
    /// It is not.
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
    let made =
        dataset::copy(&Origin::File { path: file, options: &options }, &places).map_err(Failure::usage)?;
    let table = copy::read(&made.path).map_err(Failure::internal)?;
    for warning in &made.warnings {
        warn(global, warning);
    }
    let rows = first_rows(&table, &made, file, &options);
    let Materialised { path, n, d, names, .. } = &made;
    if args.output.format != Format::Table {
        rows.print(args.output)?;
        return Ok(OK);
    }
    let inputs = names.inputs.join(", ");
    output::print(&format!(
        "{}: {n} rows, {d} input{}\ntarget: {}\ninputs: {inputs}\n",
        file.display(),
        if *d == 1 { "" } else { "s" },
        names.target
    ))?;
    rows.print(args.output)?;
    output::print(&format!(
        "\nin a spec:\n\n{}\nbinary copy: {}",
        dataset_table(&made.name, file, &options),
        path.display()
    ))?;
    Ok(OK)
}

/// The first rows of a table, as in its file.
fn first_rows(table: &Table, made: &Materialised, file: &Path, options: &ReadOptions) -> Listing {
    let names = &made.names;
    let shown = table.x.rows().into_iter().zip(&table.y).take(SHOWN_ROWS);
    let rows: Vec<Vec<f64>> = shown.map(|(x, y)| x.iter().chain([y]).copied().collect()).collect();
    let json = json!({
        "file": json_path(file),
        "rows": made.n,
        "inputs": names.inputs,
        "target": names.target,
        "splits": made.splits,
        "first_rows": rows,
        "warnings": made.warnings,
        "spec": dataset_table(&made.name, file, options),
        "copy": json_path(&made.path),
    });
    let header: Vec<&str> = names.inputs.iter().chain([&names.target]).map(String::as_str).collect();
    let mut listing = Listing::new(&header, versioned("dataset", json));
    for row in &rows {
        listing.row(row.iter().map(f64::to_string).collect());
    }
    listing
}
