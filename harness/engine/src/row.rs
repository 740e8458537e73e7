//! The row of a case: everything that was measured; of a failed case, everything that it reported before the failure.

use gpbench_record::{CaseStatus, Message, Metrics, PlannedCase, Row, Solved, TaskOutput, names, text};
use jiff::Timestamp;

use crate::Evidence;
use crate::judge::{Verdict, claimed_residuals};
use crate::log::Log;

/// The row of a case that is not run.
pub(crate) fn skipped(planned: &PlannedCase, reason: &str, finished: Timestamp) -> Row {
    empty(planned, Verdict::new(CaseStatus::Skipped, reason), finished)
}

/// The row of a case that was started too often without an end.
pub(crate) fn blamed(planned: &PlannedCase, reason: String, log: &Log, finished: Timestamp) -> Row {
    let row = empty(planned, Verdict::new(CaseStatus::Crashed, reason), finished);
    Row { log_tail: lines(&log.tail), ..row }
}

/// The row of a case whose runner could not write one.
pub fn row_without_runner(
    planned: &PlannedCase,
    status: CaseStatus,
    reason: &str,
    finished: Timestamp,
) -> Row {
    empty(planned, Verdict::new(status, sentence(reason)), finished)
}

/// The row of a case that has ended.
pub(crate) fn ended(
    planned: &PlannedCase,
    status: Verdict,
    evidence: &Evidence<'_>,
    finished: Timestamp,
) -> Row {
    let mut row = empty(planned, status, finished);
    let solving = evidence.solving;
    if solving.peak_memory_bytes > 0 {
        row.metrics.insert(names::PEAK_MEMORY_BYTES, solving.peak_memory_bytes as f64);
    }
    if let Some(seconds) = solving.seconds_over_limit {
        row.metrics.insert(names::SECONDS_OVER_LIMIT, seconds);
    }
    if let Some(solved) = solving.solved() {
        row.n = Some(solved.n);
        row.d = Some(solved.d);
        row.metrics.extend(&measured(solved, planned));
        row.solver_values = solved.values.clone();
        // The numbers that a case began with are those of its row.
        let begun = solved.start.as_ref().and_then(|start| row.case.kernel.with_hyperparameters(start));
        row.case.kernel = begun.unwrap_or(row.case.kernel);
        row.unplanned_parts = solved.unplanned_parts.clone();
        row.output = solved.output.clone();
    }
    if let Some(verified) = evidence.verifying.and_then(|outcome| outcome.verified()) {
        row.metrics.extend(&verified.metrics);
        row.output.set_curve(verified.curve.clone());
        row.output.set_calibration(verified.calibration.clone());
        row.output.set_random_search(verified.random_search.clone());
        row.units = verified.units.clone();
        row.predictions = verified.predictions.clone();
    }
    row.trace = solving
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Trace(point) => Some(point.clone()),
            _ => None,
        })
        .collect();
    row.output.set_steps(solving.steps().into_iter().cloned().collect());
    if row.status.is_failure() {
        row.log_tail = lines(&evidence.log.tail);
    }
    row
}

fn empty(planned: &PlannedCase, status: Verdict, finished: Timestamp) -> Row {
    Row {
        id: planned.id.clone(),
        labels: planned.labels.clone(),
        case: planned.case.clone(),
        status: status.status,
        reason: sentence(&status.reason),
        n: planned.n,
        d: None,
        metrics: Metrics::default(),
        solver_values: Default::default(),
        trace: Vec::new(),
        output: TaskOutput::empty(planned.case.task.kind()),
        units: None,
        predictions: None,
        log_tail: String::new(),
        reproducible: status.reproducible,
        lacks_exact: false,
        unplanned_parts: Vec::new(),
        reused_from: None,
        environment: None,
        place: None,
        finished: finished.to_string(),
    }
}

/// A reason as a row holds it: what a plugin wrote into it is cut, and has no control characters.
pub(crate) fn sentence(reason: &str) -> String {
    text::line(&text::cut(reason, text::REASON)).into_owned()
}

/// The last lines of a log as a row holds them, treated alike.
fn lines(log: &str) -> String {
    text::plain(&text::cut(log, text::LOG)).into_owned()
}

/// The metrics of solving: what `case` measured and what the solver reported. Those of the task come first.
fn measured(solved: &Solved, planned: &PlannedCase) -> Metrics {
    let epoch = (solved.n as f64).powi(2);
    let mut metrics = Metrics::default();
    for (name, value) in [
        (names::EPOCHS, solved.entries.used / epoch),
        (names::EPOCHS_SETUP, solved.entries.setup / epoch),
        (names::EPOCHS_EVALUATED, solved.entries.evaluated / epoch),
        (names::EPOCHS_SELF_REPORTED, solved.entries.self_reported / epoch),
        (names::ITERATIONS, solved.iterations as f64),
        (names::SECONDS_STARTUP, solved.startup_seconds),
        (names::SECONDS_POSE, solved.build_seconds),
        (names::SECONDS_PREPARE, solved.prepare.wall),
        (names::SECONDS_SOLVE, solved.solve.wall),
        (names::CPU_SECONDS, solved.prepare.cpu + solved.solve.cpu),
        (names::PEAK_MEMORY_BYTES, solved.peak_memory_bytes as f64),
    ] {
        metrics.insert(name, value);
    }
    // Of every solver where memory is stated, so that a comparison says whose products found how much.
    if planned.case.budget.memory_bytes.is_some() || solved.entries.found > 0.0 {
        metrics.insert(names::EPOCHS_FOUND, solved.entries.found / epoch);
    }
    if solved.cached_bytes > 0 {
        metrics.insert(names::KEPT_BYTES, solved.cached_bytes as f64);
    }
    if let Some((y, probes)) = claimed_residuals(solved) {
        metrics.insert(names::CLAIMED_Y, y);
        if let Some(probes) = probes {
            metrics.insert(names::CLAIMED_PROBES, probes);
        }
    }
    metrics.extend(&solved.metrics);
    metrics
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_plugin_are_cut_and_have_no_control_characters() {
        assert_eq!(sentence("failed:\n\x1b[2J"), "failed: \\u{1b}[2J");
        assert_eq!(lines("one\n\x07two"), "one\n\\u{7}two");
        assert!(sentence(&"x".repeat(1 << 20)).len() < text::REASON + 100);
    }
}
