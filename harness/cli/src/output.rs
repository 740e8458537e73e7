//! Output of verbs: listings on standard output in several formats, and small files.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

use gpbench_record::text;
use gpbench_report::{Fitted, TextTable, latex};
use serde_json::{Value, json};

use crate::args::{Format, FormatArg};
use crate::exit::Failure;
use crate::streams;

/// Prints text on standard output, with control characters of terminals escaped. A closed pipe is not an error: its
/// reader, such as `head`, has read enough.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let text = text::plain(text);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    written(write_out(&format!("{text}{end}")))
}

/// Whether this process was started without a standard output.
pub(crate) fn is_closed() -> bool {
    streams::require_output().is_err()
}

/// The failure that an error of standard output means.
pub(crate) fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::internal(format!(
            "standard output cannot be written: {error}; redirect it to a file on a disk with room, or to \
             /dev/null if it is not wanted"
        ))),
        _ => Ok(()),
    }
}

fn write_out(text: &str) -> io::Result<()> {
    streams::require_output()?;
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// A command line, quoted for a shell. Words that are not UTF-8 are written as `$'\xff'`, which bash and zsh read.
pub(crate) fn shell_command<'a>(words: impl Iterator<Item = &'a OsStr>) -> String {
    let word = |word: &'a OsStr| match word.to_str() {
        Some(text) => shlex::try_quote(text).expect("an argument never holds a NUL byte").into_owned(),
        None => format!("$'{}'", word.as_encoded_bytes().escape_ascii()),
    };
    words.map(word).collect::<Vec<String>>().join(" ")
}

/// A table, and its content as JSON.
#[derive(Debug)]
pub(crate) struct Listing {
    table: TextTable,
    json: Value,
}

impl Listing {
    /// A listing without rows. `--format json` prints `json`.
    pub(crate) fn new(header: &[&str], json: Value) -> Listing {
        let table = header.iter().fold(TextTable::default(), |table, title| table.words(*title));
        Listing { table, json }
    }

    /// Adds a row: one cell for each column.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.table.row(cells);
    }

    /// Sets the columns that a narrow terminal leaves out first.
    #[must_use]
    pub(crate) fn minor(self, titles: &[&str]) -> Listing {
        Listing { table: self.table.minor(titles), ..self }
    }

    /// Sets the columns that a narrow terminal leaves out last.
    #[must_use]
    pub(crate) fn major(self, titles: &[&str]) -> Listing {
        Listing { table: self.table.major(titles), ..self }
    }

    /// Prints the listing.
    pub(crate) fn print(&self, output: FormatArg) -> Result<(), Failure> {
        show(&self.table, &self.json, output)
    }
}

/// Prints a table in the given format, or `value` if the format is JSON.
pub(crate) fn show(table: &TextTable, value: &Value, output: FormatArg) -> Result<(), Failure> {
    print(&match output.format {
        Format::Table => terminal_table(table, output),
        Format::Md => table.markdown(),
        Format::Csv => table.csv(),
        Format::Latex => latex([table]),
        Format::Json => pretty(value),
        Format::Bmf => {
            return Err(Failure::usage("`--format bmf` shows the measures of a run, and this is none"));
        }
    })
}

/// A table for a terminal, as wide as it may be, and below it which columns are left out.
pub(crate) fn terminal_table(table: &TextTable, output: FormatArg) -> String {
    fitted(table.fitted(output.wide.width()))
}

/// Tables for a terminal, and below them what is shorter there and which columns it has no room for.
pub(crate) fn fitted(tables: Fitted) -> String {
    let Fitted { mut text, left_out, is_shortened } = tables;
    if is_shortened {
        text += "(0.830(12) is 0.830 ± 0.012)\n";
    }
    if !left_out.is_empty() {
        text += &format!("(not shown: {}; `--wide` prints all columns)\n", left_out.join(", "));
    }
    text
}

/// A JSON value over several lines.
pub(crate) fn pretty(value: &Value) -> String {
    let document = serde_json::to_string_pretty(value).expect("a JSON value always serialises");
    text::json(&document).into_owned()
}

/// A path in an answer in JSON.
pub(crate) fn json_path(path: &Path) -> Value {
    let json = gpbench_record::path::serialize(path, serde_json::value::Serializer);
    json.expect("a text or a list of numbers always serialises")
}

/// `{"schema": 1, NAME: VALUE}`, the form of every answer in JSON.
pub(crate) fn versioned(name: &str, value: impl Into<Value>) -> Value {
    json!({ "schema": SCHEMA, name: value.into() })
}

/// Version of the forms of JSON that verbs print.
pub(crate) const SCHEMA: u32 = 1;

/// Writes a file that a user names, in place of an earlier one.
pub(crate) fn write_named(file: &Path, text: &str) -> Result<(), Failure> {
    write_file(file, text)
        .map_err(|error| Failure::usage(format!("cannot write {}: {error}", file.display())))
}

/// Writes a file, and creates its folder.
pub(crate) fn write_file(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, text)
}
