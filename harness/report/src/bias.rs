//! Bias of estimates of the likelihood's terms.

use gpbench_record::names;

use crate::aggregate::Group;
use crate::estimator;
use crate::number::short;
use crate::results::Results;

/// Errors and spreads below this share of the exact term are rounding.
pub(crate) const ROUNDING: f64 = 1e-9;

/// A term of the likelihood: the metrics of its mean estimate, of that mean's standard error, and of the exact term.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Term {
    pub(crate) mean: &'static str,
    pub(crate) error: &'static str,
    pub(crate) exact: &'static str,
}

/// The terms that have a bias of their own.
pub(crate) const TERMS: [Term; 2] = [
    Term { mean: names::QUADRATIC, error: names::QUADRATIC_ERROR, exact: names::QUADRATIC_EXACT },
    Term { mean: names::LOG_DET, error: names::LOG_DET_ERROR, exact: names::LOG_DET_EXACT },
];

/// Difference of the mean estimate of a term from the exact term.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bias {
    /// Mean minus exact.
    pub(crate) bias: f64,
    /// Of the mean; 0 where all estimates are the same.
    pub(crate) standard_error: f64,
    /// The exact term.
    pub(crate) exact: f64,
}

impl Term {
    /// The bias of a group's estimates; `None` where the term was not estimated.
    pub(crate) fn bias(self, group: &Group) -> Option<Bias> {
        let exact = group.mean(self.exact)?;
        let standard_error = group.mean(self.error).unwrap_or(0.0);
        Some(Bias { bias: group.mean(self.mean)? - exact, standard_error, exact })
    }
}

impl Bias {
    /// The bias with its standard error, and in standard errors.
    pub(crate) fn words(&self) -> String {
        let Bias { bias, standard_error, exact } = *self;
        if standard_error <= ROUNDING * exact.abs() {
            return short(bias);
        }
        let z = bias / standard_error;
        format!("{} ± {} ({z:+.1})", short(bias), short(standard_error))
    }
}

/// Iterations of a solve, or random features, on average over the estimates.
pub(crate) fn terms(results: &Results<'_>, group: &Group) -> Option<f64> {
    let task = &results.case(group).task;
    if task.features().is_some() {
        return results.of(group).next()?.row().solver_values.get(names::FEATURES).copied();
    }
    Some(group.mean(names::ITERATIONS)? / group.mean(names::REPETITIONS)? / estimator::solves(task))
}
