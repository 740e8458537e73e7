//! What verbs write: listings on standard output in four formats, and small files.

use std::io::{self, Write};
use std::path::Path;

use gpbench_record::text;
use gpbench_report::Table;
use serde_json::{Value, json};

use crate::args::Format;

/// Prints text on standard output, with what a terminal would obey written out. A closed pipe is not an error.
pub(crate) fn print(text: &str) {
    let text = text::plain(text);
    let mut out = io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let _ = write!(out, "{text}{end}").and_then(|()| out.flush());
}

/// A table, and its content as JSON.
#[derive(Debug)]
pub(crate) struct Listing {
    table: Table,
    json: Value,
}

impl Listing {
    /// A listing without rows. `--format json` prints `json`.
    pub(crate) fn new(header: &[&str], json: Value) -> Listing {
        let table = header.iter().fold(Table::default(), |table, title| table.words(*title));
        Listing { table, json }
    }

    /// Adds a row: one cell for each column.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.table.row(cells);
    }

    /// Prints the listing.
    pub(crate) fn print(&self, format: Format) {
        show(&self.table, &self.json, format);
    }
}

/// Prints a table in the given format, or `value` if the format is JSON.
pub(crate) fn show(table: &Table, value: &Value, format: Format) {
    print(&match format {
        Format::Table => table.text(),
        Format::Md => table.markdown(),
        Format::Csv => table.csv(),
        Format::Json => pretty(value),
    });
}

/// A JSON value over several lines.
pub(crate) fn pretty(value: &Value) -> String {
    let document = serde_json::to_string_pretty(value).expect("a JSON value always serialises");
    text::json(&document).into_owned()
}

/// `{"schema": 1, NAME: VALUE}`, the form of every answer in JSON.
pub(crate) fn versioned(name: &str, value: impl Into<Value>) -> Value {
    json!({ "schema": SCHEMA, name: value.into() })
}

/// Version of the forms of JSON that verbs print.
pub(crate) const SCHEMA: u32 = 1;

/// Writes a file, and creates its folder.
pub(crate) fn write_file(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, text)
}
