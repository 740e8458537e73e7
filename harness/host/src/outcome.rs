//! The outcome of a solve, and the report that a solver gives of it.

use std::collections::BTreeMap;

use gpbench_abi::Report;
use gpbench_terms::{Arithmetic, Reason, StopReason};

use crate::cost::SolveCost;
use crate::iterate_product::IterateProduct;
use crate::session::Session;
use crate::views;

/// Most named numbers that a report may hold.
const MAX_VALUES: usize = 4096;

/// How a solve ended.
#[derive(Debug, Clone, PartialEq)]
pub struct SolveOutcome {
    /// Why the solver stopped, as it reports.
    pub reason: Reason,
    /// Why the solver stopped: where it was told to, the limit that was reached.
    pub stop_reason: StopReason,
    /// Relative residual norms that the solver claims, one a column, or none.
    pub claimed: Vec<f64>,
    /// Further numbers, by name.
    pub values: BTreeMap<String, f64>,
    /// Cost of prepare and solve.
    pub cost: SolveCost,
    /// Uncounted seconds that the solver spent on requested iterates and in calls beside prepare and solve.
    pub uncounted: f64,
    /// The lowest precision of products that the solver requested.
    pub precision: Arithmetic,
    /// The last product with the iterate, where there is one in double precision.
    pub product: Option<IterateProduct>,
}

impl SolveOutcome {
    /// The outcome of a case without a solve, or of one before its first solve.
    pub fn without_a_solve(stop_reason: StopReason) -> SolveOutcome {
        SolveOutcome {
            reason: stop_reason.reason(),
            stop_reason,
            claimed: Vec::new(),
            values: BTreeMap::new(),
            cost: SolveCost::default(),
            uncounted: 0.0,
            precision: Arithmetic::F64,
            product: None,
        }
    }

    /// The outcome of a session so far, without a report.
    pub(crate) fn at(session: &Session) -> SolveOutcome {
        SolveOutcome {
            reason: Reason::Converged,
            stop_reason: StopReason::Converged,
            claimed: Vec::new(),
            values: BTreeMap::new(),
            cost: SolveCost { prepare: session.clock(), entries: session.entries(), ..SolveCost::default() },
            uncounted: session.account.allowance().uncounted(),
            precision: session.objects.precision(),
            product: session.objects.take_product(),
        }
    }
}

/// Contents of a report.
#[derive(Debug, Default)]
pub(crate) struct Reported {
    /// Iterations, or steps of a learner.
    pub(crate) iterations: u64,
    /// Claimed residual norms, one a column, or none.
    pub(crate) claimed: Vec<f64>,
    /// Further numbers, by name.
    pub(crate) values: BTreeMap<String, f64>,
}

/// The reason that a report gives.
///
/// # Errors
/// If there is no such reason, as the end of a sentence about the call.
pub(crate) fn read_reason(report: &Report) -> Result<Reason, String> {
    let unknown = || format!("gave the reason {}, which version 1 does not have", report.reason);
    Reason::from_number(report.reason).ok_or_else(unknown)
}

/// Reads a report on a system of `columns` columns.
///
/// # Errors
/// What is wrong with the report, as the end of a sentence about the call.
///
/// # Safety
/// The report's pointers are null or point to as many entries as it says.
pub(crate) unsafe fn read_report(report: &Report, columns: usize) -> Result<Reported, String> {
    let iterations = report.iterations.max(0).unsigned_abs();
    // SAFETY: by this function's contract.
    let mut claimed = unsafe { views::numbers(report.claimed, report.n_claimed, columns, "report.claimed") }
        .map_err(|wrong| format!("left a wrong report: {wrong}"))?;
    if !claimed.is_empty() && claimed.len() != columns {
        return Err(format!("claims {} residual norms for {columns} columns", claimed.len()));
    }
    if claimed.iter().any(|norm| !norm.is_finite()) {
        // A norm that overflowed claims nothing, and JSON cannot represent it.
        claimed.clear();
    }
    // SAFETY: by this function's contract.
    let values = unsafe { read_values(report) }?;
    Ok(Reported { iterations, claimed, values })
}

/// The named numbers of a report.
///
/// # Safety
/// As for [`read_report`].
unsafe fn read_values(report: &Report) -> Result<BTreeMap<String, f64>, String> {
    // SAFETY: by this function's contract.
    let values = unsafe { views::numbers(report.values, report.n_values, MAX_VALUES, "report.values") }
        .map_err(|wrong| format!("left a wrong report: {wrong}"))?;
    let mut found = BTreeMap::new();
    if !values.is_empty() && (report.names.is_null() || !report.names.is_aligned()) {
        return Err("left a wrong report: `report.names` is a null or misaligned pointer".into());
    }
    for (index, value) in values.into_iter().enumerate() {
        // SAFETY: one of as many names as there are values.
        let name = unsafe { views::text(*report.names.add(index), "a name in `report.names`") };
        let name = name.map_err(|wrong| format!("left a wrong report: {wrong}"))?;
        if value.is_finite() {
            found.insert(name, value);
        }
    }
    Ok(found)
}
