//! What was understood of a user's own file, for people to look at.

use serde::{Deserialize, Serialize};

/// What was understood of a user's own file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FileReading {
    /// Rows of the file.
    pub rows: usize,
    /// Rows that are left out, because a value is missing.
    pub left_out: usize,
    /// The numbers of these rows, counted from 0 without the header.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out_rows: Vec<u64>,
    /// Those of the file of test rows, where these have a file of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out_test_rows: Vec<u64>,
    /// Its columns, in the order of the file.
    pub columns: Vec<ColumnReading>,
    /// Names of the groups, in the order of their numbers; none without a column of groups.
    pub groups: Vec<String>,
    /// The text that identifies each row of the table; empty without a column of ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    /// Rows that share their inputs.
    pub repeats: Repeats,
}

impl FileReading {
    /// Whether the column that the user calls so holds dates or times, which have become numbers.
    pub fn holds_times(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.name == name && column.kind.starts_with("times"))
    }
}

/// What was understood of a column.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ColumnReading {
    /// Its name, or its 0-based index.
    pub name: String,
    /// What its cells hold: `numbers`, `categories`, `groups`, `text`, or a kind of `times`.
    pub kind: String,
    /// The range of its values, in words.
    pub values: String,
    /// What it becomes, such as `input`.
    pub becomes: String,
}

/// Rows that share their inputs with other rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Repeats {
    /// Rows whose inputs occur more than once, the first of them too.
    pub rows: usize,
    /// Different inputs of these rows.
    pub inputs: usize,
    /// Test rows of split 0, if rows are drawn one by one.
    pub test_rows: usize,
    /// Those of them whose inputs are training inputs too.
    pub known_test_rows: usize,
}
