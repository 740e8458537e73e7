//! Relative residuals: what a solver claims, and how far the true ones may be from a tolerance.

use gpbench_record::{Solved, StopReason};

use crate::text::shortest;

/// A claim that the true residual misses by more than this factor is false, unless rounding explains it.
const FALSE_CLAIM: f64 = 2.0;
/// A larger relative residual is divergence: zero weights have residual 1.
pub(super) const DIVERGED: f64 = 1e3;

/// Claimed relative residual norms of y and, as their mean, of the probes.
pub(crate) fn claimed_residuals(solved: &Solved) -> Option<(f64, Option<f64>)> {
    let (y, probes) = solved.claimed.split_first()?;
    let mean = (!probes.is_empty()).then(|| probes.iter().sum::<f64>() / probes.len() as f64);
    Some((*y, mean))
}

/// Whether a claim of a tolerance is false, where rounding alone may leave the residual `attainable`.
pub(super) fn is_false(residual: f64, tolerance: f64, attainable: f64) -> bool {
    residual > (tolerance * FALSE_CLAIM).max(attainable)
}

/// What rounding alone may leave, as the end of a sentence about a residual, where it is above the tolerance.
pub(super) fn rounding(tolerance: f64, attainable: f64) -> String {
    if attainable <= tolerance * FALSE_CLAIM {
        return String::new();
    }
    format!(
        "; rounding in double precision alone may leave {} (condition times machine epsilon)",
        shortest(attainable)
    )
}

/// The text of a true residual.
pub(super) fn found(residual: f64) -> String {
    format!("true residual {}", shortest(residual))
}

/// Why a solver stopped before it reached the tolerance.
pub(super) fn stopped_short(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Converged => "claims to have converged",
        StopReason::Diverged => "the solver reports divergence",
        StopReason::Stagnated => "stagnated",
        StopReason::Iterations => "the solver's iterations are spent",
        StopReason::Epochs => "the epoch budget is spent",
        StopReason::Time => "the time budget is spent",
        StopReason::Target => "stopped at the target",
    }
}
