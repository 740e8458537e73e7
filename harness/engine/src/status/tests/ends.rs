//! Processes that end without a report, with a fault or a failure, or after their report.

use super::*;

fn failed(status: CaseStatus) -> Message {
    Message::Failed(Failure { status, reason: "because".into() })
}

/// Status of a process that ended without a report.
fn died(end: End, log: &str) -> Result<Verdict, Fault> {
    let (case, solving) = (case(Some(0.01), 2, None), outcome(Some(Message::Loading), end));
    let log = &Log::of(log);
    classify(&Evidence { case: &case, solving: &solving, verifying: None, log, memory_may_be_refused: false })
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
