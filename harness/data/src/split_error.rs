//! Why a split is impossible.

use gpbench_record::counted;
use thiserror::Error;

/// Why a split is impossible.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SplitError {
    /// A number beyond the set's masks.
    #[error("data set `{name}` has no split {split}: it has {available} splits, 0 to {}", available - 1)]
    NoSuchSplit {
        /// Data set.
        name: String,
        /// Split asked for.
        split: u32,
        /// Number of splits.
        available: usize,
    },
    /// Fewer groups or blocks than a rule needs.
    #[error(
        "the rows of data set `{name}` that stay together make {}, and its split needs at least {needed}; \
         ask for fewer blocks, or for another split",
        counted(*groups, "group")
    )]
    TooFewGroups {
        /// Data set.
        name: String,
        /// Groups that there are.
        groups: usize,
        /// Groups that are needed.
        needed: usize,
    },
    /// A number of a split beyond those that a rule gives.
    #[error(
        "data set `{name}` has no split {split}: its rule gives {}, numbered from 0; seed k takes split k, so \
         use fewer seeds, or set `index` in its `split` table",
        counted(*available, "split")
    )]
    BeyondRule {
        /// Data set.
        name: String,
        /// Split asked for.
        split: u32,
        /// Number of splits.
        available: usize,
    },
    /// A split refers to a column that was not kept.
    #[error(
        "data set `{name}` has no column `{column}`, which its split refers to; name an input, by its name or its index"
    )]
    NoColumn {
        /// Data set.
        name: String,
        /// The column.
        column: String,
    },
    /// Fewer than two training rows.
    #[error("data set `{name}` leaves {n} training rows; at least 2 are needed")]
    TooFewRows {
        /// Data set.
        name: String,
        /// Training rows.
        n: usize,
    },
    /// No test rows.
    #[error("split {split} of data set `{name}` has no test rows")]
    NoTestRows {
        /// Data set.
        name: String,
        /// Split asked for.
        split: u32,
    },
    /// No row is left for validation.
    #[error("data set `{name}`: a share of {share} of {rows} rows leaves no row for validation")]
    NoValidationRows {
        /// Data set.
        name: String,
        /// Share asked for.
        share: String,
        /// Rows that it is taken from.
        rows: usize,
    },
    /// A subsample larger than the training set.
    #[error("a subsample of {asked} rows was asked for, but data set `{name}` has {n} training rows")]
    Subsample {
        /// Data set.
        name: String,
        /// Rows asked for.
        asked: usize,
        /// Training rows.
        n: usize,
    },
    /// All training targets are equal, up to rounding.
    #[error(
        "the target of data set `{name}` is {value} in every training row of split {split}; there is nothing to learn: \
         choose another target, split or seed"
    )]
    ConstantTarget {
        /// Data set.
        name: String,
        /// Split.
        split: u32,
        /// Its value.
        value: String,
    },
    /// The training targets differ by less than numbers of double precision can be scaled by.
    #[error(
        "the target of data set `{name}` varies by less than 1e-290 in the training rows of split {split}; rescale the \
         column"
    )]
    SmallTarget {
        /// Data set.
        name: String,
        /// Split.
        split: u32,
    },
    /// The training targets are not standardised, and their squares underflow.
    #[error(
        "the target of data set `{name}` varies by {spread} only in the training rows of split {split}, whose square is 0 in \
         double precision; rescale the column, or set `targets` to `standardised`"
    )]
    SmallCentredTarget {
        /// Data set.
        name: String,
        /// Split.
        split: u32,
        /// Largest difference of two training targets.
        spread: String,
    },
}

impl SplitError {
    /// Whether the training targets vary too little.
    pub fn is_of_target(&self) -> bool {
        use SplitError::{ConstantTarget, SmallCentredTarget, SmallTarget};
        matches!(self, ConstantTarget { .. } | SmallTarget { .. } | SmallCentredTarget { .. })
    }
}
