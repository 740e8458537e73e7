//! The rows of a case, and where they come from.

use gpbench_terms::words;
use serde::{Deserialize, Serialize};

use crate::{Family, Frequencies};

/// Which rows a case sees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    /// Name in the spec.
    pub name: String,
    /// Where the rows come from.
    pub source: Source,
    /// Index of the train/test split.
    pub split: u32,
    /// Shares by which rows are drawn, in place of the splits that come with the set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fractions: Option<Fractions>,
    /// Keep only so many training rows, drawn with the case's seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subsample: Option<Subsample>,
    /// Whether training rows with the same inputs share an unknown. The Gaussian process, its exact
    /// answer and what a solution is judged by are the same; an epoch stays n^2 entries, of all rows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub collapse_duplicates: bool,
    /// How targets are scaled.
    #[serde(default, skip_serializing_if = "TargetScaling::is_default")]
    pub targets: TargetScaling,
    /// How inputs are scaled.
    #[serde(default, skip_serializing_if = "InputScaling::is_default")]
    pub inputs: InputScaling,
    /// Share of all rows that are kept from a learner to choose its model by: of the rows that `fractions` leave, or
    /// else of the training rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<f64>,
}

impl Dataset {
    /// All rows of a source as they come: its first split, standardised.
    pub fn new(name: impl Into<String>, source: Source) -> Dataset {
        Dataset {
            name: name.into(),
            source,
            split: 0,
            fractions: None,
            subsample: None,
            collapse_duplicates: false,
            targets: TargetScaling::default(),
            inputs: InputScaling::default(),
            validation: None,
        }
    }
}

words! {
    /// How targets are scaled, by the training rows.
    #[derive(Default)]
    pub enum TargetScaling {
        /// To mean 0 and standard deviation 1.
        #[default]
        Standardised = "standardised",
        /// To mean 0, in the units of the file.
        Centred = "centred",
    }
}

words! {
    /// How inputs are scaled, by the training rows.
    #[derive(Default)]
    pub enum InputScaling {
        /// Each to mean 0 and standard deviation 1.
        #[default]
        Standardised = "standardised",
        /// Each so that its smallest value is -1 and its largest 1.
        Box = "box",
    }
}

impl TargetScaling {
    fn is_default(&self) -> bool {
        *self == TargetScaling::default()
    }
}

impl InputScaling {
    fn is_default(&self) -> bool {
        *self == InputScaling::default()
    }
}

/// Shares of the rows that a split draws; the remaining rows are not used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fractions {
    /// Share of the training rows, between 0 and 1.
    pub train: f64,
    /// Share of the test rows, between 0 and 1.
    pub test: f64,
}

/// How many of the training rows are kept.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Subsample {
    /// This many.
    Rows(usize),
    /// This share of them, between 0 and 1.
    Fraction(f64),
}

impl Subsample {
    /// How many of `n` rows that is; a share is rounded.
    pub fn rows(self, n: usize) -> usize {
        match self {
            Subsample::Rows(rows) => rows,
            Subsample::Fraction(fraction) => (fraction * n as f64).round() as usize,
        }
    }
}

/// Where rows come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "kebab-case")]
pub enum Source {
    /// A set of the registry, by its canonical name. Its content enters the case id
    /// through [`crate::Fingerprint::dataset_sha256`].
    Registry {
        /// Canonical name.
        name: String,
    },
    /// The user's own CSV or Parquet file.
    File {
        /// Path, relative to the spec's folder, as typed.
        path: String,
        /// How it is read.
        #[serde(flatten)]
        options: ReadOptions,
    },
    /// A built-in toy (`toy-infill`, `toy-grid`, `toy-sine`), drawn with the case's seed.
    Toy {
        /// Name of the generator.
        name: String,
        /// Training rows.
        n: usize,
        /// Test rows.
        n_test: usize,
    },
    /// A draw from a Gaussian process, drawn with the case's seed.
    GpDraw(GpDraw),
    /// An objective that task `thompson` asks again along the run, drawn with the case's seed.
    Objective(Objective),
}

impl Source {
    /// Whether the rows are drawn, with the case's seed, rather than read from a file.
    pub fn is_drawn(&self) -> bool {
        match self {
            Source::Registry { .. } | Source::File { .. } => false,
            Source::Toy { .. } | Source::GpDraw(_) | Source::Objective(_) => true,
        }
    }
}

/// How a CSV or Parquet file is read. Columns are given by name, or by a 0-based index as text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOptions {
    /// Target column; the last one that is not dropped when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Columns that are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<String>,
    /// Inputs that hold categories: each of their values becomes an input that is 0 or 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// Separator of the cells of a CSV file, one ASCII character; a comma when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separator: Option<char>,
    /// Whether the first line of a CSV file is a header; when absent, whether it holds text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
}

impl ReadOptions {
    /// The character that a separator stands for: itself, or a tab for `tab`.
    ///
    /// # Errors
    /// Where it is not one ASCII character, or could not separate cells.
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

/// A draw from a known Gaussian process at inputs uniform on the unit cube.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GpDraw {
    /// Training rows.
    pub n: usize,
    /// Test rows.
    pub n_test: usize,
    /// Inputs.
    pub d: usize,
    /// Kernel family of the process.
    pub kernel: Family,
    /// Standard deviation of the process.
    pub signal_scale: f64,
    /// Standard deviation of the observation noise.
    pub noise_scale: f64,
    /// Length scale, in units of the unit cube, shared by all inputs.
    pub length_scale: f64,
}

/// An objective on the unit cube: a draw from a known Gaussian process, which can be asked at any point. Its rows are in
/// raw units, and none is for testing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    /// Rows of the initial design, uniform on the unit cube.
    pub n: usize,
    /// Inputs.
    pub d: usize,
    /// Kernel family of the process.
    pub kernel: Family,
    /// Standard deviation of the process.
    pub signal_scale: f64,
    /// Standard deviation of the observation noise.
    pub noise_scale: f64,
    /// Length scale, shared by all inputs.
    pub length_scale: f64,
    /// How it is drawn.
    pub draw: ObjectiveDraw,
}

/// How an objective is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectiveDraw {
    /// By a Cholesky factor that grows with the points: few points only. A value is drawn when it is asked, given all that
    /// was asked before, so that searches share the initial design and then each have their own draw.
    Exact,
    /// From random Fourier features.
    Features {
        /// Sines and cosines counted together.
        features: usize,
        /// Law of their frequencies.
        frequencies: Frequencies,
    },
}

impl Objective {
    /// Most points in all of an objective that is drawn exactly.
    pub const MOST_EXACT_POINTS: usize = 5000;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_read_as_it_is_has_the_json_of_earlier_versions() {
        for (options, json) in [
            (ReadOptions::default(), r#"{"from":"file","path":"a.csv"}"#),
            (
                ReadOptions { target: Some("2".to_owned()), ..ReadOptions::default() },
                r#"{"from":"file","path":"a.csv","target":"2"}"#,
            ),
        ] {
            let source = Source::File { path: "a.csv".to_owned(), options };
            assert_eq!(serde_json::to_string(&source).unwrap(), json);
            assert_eq!(serde_json::from_str::<Source>(json).unwrap(), source);
        }
    }

    #[test]
    fn separators() {
        assert_eq!(ReadOptions::parse_separator("tab"), Ok('\t'));
        assert_eq!(ReadOptions::parse_separator(";"), Ok(';'));
        for text in ["", ";;", "a", "1", "\n", "\"", "."] {
            assert!(ReadOptions::parse_separator(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_count_and_a_share_differ() {
        for (json, subsample, kept) in [
            ("100", Subsample::Rows(100), 100),
            ("1", Subsample::Rows(1), 1),
            ("0.05", Subsample::Fraction(0.05), 750),
        ] {
            assert_eq!(serde_json::to_string(&subsample).unwrap(), json);
            assert_eq!(serde_json::from_str::<Subsample>(json).unwrap(), subsample);
            assert_eq!(subsample.rows(15_000), kept);
        }
        assert_eq!(Subsample::Fraction(0.1).rows(25), 3, "2.5 is rounded");
    }
}
