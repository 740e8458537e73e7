//! The table of states: what follows where cases have no row.

use gpbench_record::{Ending, PartLine};

use super::bench::Bench;
use crate::scheduler::{CancelTarget, TaskState};

#[test]
fn all_rows_are_the_end_whatever_the_scheduler_says() {
    let mut bench = Bench::new(&[&["a", "b"]]);
    bench.round();
    bench.begin(0, "n1");
    bench.row(0, "a");
    bench.row(0, "b");
    let round = bench.round();
    assert!(round.is_finished);
    assert_eq!(bench.journal(), ["a", "b"]);
    assert!(bench.shared.0.borrow().cancelled.is_empty());
}

#[test]
fn an_interrupted_task_is_sent_again_at_once_with_what_is_left() {
    for (state, exit) in [(TaskState::Completed, (0, 0)), (TaskState::Failed, (75, 0))] {
        let mut bench = Bench::new(&[&["a", "b", "c"]]);
        bench.round();
        bench.begin(0, "n1");
        bench.row(0, "a");
        bench.start(0, "c");
        bench.ended(0, Ending::Signal { signal: 15 });
        bench.set(0, state, "", exit);
        bench.round();
        assert_eq!(bench.sent(), ["[] 0000.01 a+b+c", "[] 0000.02 c+b"]);
        assert!(bench.summary().retried.is_empty(), "an attempt that added a row is no retry");
    }
}

#[test]
fn an_attempt_without_rows_is_a_retry_unless_it_wrote_a_checkpoint() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.round();
    for advanced in [true, true, true, true, true, false, false, false, false] {
        assert!(bench.summary().given_up.is_empty());
        bench.begin(0, "n1");
        bench.tell(0, |time| PartLine::Ended { time, ending: Ending::Signal { signal: 15 }, advanced });
        bench.set(0, TaskState::Failed, "NonZeroExitCode", (75, 0));
        let round = bench.round();
        assert_eq!(
            round.is_finished,
            bench.sent().len() == 9 && !advanced && !bench.summary().left.is_empty()
        );
    }
    let summary = bench.summary();
    assert_eq!(summary.left, ["a"]);
    assert_eq!(summary.given_up[0].reason, "ended by signal 15; FAILED NonZeroExitCode 75:0 (n1)");
}

#[test]
fn a_failure_of_a_machine_is_tried_elsewhere_and_not_for_ever() {
    for (state, exit) in
        [(TaskState::Failed, (1, 0)), (TaskState::Failed, (0, 53)), (TaskState::NodeFailed, (0, 0))]
    {
        let mut bench = Bench::new(&[&["a"]]);
        bench.round();
        for node in ["n1", "n2", "n3", "n4"] {
            assert!(bench.summary().given_up.is_empty(), "{node}");
            bench.fail(0, node, "a", state.clone(), exit);
        }
        let sent = ["[] 0000.01 a", "[n1] 0000.02 a", "[n1,n2] 0000.03 a", "[n1,n2,n3] 0000.04 a"];
        assert_eq!(bench.sent(), sent);
        let summary = bench.summary();
        assert_eq!((summary.left.as_slice(), summary.given_up.len()), (&["a".to_owned()][..], 1));
        assert_eq!((summary.given_up[0].attempt.attempt, summary.given_up[0].most), (4, 4));
        assert!(bench.journal().is_empty(), "no solver is blamed");
        // The same command gives all retries again, and every node another chance.
        bench.restart(true);
        bench.round();
        assert_eq!(bench.sent()[4], "[] 0000.05 a");
    }
}

#[test]
fn an_unfit_node_is_left_at_once() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.round();
    bench.begin(0, "n2");
    bench.ended(0, Ending::Unfit { reason: "no folder /data".into() });
    bench.set(0, TaskState::Failed, "NonZeroExitCode", (76, 0));
    bench.round();
    assert_eq!(bench.sent(), ["[] 0000.01 a", "[n2] 0000.02 a"]);
    assert_eq!(bench.summary().retried[0].reason, "the node is unfit: no folder /data (n2)");
}

#[test]
fn a_node_that_fails_three_tasks_quickly_gets_none() {
    let mut bench = Bench::new(&[&["a"], &["b"], &["c"], &["d", "e"]]);
    bench.round();
    for (task, id) in [(0, "a"), (1, "b"), (2, "c")] {
        bench.begin(task, "n3");
        bench.start(task, id);
        bench.set(task, TaskState::Failed, "", (1, 0));
    }
    bench.wait(105);
    assert_eq!(bench.summary().banned, ["n3"]);
    bench.begin(3, "n1");
    bench.row(3, "d");
    bench.ended(3, Ending::Signal { signal: 15 });
    bench.set(3, TaskState::Failed, "", (75, 0));
    bench.round();
    assert_eq!(bench.sent().last().unwrap(), "[n3] 0003.02 e");
}

#[test]
fn a_task_that_failed_everywhere_may_go_anywhere() {
    let policy = crate::Policy { retries: 10, ..crate::Policy::default() };
    let mut bench = Bench::with(&[&["a"]], policy, super::world::limits(2, 100));
    bench.round();
    bench.fail(0, "n1", "a", TaskState::NodeFailed, (0, 0));
    bench.fail(0, "n2", "a", TaskState::NodeFailed, (0, 0));
    assert_eq!(bench.sent()[1..], ["[n1] 0000.02 a", "[] 0000.03 a"]);
}

#[test]
fn three_kills_during_a_case_are_its_own() {
    let mut bench = Bench::new(&[&["a", "b"]]);
    bench.round();
    for (node, exit) in [("n1", (0, 9)), ("n2", (137, 0)), ("n3", (0, 9))] {
        assert!(bench.journal().is_empty());
        bench.fail(0, node, "a", TaskState::Failed, exit);
    }
    assert_eq!(bench.journal(), ["a crashed: killed three times (signal 9)"]);
    assert_eq!(bench.sent()[3], "[n1,n2,n3] 0000.04 b");
}

#[test]
fn kills_of_different_cases_are_nobodys() {
    let mut bench = Bench::new(&[&["a", "b", "c"]]);
    bench.round();
    for (node, id) in [("n1", "a"), ("n2", "b"), ("n3", "c"), ("n4", "a")] {
        bench.fail(0, node, id, TaskState::Failed, (0, 9));
    }
    assert!(bench.journal().is_empty());
    assert_eq!(bench.summary().left, ["a", "b", "c"]);
}

#[test]
fn too_much_memory_is_the_case_that_was_running() {
    let mut bench = Bench::new(&[&["a", "b"]]);
    bench.round();
    bench.fail(0, "n1", "a", TaskState::OutOfMemory, (0, 125));
    assert_eq!(bench.journal(), ["a out_of_memory: Slurm ended it: 32 GiB allowed"]);
    assert_eq!(bench.sent()[1], "[] 0000.02 b");
    assert!(bench.summary().retried.is_empty());
    // The runner survived and went on: nothing is blamed.
    bench.begin(0, "n1");
    bench.row(0, "b");
    bench.ended(0, Ending::Done);
    bench.set(0, TaskState::OutOfMemory, "", (0, 125));
    assert!(bench.round().is_finished);
    assert_eq!(bench.journal().len(), 2);
}

#[test]
fn too_much_memory_between_cases_is_the_machines() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.round();
    bench.begin(0, "n1");
    bench.set(0, TaskState::OutOfMemory, "OutOfMemory", (0, 125));
    bench.wait(105);
    assert!(bench.journal().is_empty());
    assert_eq!(bench.summary().retried[0].reason, "OUT_OF_MEMORY OutOfMemory 0:125 (n1)");
}

#[test]
fn a_case_that_had_all_of_the_time_has_a_row() {
    for says_so in [false, true] {
        let mut bench = Bench::new(&[&["a", "b"]]);
        bench.round();
        bench.begin(0, "n1");
        bench.start(0, "a");
        for _ in 0..4 * 60 {
            bench.beat(0);
            bench.wait(60);
        }
        if says_so {
            bench.ended(0, Ending::TimeOver);
        }
        bench.set(0, TaskState::TimedOut, "TimeLimit", (0, 15));
        bench.wait(150);
        assert_eq!(bench.journal(), ["a timeout: no result within the job's 4 h"]);
        assert_eq!(bench.sent()[1], "[] 0000.02 b");
    }
}

#[test]
fn a_case_that_began_late_or_was_cut_short_runs_again_first() {
    // After another case; in a job that ended early; with a checkpoint.
    for (first, hours, advanced) in [(Some("a"), 4, false), (None, 1, false), (None, 4, true)] {
        let mut bench = Bench::new(&[&["a", "b"]]);
        bench.round();
        bench.begin(0, "n1");
        if let Some(first) = first {
            bench.start(0, first);
            bench.row(0, first);
        }
        bench.start(0, "b");
        for _ in 0..hours * 60 {
            bench.tell(0, |time| PartLine::Beat { time, advanced });
            bench.wait(60);
        }
        bench.set(0, TaskState::TimedOut, "TimeLimit", (0, 15));
        bench.wait(150);
        assert_eq!(bench.journal().len(), usize::from(first.is_some()));
        let left = if first.is_some() { "b" } else { "b+a" };
        assert_eq!(bench.sent()[1], format!("[] 0000.02 {left}"));
    }
}

#[test]
fn what_had_no_time_left_is_sent_again_at_once() {
    let mut bench = Bench::new(&[&["a", "b", "c", "d", "e", "f"]]);
    bench.round();
    for id in ["a", "b", "c", "d", "e"] {
        bench.begin(0, "n1");
        bench.start(0, id);
        bench.row(0, id);
        bench.ended(0, Ending::TimeOver);
        bench.set(0, TaskState::Completed, "", (0, 0));
        bench.round();
        assert!(bench.summary().retried.is_empty(), "an attempt that added a row is no retry");
    }
    assert_eq!(bench.sent()[1], "[] 0000.02 b+c+d+e+f");
    assert_eq!(bench.sent()[5], "[] 0000.06 f");
}

#[test]
fn preempted_tasks_run_again_without_limit() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.round();
    for _ in 0..20 {
        bench.begin(0, "n1");
        bench.start(0, "a");
        bench.ended(0, Ending::Signal { signal: 15 });
        bench.set(0, TaskState::Preempted, "None", (0, 15));
        bench.round();
    }
    assert_eq!(bench.sent().len(), 21);
    assert_eq!(bench.sent()[20], "[] 0000.21 a");
}

#[test]
fn a_task_that_slurm_puts_back_is_cancelled_and_sent_again() {
    for (state, reason) in [(TaskState::Pending, "BeginTime"), (TaskState::Requeued, "None")] {
        let mut bench = Bench::new(&[&["a"]]);
        bench.round();
        bench.begin(0, "n1");
        bench.round();
        bench.set(0, state, reason, (0, 0));
        bench.round();
        assert_eq!(bench.shared.0.borrow().cancelled, [CancelTarget::Task(1, 0)]);
        bench.wait(120);
        assert_eq!(bench.sent(), ["[] 0000.01 a", "[] 0000.02 a"]);
        assert!(bench.summary().retried.is_empty());
    }
}

#[test]
fn what_others_cancel_waits_until_the_run_is_resumed() {
    let mut bench = Bench::new(&[&["a"], &["b"]]);
    bench.round();
    bench.begin(0, "n1");
    bench.ended(0, Ending::Signal { signal: 15 });
    bench.set(0, TaskState::Cancelled, "None", (0, 15));
    // Never begun.
    bench.set(1, TaskState::Cancelled, "None", (0, 0));
    assert!(bench.round().is_finished);
    let summary = bench.summary();
    assert_eq!(summary.left, ["a", "b"]);
    assert!(summary.given_up[0].remedy.starts_with("somebody else cancelled it"));
    bench.restart(false);
    assert!(bench.round().is_finished);
    bench.restart(true);
    bench.round();
    assert_eq!(bench.sent()[1], "[] 0000.02 a 0001.02 b");
}

#[test]
fn a_task_that_completes_is_judged_by_how_it_ended() {
    for (state, exit, is_left) in
        [(TaskState::Cancelled, (0, 15), true), (TaskState::Preempted, (0, 15), false)]
    {
        let mut bench = Bench::new(&[&["a"]]);
        bench.round();
        bench.begin(0, "n1");
        bench.ended(0, Ending::Signal { signal: 15 });
        bench.set(0, TaskState::Completing, "None", (0, 0));
        bench.wait(45);
        assert_eq!(bench.sent().len(), 1, "nobody knows yet");
        bench.set(0, state, "None", exit);
        assert_eq!(bench.round().is_finished, is_left);
        assert_eq!(bench.sent().len(), if is_left { 1 } else { 2 });
        assert!(bench.summary().retried.is_empty());
    }
}

#[test]
fn a_task_that_completes_without_end_is_sent_again() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.round();
    bench.begin(0, "n1");
    bench.ended(0, Ending::Signal { signal: 15 });
    bench.set(0, TaskState::Completing, "None", (0, 0));
    bench.wait(105);
    assert_eq!(bench.sent(), ["[] 0000.01 a", "[] 0000.02 a"]);
}

#[test]
fn waiting_tasks_are_shown_with_their_reason_and_held_ones_are_sent_again() {
    let mut bench = Bench::new(&[&["a"], &["b"]]);
    bench.round();
    bench.set(0, TaskState::Pending, "AssocMaxJobsLimit", (0, 0));
    bench.set(1, TaskState::Pending, "launch failed requeued held", (0, 0));
    bench.round();
    assert_eq!(bench.summary().queued["AssocMaxJobsLimit"], 1);
    assert_eq!(bench.shared.0.borrow().cancelled, [CancelTarget::Task(1, 1)]);
    bench.wait(105);
    assert_eq!(bench.sent(), ["[] 0000.01 a 0001.01 b", "[] 0001.02 b"]);
    assert!(bench.summary().retried[0].reason.starts_with("launch failed requeued held"));
}
