//! The table of statuses, line by line.

mod divergence;
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

fn failed(status: CaseStatus) -> Message {
    Message::Failed(Failure { status, reason: "because".into() })
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

/// Status of a process that ended without a report.
fn died(end: End, log: &str) -> Result<Verdict, Fault> {
    let (case, solving) = (case(Some(0.01), 2, None), outcome(Some(Message::Loading), end));
    let log = &Log::of(log);
    classify(&Evidence { case: &case, solving: &solving, verifying: None, log, memory_may_be_refused: false })
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

fn signalled(signal: i32) -> End {
    End::Signalled { signal, memory_pressure: false }
}

#[test]
fn a_process_without_a_report_is_classified_by_its_end() {
    use CaseStatus::{Crashed, Invalid, OutOfMemory, Timeout};
    let backtrace: String = (0..50).map(|frame| format!("{frame}: some::function\n")).collect();
    let backtrace = format!("memory allocation of 9 bytes failed\n{backtrace}");
    let table = [
        (End::Exited(0), "", Crashed, "exited with status 0 before reporting a result"),
        (End::Exited(3), "", Crashed, "exited with status 3 before reporting a result"),
        (signalled(11), "", Crashed, "ended by SIGSEGV"),
        (signalled(6), "thread 'main' has overflowed its stack", Crashed, "stack overflow; ended by SIGABRT"),
        (
            End::Signalled { signal: 9, memory_pressure: true },
            "",
            OutOfMemory,
            "ended by SIGKILL with memory nearly full",
        ),
        (
            signalled(6),
            "memory allocation of 9 bytes failed",
            OutOfMemory,
            "an allocation failed; ended by SIGABRT",
        ),
        (signalled(6), &backtrace, OutOfMemory, "an allocation failed; ended by SIGABRT"),
        (End::TimedOut { limit: 80.0 }, "", Timeout, "killed: no result within 80 s"),
        (
            End::TimedOut { limit: PHASE_SECONDS },
            "",
            Timeout,
            "killed: no result within 86400 s, the limit of a case without `budget.time`; set that or `--kill-after` to more",
        ),
        (
            End::OutOfMemory { bytes: 3 << 30, limit: 2 << 30 },
            "",
            OutOfMemory,
            "killed: 3.0 GiB in use, 2.0 GiB allowed",
        ),
        (
            End::Garbled { sample: "hello".into() },
            "",
            Invalid,
            "wrote `hello` where only the worker reports; killed",
        ),
        (End::Lingered, "", Crashed, "closed its output without a result but did not end; killed"),
    ];
    for (end, log, status, sentence) in table {
        let classified = died(end.clone(), log).unwrap();
        assert_eq!((classified.status, classified.reason.as_str()), (status, sentence), "{end:?}");
        assert_eq!(classified.reproducible, status != Timeout);
    }
}

#[test]
fn nothing_before_the_plugin_is_loaded_is_the_solvers_doing() {
    let ended = |end| {
        let (case, solving) = (case(Some(0.01), 2, None), outcome(None, end));
        judged(&case, &solving, None)
    };
    let not_started = |reason: &str| End::NotStarted { reason: reason.into() };
    for (end, cause, word) in [
        (signalled(9), FaultCause::Worker, "the worker ended by SIGKILL before it opened"),
        (signalled(11), FaultCause::Worker, "SIGSEGV"),
        (End::Signalled { signal: 9, memory_pressure: true }, FaultCause::Worker, "SIGKILL"),
        (End::Exited(70), FaultCause::Worker, "exited with status 70"),
        (End::Garbled { sample: "hello".into() }, FaultCause::Worker, "`hello`"),
        (End::Lingered, FaultCause::Worker, "closed its output"),
        (
            End::TimedOut { limit: PHASE_SECONDS },
            FaultCause::Worker,
            "was killed after 86400 s before it opened",
        ),
        (not_started("no such file"), FaultCause::Worker, "the worker did not start: no such file"),
        (
            not_started("Resource temporarily unavailable (os error 11)"),
            FaultCause::Resources,
            "did not start",
        ),
    ] {
        let fault = ended(end.clone()).unwrap_err();
        assert_eq!((fault.cause, fault.plugin_ran), (cause, false), "{end:?}");
        assert!(fault.reason.contains(word), "{}", fault.reason);
    }
    // The limits are the user's, whatever reaches them.
    assert_eq!(ended(End::TimedOut { limit: 1.0 }).unwrap().status, CaseStatus::Timeout);
}

#[test]
fn what_a_plugin_may_have_caused_is_a_fault_that_counts() {
    let refused = "OpenBLAS blas_thread_init: pthread_create failed for thread 1 of 4";
    for (end, log, cause) in [
        (signalled(9), "", FaultCause::Worker),
        (signalled(15), "", FaultCause::Worker),
        (signalled(2), refused, FaultCause::Resources),
        (End::Exited(1), "Cannot allocate memory", FaultCause::Resources),
    ] {
        let fault = died(end.clone(), log).unwrap_err();
        assert_eq!((fault.cause, fault.plugin_ran), (cause, true), "{end:?}");
    }
    let case = case(None, 0, None);
    let report = |message| {
        let solving = Outcome { messages: vec![Message::Loading, message], ..Outcome::of(End::Exited(0)) };
        judged(&case, &solving, None).unwrap_err()
    };
    let (cause, reason) = (FaultCause::Storage, "no room".to_owned());
    // Whatever the worker says of it.
    assert!(report(Message::Fault(Fault { cause, reason, plugin_ran: false })).plugin_ran);
    let reason = "panicked: failed to spawn thread: Resource temporarily unavailable".to_owned();
    let fault = report(Message::Failed(Failure { status: CaseStatus::Crashed, reason }));
    assert_eq!((fault.cause, fault.plugin_ran), (FaultCause::Resources, true));
}

#[test]
fn memory_that_the_system_limits_is_refused_to_anybody() {
    let case = case(None, 0, None);
    let log = &Log::of("memory allocation of 9 bytes failed");
    let solving = &outcome(Some(Message::Loading), signalled(6));
    let of = |memory_may_be_refused| {
        classify(&Evidence { case: &case, solving, verifying: None, log, memory_may_be_refused })
    };
    assert_eq!(of(false).unwrap().status, CaseStatus::OutOfMemory);
    assert_eq!(of(true).unwrap_err().cause, FaultCause::Resources);
}

#[test]
fn a_reported_failure_counts_unless_it_is_none() {
    for (reported, status) in [
        (CaseStatus::OutOfMemory, CaseStatus::OutOfMemory),
        (CaseStatus::Invalid, CaseStatus::Invalid),
        (CaseStatus::Ok, CaseStatus::Crashed),
        (CaseStatus::Skipped, CaseStatus::Crashed),
    ] {
        let solving = outcome(Some(failed(reported)), End::Exited(1));
        let case = case(None, 0, None);
        let classified = judged(&case, &solving, None).unwrap();
        assert_eq!((classified.status, classified.reason.as_str()), (status, "because"));
    }
}

#[test]
fn a_verification_that_fails_is_a_failure_and_one_that_ends_is_a_fault() {
    let case = case(Some(0.01), 0, None);
    let solving = outcome(Some(solved(StopReason::Converged, &[])), End::Exited(0));
    let failing = outcome(Some(failed(CaseStatus::Invalid)), End::Exited(1));
    let status = judged(&case, &solving, Some(&failing)).unwrap();
    assert_eq!((status.status, status.reason.as_str()), (CaseStatus::Invalid, "verification: because"));
    let fault =
        |message: Option<Message>, end| judged(&case, &solving, Some(&outcome(message, end))).unwrap_err();
    for end in [End::Exited(101), signalled(9), signalled(6), End::Garbled { sample: "x".into() }] {
        let fault = fault(None, end);
        assert_eq!((fault.cause, fault.plugin_ran), (FaultCause::Worker, false));
        assert!(fault.reason.starts_with("verification: the worker "), "{}", fault.reason);
    }
    let message = |cause| Some(Message::Fault(Fault { cause, reason: "cut".into(), plugin_ran: false }));
    for (cause, plugin_ran) in [(FaultCause::Dataset, false), (FaultCause::Solution, true)] {
        let fault = fault(message(cause), End::Exited(0));
        assert_eq!((fault.cause, fault.plugin_ran), (cause, plugin_ran));
        assert_eq!(fault.reason, "verification: cut");
    }
}

#[test]
fn a_death_after_the_report_loses_nothing() {
    let case = case(Some(0.01), 0, None);
    let verifying = outcome(Some(verified(&[(names::RESIDUAL_Y, 0.001)])), End::Exited(0));
    let report = || Some(solved(StopReason::Converged, &[]));
    for (end, sentence) in [
        (End::Exited(0), ""),
        (End::Signalled { signal: 11, memory_pressure: false }, "ended by SIGSEGV after reporting"),
        (End::Lingered, "did not end after reporting and was killed"),
    ] {
        let solving = outcome(report(), end);
        let classified = judged(&case, &solving, Some(&verifying)).unwrap();
        assert_eq!((classified.status, classified.reason.as_str()), (CaseStatus::Ok, sentence));
    }
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
