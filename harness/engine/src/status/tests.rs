//! The table of statuses, line by line.

mod divergence;
mod ends;
mod optimum;
mod steps;

use std::collections::BTreeMap;

use gpbench_record::{
    Clock, Entries, Inducing, Kernel, Margin, Message, Metrics, PathwiseTargets, Posterior, Solved, Step,
    Target, TargetBound, TargetReference, Task, TaskKind, TaskOutput, Verified, names, testing,
};

use super::*;

fn targets(probes: usize) -> PathwiseTargets {
    match testing::case("cg").task {
        Task::Posterior(posterior) => PathwiseTargets { probes, ..posterior.targets },
        other => panic!("{other:?}"),
    }
}

fn case(tolerance: Option<f64>, probes: usize, inducing: Option<Inducing>) -> Case {
    let mut case = testing::case("cg");
    case.task =
        Task::Posterior(Posterior { estimator: "pathwise".into(), targets: targets(probes), inducing });
    case.budget.tolerance = tolerance;
    case
}

fn outcome(message: Option<Message>, end: End) -> Outcome {
    Outcome {
        messages: message.into_iter().collect(),
        end,
        peak_memory_bytes: 0,
        seconds_over_limit: None,
        stood_still: None,
    }
}

fn solved(reason: StopReason, claimed: &[f64]) -> Message {
    Message::Solved(Solved {
        n: 10,
        d: 1,
        reason,
        iterations: 3,
        claimed: claimed.to_vec(),
        prepare: Clock::default(),
        solve: Clock::default(),
        entries: Entries::default(),
        peak_memory_bytes: 1,
        base_memory_bytes: 1,
        cached_bytes: 0,
        startup_seconds: 0.0,
        build_seconds: 0.0,
        values: BTreeMap::new(),
        metrics: Metrics::default(),
        unplanned_parts: Vec::new(),
        start: None,
        output: TaskOutput::empty(TaskKind::Posterior),
    })
}

fn verified(residuals: &[(&str, f64)]) -> Message {
    let metrics = residuals.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    Message::Verified(Verified { metrics, ..Verified::default() })
}

/// What a case comes to whose log is empty.
fn judged(case: &Case, solving: &Outcome, verifying: Option<&Outcome>) -> Result<Verdict, Fault> {
    let log = &Log::default();
    classify(&Evidence { case, solving, verifying, log, memory_may_be_refused: false })
}

/// Status of a solve that ended well and was verified.
fn compared(tolerance: Option<f64>, reason: StopReason, claimed: &[f64], y: f64, probes: f64) -> Verdict {
    let solving = outcome(Some(solved(reason, claimed)), End::Exited(0));
    let truth = verified(&[(names::RESIDUAL_Y, y), (names::RESIDUAL_PROBES, probes)]);
    let verifying = outcome(Some(truth), End::Exited(0));
    let case = case(tolerance, 2, None);
    judged(&case, &solving, Some(&verifying)).unwrap()
}

#[test]
fn a_tolerance_is_compared_with_true_residuals() {
    use CaseStatus::{Diverged, Invalid, NotConverged, Ok};
    use StopReason::{Converged, Epochs, Iterations, Stagnated, Time};
    type Line = (StopReason, &'static [f64], f64, f64, CaseStatus, &'static str);
    let table: &[Line] = &[
        (Converged, &[0.009, 0.01, 0.01], 0.009, 0.0101, Ok, ""),
        (Epochs, &[0.02], 0.009, 0.01, Ok, ""),
        (Converged, &[], 1e-14, 1e-14, Ok, ""),
        (
            Converged,
            &[0.009, 0.01, 0.01],
            0.015,
            0.01,
            NotConverged,
            "claimed residual 0.01, true residual 0.015, tolerance 0.01",
        ),
        (
            Converged,
            &[0.009, 0.004, 0.006],
            0.01,
            0.5,
            Invalid,
            "claimed residual 0.009, true residual 0.5, tolerance 0.01",
        ),
        (Epochs, &[0.009], 0.5, 0.01, Invalid, "claimed residual 0.009, true residual 0.5, tolerance 0.01"),
        (Converged, &[], 0.5, 0.01, Invalid, "claims to have converged, true residual 0.5, tolerance 0.01"),
        (
            Epochs,
            &[0.2],
            0.2,
            0.3,
            NotConverged,
            "the epoch budget is spent; true residual 0.3, tolerance 0.01",
        ),
        (Time, &[], 0.2, 0.3, NotConverged, "the time budget is spent; true residual 0.3, tolerance 0.01"),
        (
            Iterations,
            &[],
            0.2,
            0.3,
            NotConverged,
            "the solver's iterations are spent; true residual 0.3, tolerance 0.01",
        ),
        (Stagnated, &[], 0.2, 0.3, NotConverged, "stagnated; true residual 0.3, tolerance 0.01"),
        (Epochs, &[], 2000.0, 0.3, Diverged, "true residual 2000; after 3 iterations"),
    ];
    for (reason, claimed, y, probes, status, sentence) in table {
        let classified = compared(Some(0.01), *reason, claimed, *y, *probes);
        assert_eq!(
            (classified.status, classified.reason.as_str()),
            (*status, *sentence),
            "{reason:?} {claimed:?}"
        );
        assert_eq!(classified.reproducible, *reason != Time);
    }
}

#[test]
fn a_claim_is_not_false_where_rounding_leaves_the_residual() {
    let classified = |noise_scale: f64, residual: f64| {
        let mut case = case(Some(1e-6), 1, None);
        case.kernel = Kernel { noise_scale, signal_scale: 1.0, ..case.kernel };
        let solving = outcome(Some(solved(StopReason::Converged, &[1e-7, 1e-7])), End::Exited(0));
        let truth = verified(&[(names::RESIDUAL_Y, residual), (names::RESIDUAL_PROBES, residual)]);
        let found = judged(&case, &solving, Some(&outcome(Some(truth), End::Exited(0)))).unwrap();
        (found.status, found.reason)
    };
    // Ten rows: the condition number is at most 1e13 and 1e7.
    let (status, reason) = classified(1e-6, 1e-3);
    assert_eq!(status, CaseStatus::NotConverged);
    let left = "rounding in double precision alone may leave 0.00222 (condition times machine epsilon)";
    assert_eq!(reason, format!("claimed residual 1e-7, true residual 0.001, tolerance 1e-6; {left}"));
    // A residual above what rounding explains is a false claim there too.
    assert_eq!(classified(1e-6, 0.1).0, CaseStatus::Invalid);
    let (status, reason) = classified(1e-3, 1e-3);
    assert_eq!(status, CaseStatus::Invalid);
    assert_eq!(reason, "claimed residual 1e-7, true residual 0.001, tolerance 1e-6");
    assert_eq!(classified(1e-6, 1e-6).0, CaseStatus::Ok);
}

#[test]
fn without_a_tolerance_a_spent_budget_is_ok() {
    for reason in [StopReason::Converged, StopReason::Epochs, StopReason::Time, StopReason::Iterations] {
        assert_eq!(compared(None, reason, &[], 0.9, 0.9).status, CaseStatus::Ok, "{reason:?}");
    }
    let stagnated = compared(None, StopReason::Stagnated, &[], 0.9, 0.8);
    assert_eq!(
        (stagnated.status, stagnated.reason.as_str()),
        (CaseStatus::NotConverged, "stagnated; true residual 0.9")
    );
    assert_eq!(compared(None, StopReason::Diverged, &[], 0.9, 0.8).status, CaseStatus::Diverged);
    assert_eq!(compared(None, StopReason::Epochs, &[], 0.9, 1e4).status, CaseStatus::Diverged);
}

#[test]
fn a_case_that_is_to_end_at_a_target_is_ok_if_the_verified_figure_reaches_it() {
    let within = TargetBound::Within(Margin::Fraction(0.01), TargetReference::Exact);
    let stop_at = Some(Target { metric: names::RMSE_TO_EXACT.to_owned(), bound: within });
    let status = |reason: StopReason, tolerance: Option<f64>, found: &[(&str, f64)]| {
        let case = Case { stop_at: stop_at.clone(), ..case(tolerance, 1, None) };
        let solving = outcome(Some(solved(reason, &[])), End::Exited(0));
        let metrics = [&[(names::RESIDUAL_Y, 0.3), (names::RESIDUAL_PROBES, 0.3)], found].concat();
        let verifying = outcome(Some(verified(&metrics)), End::Exited(0));
        let found = judged(&case, &solving, Some(&verifying)).expect("a status");
        (found.status, found.reason)
    };
    let exact = (names::TEST_RMSE_EXACT, 0.5);
    let (reached, missed) = ([exact, (names::RMSE_TO_EXACT, 0.004)], [exact, (names::RMSE_TO_EXACT, 0.006)]);
    for (reason, tolerance, found, expected) in [
        (StopReason::Target, Some(1e-6), &reached[..], (CaseStatus::Ok, "")),
        (StopReason::Epochs, None, &reached, (CaseStatus::Ok, "")),
        (
            StopReason::Target,
            Some(1e-6),
            &missed,
            (CaseStatus::NotConverged, "stopped at the target; rmse_to_exact 0.006, target 0.005"),
        ),
        (
            StopReason::Epochs,
            None,
            &missed,
            (CaseStatus::NotConverged, "the epoch budget is spent; rmse_to_exact 0.006, target 0.005"),
        ),
        (
            StopReason::Epochs,
            Some(0.1),
            &missed,
            (CaseStatus::NotConverged, "the epoch budget is spent; true residual 0.3, tolerance 0.1"),
        ),
        (
            StopReason::Target,
            None,
            &[],
            (CaseStatus::NotConverged, "the target that it stopped at could not be verified"),
        ),
        (StopReason::Epochs, None, &[], (CaseStatus::Ok, "")),
        (
            StopReason::Diverged,
            None,
            &reached,
            (CaseStatus::Diverged, "the solver reports divergence; true residual 0.3; after 3 iterations"),
        ),
    ] {
        let (status, text) = status(reason, tolerance, found);
        assert_eq!((status, text.as_str()), expected);
    }
}

#[test]
fn a_solution_that_is_not_finite_has_diverged() {
    let diverged = compared(Some(0.01), StopReason::Converged, &[0.001], f64::NAN, f64::NAN);
    assert_eq!(
        (diverged.status, diverged.reason.as_str()),
        (CaseStatus::Diverged, "the solution is not finite; after 3 iterations")
    );
    let half = compared(Some(0.01), StopReason::Converged, &[0.001], 0.001, f64::INFINITY);
    assert_eq!(half.status, CaseStatus::Diverged);
}

#[test]
fn a_metric_that_a_solution_lacks_is_not_divergence() {
    let solving = outcome(Some(solved(StopReason::Epochs, &[])), End::Exited(0));
    let truth = |residuals| outcome(Some(verified(residuals)), End::Exited(0));
    let status = |probes, inducing, residuals| {
        let (case, truth) = (case(None, probes, inducing), truth(residuals));
        judged(&case, &solving, Some(&truth)).unwrap().status
    };
    let inducing = Some(Inducing::Subset { points: 5 });
    assert_eq!(status(0, None, &[(names::RESIDUAL_Y, 0.1)]), CaseStatus::Ok);
    assert_eq!(status(2, inducing, &[(names::TEST_RMSE, 0.1)]), CaseStatus::Ok);
    assert_eq!(status(0, None, &[]), CaseStatus::Diverged);
    // Every other solution has residuals: one that is absent was not finite.
    assert_eq!(status(2, None, &[(names::TEST_RMSE, 0.1)]), CaseStatus::Diverged);
}

#[test]
fn without_residuals_the_solvers_report_counts() {
    use CaseStatus::{Diverged, NotConverged, Ok};
    use StopReason::{Converged, Epochs, Iterations, Stagnated};
    for (tolerance, reason, status, why) in [
        (Some(0.01), Converged, Ok, ""),
        (Some(0.01), Epochs, NotConverged, "the epoch budget is spent"),
        (None, Iterations, Ok, ""),
        (None, Stagnated, NotConverged, "stagnated"),
        (None, StopReason::Diverged, Diverged, "the solver reports divergence; after 3 iterations"),
    ] {
        let case = case(tolerance, 2, Some(Inducing::Subset { points: 5 }));
        let solving = outcome(Some(solved(reason, &[])), End::Exited(0));
        let verifying = outcome(Some(verified(&[(names::TEST_RMSE, 0.5)])), End::Exited(0));
        let classified = judged(&case, &solving, Some(&verifying)).unwrap();
        assert_eq!((classified.status, classified.reason.as_str()), (status, why), "{reason:?}");
        // Metrics leave out what is not finite.
        let nothing = outcome(Some(verified(&[])), End::Exited(0));
        let classified = judged(&case, &solving, Some(&nothing)).unwrap();
        assert_eq!(classified.status, Diverged, "{reason:?}");
    }
}
