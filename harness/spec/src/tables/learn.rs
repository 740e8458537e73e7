//! `[learn]`: how long learners fit, and when the harness evaluates their models.

use gpbench_record::{Learning, ModelSelection};

use super::optimum;
use super::train::mean;
use crate::keys::{COUNT_OR_ZERO, FRACTION, Keys, SEVERAL, Setting, any_table, choice, count, number, whole};
use crate::source::At;
use crate::tree::Table;

#[derive(Debug, Clone)]
pub(crate) struct Learn {
    pub(crate) epochs: Setting<u64>,
    pub(crate) every: Option<At<u64>>,
    pub(crate) select: Setting<ModelSelection>,
    pub(crate) patience: Setting<u64>,
    pub(crate) validation: Option<At<f64>>,
    /// `None` for a mean of 0.
    pub(crate) mean: Setting<Option<f64>>,
    pub(crate) nlml_rows: Setting<usize>,
    pub(crate) exact_rows: Setting<usize>,
    pub(crate) variance_rank: Option<At<usize>>,
    /// Most rows of cases that are compared with the optimum.
    pub(crate) optimum: Setting<usize>,
    /// Their types are known only to the plugins.
    pub(crate) params: Option<At<Table>>,
}

pub(crate) fn read(keys: &mut Keys<'_>) -> Learn {
    Learn {
        epochs: keys.or("epochs", count(), 100, "Passes over the training rows that a learner is granted."),
        every: keys.derived(
            "every",
            count(),
            "at most 60 evaluations, even on a logarithmic axis",
            "Passes between two evaluations of the model by the harness; there is one after the last pass too.",
        ),
        select: keys.or(
            "select",
            choice("selection", ModelSelection::ALL.map(|selection| (selection.as_str(), selection))),
            "last",
            "Which evaluation's model is the result: the last, or the one with the smallest objective (the learner's own), \
             exact negative log marginal likelihood, or error or negative log-likelihood of validation rows.",
        ),
        patience: keys.or(
            "patience",
            whole(COUNT_OR_ZERO),
            0,
            "Evaluations without a new best one after which a case ends; 0: it does not end before its last pass.",
        ),
        validation: keys.optional(
            "validation",
            number(FRACTION).hint("it is a share of all rows"),
            "Share of all rows that are kept from the learner for validation: of the rows that `fractions` leave, or \
             else of the training rows.",
        ),
        mean: keys.or(
            "mean",
            mean(),
            "zero",
            "Prior mean: \"zero\", or \"constant\", which is learned beside the scales, from 0.",
        ),
        nlml_rows: keys.or(
            "nlml_rows",
            whole(SEVERAL),
            4096,
            "Training rows on which an evaluation before the last computes the exact likelihood of a kernel of infinite dimension.",
        ),
        exact_rows: keys.or(
            "exact_rows",
            whole(SEVERAL),
            Learning::EXACT_ROWS as i64,
            "Most training rows n of which the last evaluation factorises the matrix of a kernel of infinite dimension, in \
             8 n^2 bytes: for its exact likelihood, and for the predictions of an exact process.",
        ),
        variance_rank: keys.optional(
            "variance_rank",
            count(),
            "Rank of the predictive variances of an exact process, from so many Lanczos steps in place of a factor (Pleiss et al. \
             2018): they are wider than the exact ones.",
        ),
        optimum: optimum::read(keys),
        params: keys.optional(
            "params",
            any_table(),
            "Parameters of every learner that has them, unless its own table gives them.",
        ),
    }
}
