//! `[dataset.NAME]`: the rows of a data set.

use gpbench_record::{
    Family, Fractions, Frequencies, InputScaling, Missing, ReadOptions, SplitRule, Subsample, TargetScaling,
    TimeUnit,
};

use super::kernel::family;
use super::split::{self, Split};
use crate::keys::{
    EVEN_COUNT, FRACTION, Keys, Kind, NOT_NEGATIVE, POSITIVE, SEVERAL, Setting, ValueType, WrongType, choice,
    column, count, inner, list, number, text, truth, whole,
};
use crate::source::At;
use crate::tree::Value;

#[derive(Debug, Clone)]
pub(crate) struct Dataset {
    pub(crate) from: Option<At<String>>,
    pub(crate) path: Option<At<String>>,
    pub(crate) test: Option<At<String>>,
    pub(crate) target: Option<At<String>>,
    pub(crate) id: Option<At<String>>,
    pub(crate) drop: Option<At<Vec<At<String>>>>,
    pub(crate) categories: Option<At<Vec<At<String>>>>,
    pub(crate) separator: Option<At<char>>,
    pub(crate) header: Option<At<bool>>,
    pub(crate) missing: Setting<Missing>,
    pub(crate) decimal: Option<At<char>>,
    pub(crate) comment: Option<At<char>>,
    pub(crate) time_unit: Setting<TimeUnit>,
    pub(crate) time_origin: Option<At<String>>,
    pub(crate) group: Option<At<String>>,
    pub(crate) subsample: Option<At<Subsample>>,
    pub(crate) split: Option<At<Option<Split>>>,
    /// Whether rows with the same inputs stay together.
    pub(crate) replicates: Option<At<bool>>,
    pub(crate) fractions: Option<At<Option<Fractions>>>,
    pub(crate) collapse_duplicates: Setting<bool>,
    pub(crate) targets: Setting<TargetScaling>,
    pub(crate) inputs: Setting<InputScaling>,
    pub(crate) predictions: Option<At<bool>>,
    pub(crate) n: Option<At<usize>>,
    pub(crate) n_test: Option<At<usize>>,
    pub(crate) d: Setting<usize>,
    pub(crate) kernel: Setting<Family>,
    pub(crate) signal_scale: Setting<f64>,
    pub(crate) noise_scale: Setting<f64>,
    pub(crate) length_scale: Setting<f64>,
    pub(crate) draw: Setting<Draw>,
    pub(crate) features: Setting<usize>,
    pub(crate) frequencies: Setting<Frequencies>,
    /// Every key of the table.
    pub(crate) written: Vec<At<String>>,
}

impl Dataset {
    /// How the user's own file is read.
    pub(crate) fn read_options(&self) -> ReadOptions {
        let names = |list: &Option<At<Vec<At<String>>>>| match list {
            Some(list) => list.value.iter().map(|name| name.value.clone()).collect(),
            None => Vec::new(),
        };
        ReadOptions {
            test: self.test.as_ref().map(|test| test.value.clone()),
            target: self.target.as_ref().map(|target| target.value.clone()),
            id: self.id.as_ref().map(|id| id.value.clone()),
            drop: names(&self.drop),
            categories: names(&self.categories),
            separator: self.separator.as_ref().map(|separator| separator.value),
            header: self.header.as_ref().map(|header| header.value),
            group: self.group.as_ref().map(|group| group.value.clone()),
            split_by: self.rule().map_or_else(Vec::new, |rule| rule.columns().to_vec()),
            missing: self.missing.value,
            decimal: self.decimal.as_ref().map(|decimal| decimal.value),
            comment: self.comment.as_ref().map(|comment| comment.value),
            time_unit: self.time_unit.value,
            time_origin: self.time_origin.as_ref().map(|origin| origin.value.clone()),
        }
    }
}

impl Dataset {
    /// The rule that divides the rows.
    pub(crate) fn rule(&self) -> Option<&SplitRule> {
        self.split.as_ref()?.value.as_ref()?.rule.as_ref()
    }

    /// The split that all seeds share.
    pub(crate) fn index(&self) -> Option<&At<u32>> {
        self.split.as_ref()?.value.as_ref()?.index.as_ref()
    }
}

/// How an objective is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Draw {
    Features,
    Exact,
}

/// Keys of a user's own file: how it is read.
pub(crate) const READ_KEYS: [&str; 12] = [
    "target",
    "id",
    "drop",
    "categories",
    "separator",
    "header",
    "missing",
    "decimal",
    "comment",
    "time_unit",
    "time_origin",
    "group",
];

/// Keys of sets that are split into training and test rows.
pub(crate) const SPLIT_KEYS: [&str; 4] = ["subsample", "split", "fractions", "replicates"];

/// Keys of sets that are drawn.
pub(crate) const SIZE_KEYS: [&str; 2] = ["n", "n_test"];

/// Keys that scale rows.
pub(crate) const SCALE_KEYS: [&str; 2] = ["targets", "inputs"];

/// Keys of the objective alone.
pub(crate) const OBJECTIVE_KEYS: [&str; 3] = ["draw", "features", "frequencies"];

/// Keys of the Gaussian-process draw and of the objective.
pub(crate) const DRAW_KEYS: [&str; 5] = ["d", "kernel", "signal_scale", "noise_scale", "length_scale"];

pub(crate) fn read(keys: &mut Keys<'_>) -> Dataset {
    let rows = count().map(|rows| Subsample::Rows(rows.value));
    let share =
        number(FRACTION).hint("a count has no decimal point").map(|share| Subsample::Fraction(share.value));
    Dataset {
        from: keys.derived("from", text(), "NAME", "Name in the registry, or of a built-in set."),
        path: keys.optional(
            "path",
            text(),
            "The user's own CSV or Parquet file, relative to the spec's folder.",
        ),
        test: keys.optional(
            "test",
            text(),
            "The user's own file of test rows, relative to the spec's folder; its columns are matched by name. All seeds then have \
             the same training and test rows.",
        ),
        target: keys.derived(
            "target",
            column(),
            "the last column that is not dropped",
            "Target column of a file: its name or its index.",
        ),
        id: keys.optional(
            "id",
            column(),
            "Column of a file whose text identifies the rows in `predictions.parquet`: its name or its index. It is no input.",
        ),
        drop: keys.optional("drop", list(column()), "Columns of a file that are left out: names or indices."),
        categories: keys.optional(
            "categories",
            list(column()),
            "Columns of a file that hold categories: each of their values becomes an input that is 0 or 1.",
        ),
        separator: keys.derived(
            "separator",
            checked_text(ReadOptions::parse_separator),
            "a comma; a semicolon beside decimal commas",
            "Separator of the cells of a CSV file: one character, or \"tab\".",
        ),
        header: keys.derived(
            "header",
            truth(),
            "whether the first line holds text",
            "Whether the first line of a CSV file is a header.",
        ),
        missing: keys.or(
            "missing",
            choice("treatment of missing values", Missing::ALL.map(|missing| (missing.as_str(), missing))),
            "refuse",
            "Whether a file with missing values is refused, or rows that lack one are left out.",
        ),
        decimal: keys.derived(
            "decimal",
            checked_text(ReadOptions::parse_decimal),
            "a point",
            "Decimal mark of the numbers of a CSV file: \".\" or \",\".",
        ),
        comment: keys.optional(
            "comment",
            checked_text(ReadOptions::parse_comment),
            "First character of the lines of a CSV file that are comments, such as \"#\".",
        ),
        time_unit: keys.or(
            "time_unit",
            choice("unit of time", TimeUnit::ALL.map(|unit| (unit.as_str(), unit))),
            "days",
            "Unit in which dates and times of a file become numbers; a year is 365.25 days.",
        ),
        time_origin: keys.derived(
            "time_origin",
            text(),
            "1970-01-01",
            "Date or time of a file that becomes 0, such as \"2020-01-31\" or \"2020-01-31 12:00\"; without an offset, of UTC.",
        ),
        group: keys.optional(
            "group",
            column(),
            "Column of a file whose values divide the rows into groups, which no split divides; no input, unless it is in \
             `categories` too.",
        ),
        subsample: keys.optional(
            "subsample",
            rows.or(share, "a whole number or a fraction"),
            "Training rows to keep: a count, or with a decimal point a share.",
        ),
        split: keys.derived(
            "split",
            split::kind(),
            "the case's seed",
            "Index of the train/test split, or a table with a rule that divides the rows.",
        ),
        replicates: keys.derived(
            "replicates",
            choice("treatment of replicates", [("together", true), ("apart", false)]),
            "\"together\" on a file, unless `group` or a rule of `split` divides its rows",
            "Whether rows with the same inputs are drawn together or one by one for training and testing.",
        ),
        fractions: keys.optional("fractions", inner(fractions), "Draws splits by these shares."),
        collapse_duplicates: keys.or(
            "collapse_duplicates",
            truth(),
            false,
            "Whether training rows with the same inputs share an unknown of the linear system.",
        ),
        targets: keys.or(
            "targets",
            choice(
                "scale of targets",
                TargetScaling::ALL.map(|scaling| (scaling.as_str(), scaling)),
            ),
            "standardised",
            "Scale of the targets: mean 0 and standard deviation 1 on the training rows, or mean 0 in the units of the file.",
        ),
        inputs: keys.or(
            "inputs",
            choice(
                "scale of inputs",
                InputScaling::ALL.map(|scaling| (scaling.as_str(), scaling)),
            ),
            "standardised",
            "Scale of each input: mean 0 and standard deviation 1, or limits -1 and 1, on the training rows.",
        ),
        predictions: keys.derived(
            "predictions",
            truth(),
            "whether `path` is given, up to 10000 test rows",
            "Whether the predictions on the test rows are kept, for `predictions.parquet`; at most 200000 rows.",
        ),
        n: keys.derived(
            "n",
            whole(SEVERAL).hint("one training row cannot be standardised"),
            "1000, or the built-in set's own",
            "Training rows of a set that is drawn.",
        ),
        n_test: keys.derived("n_test", count(), "n / 10", "Test rows of a set that is drawn."),
        d: keys.or("d", count(), 2, "Inputs of `gp-draw` and `objective`."),
        kernel: keys.or("kernel", family(), "matern32", "Kernel family of `gp-draw` and `objective`."),
        signal_scale: keys.or("signal_scale", number(POSITIVE), 1.0, "Signal scale of `gp-draw` and `objective`."),
        noise_scale: keys.or("noise_scale", number(NOT_NEGATIVE), 0.1, "Noise scale of `gp-draw` and `objective`."),
        length_scale: keys.or(
            "length_scale",
            number(POSITIVE),
            0.3,
            "Length scale of `gp-draw` and `objective`, whose inputs are uniform on the unit cube.",
        ),
        draw: keys.or(
            "draw",
            choice("way to draw", [("features", Draw::Features), ("exact", Draw::Exact)]),
            "features",
            "How an `objective` is drawn: from random features, or exactly (at 5000 points at most in all).",
        ),
        features: keys.or(
            "features",
            whole(EVEN_COUNT).hint("sines and cosines are counted together"),
            16384,
            "Random features of an `objective`, sines and cosines counted together.",
        ),
        frequencies: keys.or("frequencies", frequencies(), "multivariate_t", "Law of these features' frequencies."),
        written: keys.written(),
    }
}

/// A law of frequencies.
fn frequencies() -> Kind<Frequencies> {
    choice("law of frequencies", Frequencies::ALL.map(|law| (law.as_str(), law)))
}

/// A text that stands for one character.
fn checked_text(parse: fn(&str) -> Result<char, String>) -> Kind<char> {
    Kind::new("a text in quotes", ValueType::String, move |node, _, mistakes| {
        let Value::Text(text) = &node.value else { return Err(WrongType) };
        let report = |what: String| mistakes.add(&node.at, what, None);
        Ok(parse(text).map_err(report).ok())
    })
}

/// Shares of training and test rows; the remaining rows are not used.
fn fractions(keys: &mut Keys<'_>) -> Option<Fractions> {
    let hint = "for instance { train = 0.64, test = 0.2 }";
    let share = || number(FRACTION);
    let train = keys.required("train", share(), hint, "Share of the training rows.");
    let test = keys.required("test", share(), hint, "Share of the test rows.");
    let (train, test) = (train?, test?);
    if train.value + test.value > 1.0 + f64::EPSILON {
        let what = format!("fractions of {:?} and {:?} are more than all rows", train.value, test.value);
        keys.report(&test.at, &what, Some("together at most 1; the remaining rows are not used"));
    }
    Some(Fractions { train: train.value, test: test.value })
}
