//! How a solve ended, and the report that a solver leaves of it.

use std::collections::BTreeMap;

use gpbench_abi::Report;
use gpbench_record::StopReason;

use crate::cost::SolveCost;

use super::session::Session;
use super::views;

/// Most named numbers that a report may hold.
const MAX_VALUES: usize = 4096;

/// How a solve ended.
#[derive(Debug, Clone, PartialEq)]
pub struct SolveOutcome {
    /// Why the solver stopped.
    pub reason: StopReason,
    /// Relative residual norms that the solver claims, one a column, or none.
    pub claimed: Vec<f64>,
    /// Further numbers, by name.
    pub values: BTreeMap<String, f64>,
    /// What prepare and solve took.
    pub cost: SolveCost,
    /// Seconds of the solver for the iterates that it was asked for, which are not counted.
    pub uncounted: f64,
}

impl SolveOutcome {
    /// The outcome of a session so far, without a report.
    pub(super) fn at(session: &Session) -> SolveOutcome {
        SolveOutcome {
            reason: StopReason::Converged,
            claimed: Vec::new(),
            values: BTreeMap::new(),
            cost: SolveCost { prepare: session.clock(), entries: session.entries(), ..SolveCost::default() },
            uncounted: session.account.uncounted(),
        }
    }
}

/// Takes iterations, claimed residual norms and values from a report.
///
/// # Errors
/// What is wrong with the report, as the end of a sentence about the call.
///
/// # Safety
/// The report's pointers are null or point to as many entries as it says.
pub(super) unsafe fn read_report(
    report: &Report,
    columns: usize,
    outcome: &mut SolveOutcome,
) -> Result<(), String> {
    outcome.cost.iterations = report.iterations.max(0).unsigned_abs();
    // SAFETY: by this function's contract.
    outcome.claimed = unsafe { views::numbers(report.claimed, report.n_claimed, columns, "report.claimed") }
        .map_err(|wrong| format!("left a wrong report: {wrong}"))?;
    if !outcome.claimed.is_empty() && outcome.claimed.len() != columns {
        return Err(format!("claims {} residual norms for {columns} columns", outcome.claimed.len()));
    }
    if outcome.claimed.iter().any(|norm| !norm.is_finite()) {
        // A norm that overflowed claims nothing, and JSON cannot represent it.
        outcome.claimed.clear();
    }
    // SAFETY: by this function's contract.
    let values = unsafe { views::numbers(report.values, report.n_values, MAX_VALUES, "report.values") }
        .map_err(|wrong| format!("left a wrong report: {wrong}"))?;
    if values.is_empty() {
        return Ok(());
    }
    if report.names.is_null() || !report.names.is_aligned() {
        return Err("left a wrong report: `report.names` is a null or misaligned pointer".into());
    }
    for (index, value) in values.into_iter().enumerate() {
        // SAFETY: one of as many names as there are values.
        let name = unsafe { views::text(*report.names.add(index), "a name in `report.names`") };
        let name = name.map_err(|wrong| format!("left a wrong report: {wrong}"))?;
        if value.is_finite() {
            outcome.values.insert(name, value);
        }
    }
    Ok(())
}
