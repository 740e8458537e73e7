//! What a divergence tells the user to do.

use gpbench_record::{ParamValue, TracePoint};

use super::steps::training;
use super::*;

/// The reason of a case that diverged, with these parameters.
fn reason(task: Option<Task>, params: &[(&str, f64)], log: &Log) -> String {
    let mut case = case(None, 1, None);
    if let Some(task) = task {
        case.task = task;
    }
    let params = params.iter().map(|(name, value)| ((*name).to_owned(), ParamValue::Float(*value)));
    case.solver.params = params.collect();
    let solving = outcome(Some(solved(StopReason::Diverged, &[])), End::Exited(0));
    let truth = verified(&[(names::RESIDUAL_Y, 0.3), (names::RESIDUAL_PROBES, 0.3)]);
    let verifying = outcome(Some(truth), End::Exited(0));
    let (case, solving, verifying) = (&case, &solving, Some(&verifying));
    let evidence = Evidence { case, solving, verifying, log, memory_may_be_refused: false };
    let verdict = classify(&evidence).unwrap();
    assert_eq!(verdict.status, CaseStatus::Diverged);
    verdict.reason
}

#[test]
fn a_divergence_names_the_parameter_the_iteration_and_the_log() {
    let log = Log { path: Some("logs/0123.log".to_owned()), ..Log::default() };
    let told = "the solver reports divergence; true residual 0.3; after 3 iterations";
    assert_eq!(
        reason(None, &[("learning_rate", 0.5), ("momentum", 0.9)], &log),
        format!("{told}; lower `learning_rate` of `cg`, now 0.5; log: logs/0123.log")
    );
    assert_eq!(
        reason(None, &[("step_size", 2.0)], &log),
        format!("{told}; lower `step_size` of `cg`, now 2; log: logs/0123.log")
    );
    // A rate of 0 stands for one that the solver chooses, and other parameters do not scale its steps.
    assert_eq!(reason(None, &[("learning_rate", 0.0), ("shift", 1.0)], &Log::default()), told);
    let trained = reason(Some(Task::Train(Box::new(training(1)))), &[], &Log::default());
    assert!(trained.ends_with("lower `learning_rate` of [train], now 0.1"), "{trained}");
}

#[test]
fn a_divergence_that_the_worker_reports_names_them_too() {
    let mut case = case(None, 1, None);
    case.task = Task::Train(Box::new(training(3)));
    let failure =
        Failure { status: CaseStatus::Diverged, reason: "the gradient of step 2 is not finite".into() };
    let solving = outcome(Some(Message::Failed(failure)), End::Exited(0));
    let verdict = judged(&case, &solving, None).unwrap();
    assert_eq!(
        verdict.reason,
        "the gradient of step 2 is not finite; lower `learning_rate` of [train], now 0.1"
    );
}

#[test]
fn a_solution_that_is_not_finite_names_its_first_bad_column_and_the_last_good_norms() {
    let case = case(None, 2, None);
    let mut solving = outcome(Some(solved(StopReason::Diverged, &[])), End::Exited(0));
    let point = |iteration, metrics: &[(&str, f64)]| {
        let metrics = metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Message::Trace(TracePoint { iteration, seconds: 0.0, epochs: 0.0, metrics })
    };
    // A number of the solver's own says nothing about its norms.
    let trace = [point(1, &[(names::CLAIMED_Y, 0.5)]), point(2, &[("solver.rank", 3.0)])];
    solving.messages.splice(0..0, trace);
    let truth = |bad_column| {
        let verified = Verified { bad_column, ..Verified::default() };
        outcome(Some(Message::Verified(verified)), End::Exited(0))
    };
    let reason = |bad_column| judged(&case, &solving, Some(&truth(bad_column))).unwrap().reason;
    let told = "the solution is not finite; after 3 iterations";
    assert_eq!(
        reason(Some(2)),
        format!("{told}; norms were finite until iteration 1; first bad column: 2 (probe 2)")
    );
    assert!(reason(Some(0)).ends_with("first bad column: 0 (y)"));
    assert_eq!(reason(None), told);
}
