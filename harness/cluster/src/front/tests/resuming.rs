//! What a front knows that takes over from one that was killed.

use gpbench_record::{Attempt, Ending};

use super::bench::Bench;
use super::world::{Answer, case_line};
use crate::ledger::LedgerLine;
use crate::scheduler::{CancelTarget, TaskState};

const FIRST: Attempt = Attempt { task: 0, attempt: 1 };

#[test]
fn the_ledger_tells_the_jobs_where_the_scheduler_keeps_no_comments() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.round();
    bench.begin(0, "n1");
    bench.round();
    for job in bench.shared.0.borrow_mut().jobs.values_mut() {
        job.task.comment = "(null)".into();
    }
    bench.shared.0.borrow_mut().parts.clear();
    bench.restart(true);
    bench.wait(300);
    assert_eq!(bench.sent().len(), 1);
}

#[test]
fn part_files_that_the_ledger_does_not_know_are_read_and_not_used_again() {
    let mut bench = Bench::new(&[&["a", "b"]]);
    bench.round();
    bench.begin(0, "n1");
    bench.row(0, "a");
    bench.shared.0.borrow_mut().ledger.clear();
    bench.restart(true);
    let round = bench.round();
    assert_eq!(round.rows, ["a"]);
    assert_eq!(bench.sent()[1], "[] 0000.02 b");
}

#[test]
fn a_lost_copy_is_remembered() {
    let mut bench = Bench::new(&[&["a", "b"]]);
    bench.round();
    bench.begin(0, "n1");
    bench.set(0, TaskState::NodeFailed, "NodeDown", (0, 0));
    bench.wait(105);
    bench.restart(true);
    bench.round();
    for id in ["a", "b"] {
        bench.shared.0.borrow_mut().tell(FIRST, case_line(id), 0);
    }
    assert_eq!(bench.round().rows, ["a", "b"]);
    assert_eq!(bench.shared.0.borrow().cancelled, [CancelTarget::Task(2, 0)]);
}

#[test]
fn retries_are_counted_over_fronts_until_the_run_is_resumed() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.round();
    for node in ["n1", "n2", "n3", "n4"] {
        bench.fail(0, node, "a", TaskState::NodeFailed, (0, 0));
        bench.restart(false);
        bench.round();
    }
    assert_eq!(bench.summary().left, ["a"]);
    assert_eq!(bench.sent()[3], "[n1,n2,n3] 0000.04 a");
}

#[test]
fn kills_are_counted_over_fronts() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.round();
    for node in ["n1", "n2", "n3"] {
        bench.fail(0, node, "a", TaskState::Failed, (0, 9));
        bench.restart(false);
    }
    assert_eq!(bench.journal(), ["a crashed: killed three times (signal 9)"]);
}

#[test]
fn a_cancellation_by_the_front_is_not_taken_for_somebody_elses() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.round();
    bench.begin(0, "n1");
    bench.wait(615);
    assert_eq!(bench.shared.0.borrow().cancelled.len(), 1);
    bench.restart(false);
    bench.wait(105);
    assert_eq!(bench.sent()[1], "[n1] 0000.02 a");
}

#[test]
fn a_task_that_ran_and_ended_between_two_answers_is_read() {
    let mut bench = Bench::new(&[&["a", "b"]]);
    bench.round();
    bench.round();
    bench.begin(0, "n1");
    bench.row(0, "a");
    bench.ended(0, Ending::Done);
    bench.shared.0.borrow_mut().jobs.get_mut(&(1, 0)).unwrap().is_forgotten = true;
    assert_eq!(bench.round().rows, ["a"]);
    assert_eq!(bench.sent()[1], "[] 0000.02 b");
}

#[test]
fn an_attempt_is_judged_by_the_time_that_it_was_given() {
    let mut bench = Bench::new(&[&["a"]]);
    bench.round();
    bench.begin(0, "n1");
    bench.start(0, "a");
    // The settings change, and the run is resumed.
    bench.manifest.tasks[0].seconds = 3600;
    bench.restart(true);
    for _ in 0..2 * 60 {
        bench.beat(0);
        bench.wait(60);
    }
    bench.set(0, TaskState::TimedOut, "TimeLimit", (0, 15));
    bench.wait(150);
    assert!(bench.journal().is_empty(), "it had two of four hours");
    assert_eq!(bench.shared.0.borrow().arrays[1].request.seconds, 3600);
}

#[test]
fn lines_about_tasks_that_there_are_not_do_no_harm() {
    let mut bench = Bench::new(&[&["a"]]);
    let attempts = vec![Attempt { task: 9, attempt: 1 }];
    bench.shared.0.borrow_mut().ledger.push(LedgerLine::Intent { submission: 5, attempts, request: None });
    bench.restart(false);
    bench.round();
    assert_eq!(bench.sent(), ["[] 0000.01 a"]);
    assert_eq!(bench.shared.0.borrow().arrays[0].comment, "uci.6");
}

#[test]
fn an_array_that_arrives_after_it_was_given_up_is_read() {
    let mut bench = Bench::new(&[&["a", "b"]]);
    bench.shared.0.borrow_mut().answers.push_back(Answer::AcceptsSilently);
    bench.round();
    let place = (1, 0);
    bench.shared.0.borrow_mut().jobs.get_mut(&place).unwrap().is_forgotten = true;
    bench.wait(75);
    assert_eq!(bench.sent()[1], "[] 0000.02 a+b");
    bench.restart(true);
    bench.shared.0.borrow_mut().begin(place, "n1", 0);
    bench.shared.0.borrow_mut().tell(FIRST, case_line("a"), 0);
    assert_eq!(bench.round().rows, ["a"]);
}

#[test]
fn rows_that_another_front_has_copied_are_no_duplicates() {
    let mut bench = Bench::new(&[&["a", "b"]]);
    bench.round();
    bench.begin(0, "n1");
    bench.row(0, "a");
    bench.round();
    bench.restart(true);
    assert!(bench.round().rows.is_empty());
    assert_eq!(bench.summary().duplicates, 0);
    bench.row(0, "a");
    bench.row(0, "b");
    bench.round();
    assert_eq!((bench.summary().duplicates, bench.journal().len()), (1, 2));
}
