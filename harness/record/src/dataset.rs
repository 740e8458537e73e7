//! The rows of a case, and their source.

use gpbench_terms::words;
use serde::{Deserialize, Serialize};

use crate::{Family, Frequencies, Predictions, ReadOptions, SplitRule};

/// The rows of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    /// Name in the spec.
    pub name: String,
    /// Source of the rows.
    pub source: Source,
    /// Index of the train/test split.
    pub split: u32,
    /// Fractions of a random split, which replaces the splits of the set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fractions: Option<Fractions>,
    /// Number of training rows to keep, drawn with the case's seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subsample: Option<Subsample>,
    /// Whether training rows with the same inputs share an unknown. The Gaussian process, its exact solution and the
    /// verification do not change. An epoch remains n^2 entries, of all rows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub collapse_duplicates: bool,
    /// Scaling of the targets.
    #[serde(default, skip_serializing_if = "TargetScaling::is_default")]
    pub targets: TargetScaling,
    /// Scaling of the inputs.
    #[serde(default, skip_serializing_if = "InputScaling::is_default")]
    pub inputs: InputScaling,
    /// Fraction of all rows that are withheld from a learner for the selection of its model. They are taken from the
    /// rows that `fractions` leaves unused, or else from the training rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<f64>,
    /// Whether predictions on the test rows are kept; absent: those of a user's own file are, up to
    /// [`Predictions::ROWS_BY_DEFAULT`] test rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predictions: Option<bool>,
    /// The rule that divides the rows; where there is none, the set's own splits, or a random draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<SplitRule>,
    /// Whether rows with the same inputs stay together in a split that is drawn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_replicates: bool,
}

impl Dataset {
    /// The first split of a source with all of its rows, standardised.
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
            predictions: None,
            rule: None,
            keep_replicates: false,
        }
    }

    /// Whether predictions on so many test rows are kept, by the tasks that predict.
    pub fn keeps_predictions(&self, test_rows: usize) -> bool {
        match self.predictions {
            Some(is_kept) => is_kept && test_rows <= Predictions::MOST_ROWS,
            None => self.is_own_file() && test_rows <= Predictions::ROWS_BY_DEFAULT,
        }
    }

    /// Whether the rows are those of the user's own file.
    pub fn is_own_file(&self) -> bool {
        matches!(self.source, Source::File { .. })
    }

    /// The user's own file of test rows, as typed.
    pub fn test_file(&self) -> Option<&str> {
        match &self.source {
            Source::File { options, .. } => options.test.as_deref(),
            _ => None,
        }
    }

    /// The column whose values divide the rows into groups, as the user named it.
    pub fn group(&self) -> Option<&str> {
        match &self.source {
            Source::File { options, .. } => options.group.as_deref(),
            _ => None,
        }
    }

    /// Whether some rows stay together in its splits, or a rule divides them.
    pub fn is_grouped(&self) -> bool {
        self.rule.is_some() || self.keep_replicates || self.group().is_some()
    }
}

words! {
    /// Scaling of the targets, by statistics of the training rows.
    #[derive(Default)]
    pub enum TargetScaling {
        /// Mean 0 and standard deviation 1.
        #[default]
        Standardised = "standardised",
        /// Mean 0, in the units of the file.
        Centred = "centred",
    }
}

words! {
    /// Scaling of the inputs, by statistics of the training rows.
    #[derive(Default)]
    pub enum InputScaling {
        /// Mean 0 and standard deviation 1 of each input.
        #[default]
        Standardised = "standardised",
        /// Smallest value -1 and largest value 1 of each input.
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

/// Fractions of the rows that a random split draws; the remaining rows are not used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fractions {
    /// Fraction of training rows, between 0 and 1.
    pub train: f64,
    /// Fraction of test rows, between 0 and 1.
    pub test: f64,
}

/// Number of training rows that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Subsample {
    /// An absolute number.
    Rows(usize),
    /// A fraction of them, between 0 and 1.
    Fraction(f64),
}

impl Subsample {
    /// The number of rows out of `n`; a fraction is rounded.
    pub fn rows(self, n: usize) -> usize {
        match self {
            Subsample::Rows(rows) => rows,
            Subsample::Fraction(fraction) => (fraction * n as f64).round() as usize,
        }
    }
}

/// Source of rows.
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
        /// Options for reading the file.
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
    /// An objective that task `thompson` evaluates during the run, drawn with the case's seed.
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

/// An objective on the unit cube: a draw from a known Gaussian process, which can be evaluated at any point. Its rows
/// are in raw units, and it has no test rows.
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
    /// How the objective is drawn.
    pub draw: ObjectiveDraw,
}

/// How an objective is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectiveDraw {
    /// By a Cholesky factor that grows with the points, for few points only. A value is drawn when it is first
    /// evaluated, conditioned on all earlier evaluations. So searches share the initial design, and then each has its
    /// own draw.
    Exact,
    /// From random Fourier features.
    Features {
        /// Number of features, sines and cosines counted together.
        features: usize,
        /// Distribution of their frequencies.
        frequencies: Frequencies,
    },
}

impl Objective {
    /// Largest total number of points of an objective that is drawn exactly.
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
    fn predictions_are_kept_of_own_files_of_moderate_size_and_where_they_are_asked_for() {
        let own = Source::File { path: "a.csv".to_owned(), options: ReadOptions::default() };
        let of = |source: &Source, predictions| Dataset { predictions, ..Dataset::new("a", source.clone()) };
        let registered = Source::Registry { name: "pol".to_owned() };
        for (source, predictions, most) in [
            (&own, None, Some(10_000)),
            (&own, Some(true), Some(200_000)),
            (&own, Some(false), None),
            (&registered, None, None),
            (&registered, Some(true), Some(200_000)),
        ] {
            let dataset = of(source, predictions);
            assert_eq!(dataset.keeps_predictions(1), most.is_some(), "{dataset:?}");
            if let Some(most) = most {
                assert!(
                    dataset.keeps_predictions(most) && !dataset.keeps_predictions(most + 1),
                    "{dataset:?}"
                );
            }
        }
        // Defaults take no place in ids of cases.
        assert!(!serde_json::to_string(&of(&own, None)).unwrap().contains("predictions"));
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
