//! `[dataset.NAME]`: the rows of a data set.

use gpbench_record::{Family, Fractions, Frequencies, InputScaling, ReadOptions, Subsample, TargetScaling};

use super::kernel::family;
use crate::keys::{
    ANY, COUNT_OR_ZERO, EVEN_COUNT, FRACTION, Keys, Kind, NOT_NEGATIVE, POSITIVE, SEVERAL, Setting,
    ValueType, WrongType, choice, count, inner, list, number, text, truth, whole,
};
use crate::source::At;
use crate::tree::Value;

#[derive(Debug, Clone)]
pub(crate) struct Dataset {
    pub(crate) from: Option<At<String>>,
    pub(crate) path: Option<At<String>>,
    pub(crate) target: Option<At<String>>,
    pub(crate) drop: Option<At<Vec<At<String>>>>,
    pub(crate) categories: Option<At<Vec<At<String>>>>,
    pub(crate) separator: Option<At<char>>,
    pub(crate) header: Option<At<bool>>,
    pub(crate) subsample: Option<At<Subsample>>,
    pub(crate) split: Option<At<u32>>,
    pub(crate) fractions: Option<At<Option<Fractions>>>,
    pub(crate) collapse_duplicates: Setting<bool>,
    pub(crate) targets: Setting<TargetScaling>,
    pub(crate) inputs: Setting<InputScaling>,
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
            target: self.target.as_ref().map(|target| target.value.clone()),
            drop: names(&self.drop),
            categories: names(&self.categories),
            separator: self.separator.as_ref().map(|separator| separator.value),
            header: self.header.as_ref().map(|header| header.value),
        }
    }
}

/// How an objective is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Draw {
    Features,
    Exact,
}

/// Keys of a user's own file: how it is read.
pub(crate) const READ_KEYS: [&str; 5] = ["target", "drop", "categories", "separator", "header"];

/// Keys of sets that are split into training and test rows.
pub(crate) const SPLIT_KEYS: [&str; 3] = ["subsample", "split", "fractions"];

/// Keys of sets that are drawn.
pub(crate) const SIZE_KEYS: [&str; 2] = ["n", "n_test"];

/// Keys that scale rows.
pub(crate) const SCALE_KEYS: [&str; 2] = ["targets", "inputs"];

/// Keys of the objective alone.
pub(crate) const OBJECTIVE_KEYS: [&str; 3] = ["draw", "features", "frequencies"];

/// Keys of the Gaussian-process draw and of the objective.
pub(crate) const DRAW_KEYS: [&str; 5] = ["d", "kernel", "signal_scale", "noise_scale", "length_scale"];

pub(crate) fn read(keys: &mut Keys<'_>) -> Dataset {
    let column = || {
        let index = whole::<i64>(ANY).map(|index| index.value.to_string());
        text().or(index, "a text in quotes or a whole number")
    };
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
        target: keys.derived(
            "target",
            column(),
            "the last column that is not dropped",
            "Target column of a file: its name or its index.",
        ),
        drop: keys.optional("drop", list(column()), "Columns of a file that are left out: names or indices."),
        categories: keys.optional(
            "categories",
            list(column()),
            "Columns of a file that hold categories: each of their values becomes an input that is 0 or 1.",
        ),
        separator: keys.derived(
            "separator",
            separator(),
            "a comma",
            "Separator of the cells of a CSV file: one character, or \"tab\".",
        ),
        header: keys.derived(
            "header",
            truth(),
            "whether the first line holds text",
            "Whether the first line of a CSV file is a header.",
        ),
        subsample: keys.optional(
            "subsample",
            rows.or(share, "a whole number or a fraction"),
            "Training rows to keep: a count, or with a decimal point a share.",
        ),
        split: keys.derived(
            "split",
            whole(COUNT_OR_ZERO),
            "the case's seed",
            "Index of the train/test split.",
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

/// The separator of cells.
fn separator() -> Kind<char> {
    Kind::new("a text in quotes", ValueType::String, |node, _, mistakes| {
        let Value::Text(text) = &node.value else { return Err(WrongType) };
        let report = |what: String| mistakes.add(&node.at, what, None);
        Ok(ReadOptions::parse_separator(text).map_err(report).ok())
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
