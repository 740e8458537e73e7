//! How a user's own file is read.

use gpbench_terms::words;
use serde::{Deserialize, Serialize};

/// Options for reading a CSV or Parquet file. Columns are given by name, or by a 0-based index as text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOptions {
    /// File of the test rows, as typed: relative to the spec's folder, as the file itself. It is read with the same options, and
    /// its columns are matched by name. Absent: test rows are rows of the file itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Target column. The default is the last column that is not dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Column whose text identifies the rows in predictions. It is no input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Columns that are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<String>,
    /// Categorical inputs: each of their values becomes an input that is 0 or 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// Separator of the cells of a CSV file, one ASCII character. The default is a comma.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separator: Option<char>,
    /// Whether the first line of a CSV file is a header. By default, it is one if it contains text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// Column whose values divide the rows into groups. It is an input only if it is also in `categories`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Columns of numbers or times that the split refers to; they are read even where they are dropped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub split_by: Vec<String>,
    /// Treatment of rows with missing values.
    #[serde(default, skip_serializing_if = "Missing::is_default")]
    pub missing: Missing,
    /// Decimal mark of a CSV file, a point or a comma. The default is a point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<char>,
    /// First character of the lines of a CSV file that are comments. By default, no line is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<char>,
    /// Unit in which dates and times become numbers.
    #[serde(default, skip_serializing_if = "TimeUnit::is_default")]
    pub time_unit: TimeUnit,
    /// The date or time that becomes 0. The default is the start of 1970 (UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_origin: Option<String>,
}

words! {
    /// Treatment of rows with missing values.
    #[derive(Default)]
    pub enum Missing: "treatment of missing values" {
        /// The file is refused.
        #[default]
        Refuse = "refuse",
        /// Such rows are left out.
        Drop = "drop",
    }
}

impl Missing {
    fn is_default(&self) -> bool {
        *self == Missing::default()
    }
}

words! {
    /// Unit in which dates and times become numbers.
    #[derive(Default)]
    pub enum TimeUnit: "unit of time" {
        /// Seconds.
        Seconds = "seconds",
        /// Minutes.
        Minutes = "minutes",
        /// Hours.
        Hours = "hours",
        /// Days of 24 hours.
        #[default]
        Days = "days",
        /// Weeks of seven days.
        Weeks = "weeks",
        /// Julian years of 365.25 days.
        Years = "years",
    }
}

impl TimeUnit {
    fn is_default(&self) -> bool {
        *self == TimeUnit::default()
    }

    /// Its length in seconds.
    pub fn seconds(self) -> i64 {
        match self {
            TimeUnit::Seconds => 1,
            TimeUnit::Minutes => 60,
            TimeUnit::Hours => 3600,
            TimeUnit::Days => 86_400,
            TimeUnit::Weeks => 7 * 86_400,
            TimeUnit::Years => 31_557_600,
        }
    }
}

impl ReadOptions {
    /// The separator of the cells of a CSV file: a comma, or a semicolon beside decimal commas, unless another one is given.
    pub fn cell_separator(&self) -> char {
        let default = if self.decimal == Some(',') { ';' } else { ',' };
        self.separator.unwrap_or(default)
    }

    /// The decimal mark of a text: a point or a comma.
    ///
    /// # Errors
    /// If it is neither.
    pub fn parse_decimal(text: &str) -> Result<char, String> {
        match text {
            "." => Ok('.'),
            "," => Ok(','),
            _ => Err("a decimal mark is `.` or `,`".to_owned()),
        }
    }

    /// The mark of comment lines: one character that begins no number.
    ///
    /// # Errors
    /// If it is another text.
    pub fn parse_comment(text: &str) -> Result<char, String> {
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(c), None) if c.is_ascii_punctuation() && !"\".,+-_".contains(c) => Ok(c),
            _ => Err(
                "a mark of comments is one character that begins neither a number nor a name, such as `#`"
                    .to_owned(),
            ),
        }
    }

    /// The character of a separator: the text itself, or a tab for `tab`.
    ///
    /// # Errors
    /// If it is not one ASCII character, or cannot separate cells.
    pub fn parse_separator(text: &str) -> Result<char, String> {
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            _ if text == "tab" => Ok('\t'),
            (Some(c), None) if c.is_ascii() && !c.is_ascii_alphanumeric() && !"\"\r\n\0.+-".contains(c) => {
                Ok(c)
            }
            _ => Err("a separator is one character, such as `;`, or `tab`".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators() {
        assert_eq!(ReadOptions::parse_separator("tab"), Ok('\t'));
        assert_eq!(ReadOptions::parse_separator(";"), Ok(';'));
        for text in ["", ";;", "a", "1", "\n", "\"", "."] {
            assert!(ReadOptions::parse_separator(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn decimal_marks_and_marks_of_comments() {
        assert_eq!(ReadOptions::parse_decimal(","), Ok(','));
        assert!(ReadOptions::parse_decimal(";").is_err());
        for mark in ["#", "%", "!", "/"] {
            assert_eq!(ReadOptions::parse_comment(mark), Ok(mark.chars().next().unwrap()));
        }
        for text in ["", "//", "-", ".", "a", "1", "\""] {
            assert!(ReadOptions::parse_comment(text).is_err(), "{text:?}");
        }
        let german = ReadOptions { decimal: Some(','), ..ReadOptions::default() };
        assert_eq!((german.cell_separator(), ReadOptions::default().cell_separator()), (';', ','));
    }
}
