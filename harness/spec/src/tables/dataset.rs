//! `[dataset.NAME]`: which rows.

use gpbench_record::{Family, Fractions, InputScaling, Subsample, TargetScaling};

use super::kernel::family;
use crate::keys::{
    ANY, COUNT_OR_ZERO, FRACTION, Keys, NOT_NEGATIVE, POSITIVE, SEVERAL, Setting, choice, count, inner,
    number, text, truth, whole,
};
use crate::source::At;

#[derive(Debug, Clone)]
pub(crate) struct Dataset {
    pub(crate) from: Option<At<String>>,
    pub(crate) path: Option<At<String>>,
    pub(crate) target: Option<At<String>>,
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
    /// Every key of the table.
    pub(crate) written: Vec<At<String>>,
}

/// Keys of sets that are read from a file.
pub(crate) const FILE_KEYS: [&str; 4] = ["target", "subsample", "split", "fractions"];

/// Keys of sets that are drawn.
pub(crate) const SIZE_KEYS: [&str; 2] = ["n", "n_test"];

/// Keys of the Gaussian-process draw alone.
pub(crate) const DRAW_KEYS: [&str; 5] = ["d", "kernel", "signal_scale", "noise_scale", "length_scale"];

pub(crate) fn read(keys: &mut Keys<'_>) -> Dataset {
    let index = whole::<i64>(ANY).map(|index| index.value.to_string());
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
            text().or(index, "a text in quotes or a whole number"),
            "the last column",
            "Target column of a file: its name or its index.",
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
                [("standardised", TargetScaling::Standardised), ("centred", TargetScaling::Centred)],
            ),
            "standardised",
            "Scale of the targets: mean 0 and standard deviation 1 on the training rows, or mean 0 in the units of the file.",
        ),
        inputs: keys.or(
            "inputs",
            choice(
                "scale of inputs",
                [("standardised", InputScaling::Standardised), ("box", InputScaling::Box)],
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
        d: keys.or("d", count(), 2, "Inputs of `gp-draw`."),
        kernel: keys.or("kernel", family(), "matern32", "Kernel family of `gp-draw`."),
        signal_scale: keys.or("signal_scale", number(POSITIVE), 1.0, "Signal scale of `gp-draw`."),
        noise_scale: keys.or("noise_scale", number(NOT_NEGATIVE), 0.1, "Noise scale of `gp-draw`."),
        length_scale: keys.or(
            "length_scale",
            number(POSITIVE),
            0.3,
            "Length scale of `gp-draw`, whose inputs are uniform on the unit cube.",
        ),
        written: keys.written(),
    }
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
